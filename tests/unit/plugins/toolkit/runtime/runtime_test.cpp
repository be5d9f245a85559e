// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime_fixture.hpp"
#include "toolkit/runtime/containerd/config.hpp"
#include "toolkit/runtime/engine.hpp"

namespace slipway::toolkit {
namespace {

using slipway::testing::FakeHost;
using slipway::testing::summary;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(RuntimeContainerd, InheritsTheDefaultHandlerInEachVersionOfTheConfiguration) {
  const std::vector<std::tuple<std::string, std::string, std::vector<std::string>>> versions{
      {"version = 2\n", "1.7.24~ds1-6", {"plugins", "io.containerd.grpc.v1.cri"}},
      {"version = 3\n", "2.1.9-1", {"plugins", "io.containerd.cri.v1.runtime"}},
      {"", "1.7.24~ds1-6", {"plugins", "cri"}},
  };
  for (const auto& [head, engine, plugin] : versions) {
    FakeHost host;
    install(host, "containerd", "containerd", engine);
    const std::string table = "plugins.\"" + plugin[1] + "\".containerd.runtimes.runc";
    host.file(kConfig, head + "[" + table + "]\nruntime_type = \"io.containerd.runc.v2\"\n[" + table +
                           ".options]\nSystemdCgroup = true\n");
    const Json set = set_of(host, runtime_spec());
    const Json cri = at_path(set, plugin);
    EXPECT_EQ(at_path(cri, {"containerd", "runtimes", "nvidia", "options", "SystemdCgroup"}), true) << set;
    EXPECT_EQ(at_path(cri, {"enable_cdi"}), true);
    EXPECT_TRUE(at_path(cri, {"containerd", "default_runtime_name"}).is_null());
    EXPECT_EQ(set.contains("version"), !head.empty());
  }
}

TEST(RuntimeContainerd, CreatesAMissingConfigurationInTheEnginesVersion) {
  FakeHost host;
  install(host, "containerd", "containerd.io", "1.7.25-1");
  EXPECT_EQ(set_of(host, runtime_spec())["version"], 2);
  install(host, "containerd", "containerd.io", "2.1.0-1");
  EXPECT_EQ(set_of(host, runtime_spec())["version"], 3);
}

TEST(RuntimeContainerd, ChangesTheImportedFileThatHasTheCriPlugin) {
  FakeHost host;
  install(host, "containerd", "containerd", "1.7.24");
  host.file(kConfig, "version = 2\nimports = [\"/etc/containerd/conf.d/*.toml\"]\n");
  host.file("/etc/containerd/conf.d/10-cri.toml",
            "[plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.runc]\nruntime_type = \"a\"\n");
  host.file("/etc/containerd/conf.d/20-other.toml", "[debug]\nlevel = \"info\"\n");
  const auto plan = plan_of(host, runtime_spec());
  ASSERT_TRUE(plan.ok()) << to_text(plan.error());
  EXPECT_EQ(summary(*plan), "merge /etc/containerd/conf.d/10-cri.toml\n");
  EXPECT_EQ(plan->actions()[0].value("triggers"), Json({"restart:containerd.service"}));
}

// containerd 1.6 and 1.7 lose CRI when a file names a handler but not the default one, runc.
TEST(RuntimeContainerd, NamesRuncByDefault) {
  FakeHost host;
  install(host, "containerd", "containerd", "1.7.24");
  host.file(kConfig, "version = 2\n");
  const KeyPath type{"plugins", "io.containerd.grpc.v1.cri", "containerd", "runtimes", "runc", "runtime_type"};
  const Json set = set_of(host, runtime_spec());
  EXPECT_EQ(at_path(set, type), "io.containerd.runc.v2") << set;
  Json config = parse_toml(host.read(kConfig).value(), kConfig).value();
  config.merge_patch(set);
  host.file(kConfig, to_toml(config));
  EXPECT_EQ(set_of(host, runtime_spec()), set) << "the action stays once it holds";
  host.file(kConfig,
            "version = 2\n[plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.crun]\nruntime_type = \"a\"\n");
  EXPECT_TRUE(at_path(set_of(host, runtime_spec()), type).is_null());
}

TEST(RuntimeContainerd, SaysThatTheKubeletExpectsOtherGroups) {
  FakeHost host;
  install(host, "containerd", "containerd", "1.7.24");
  host.file("/var/lib/kubelet/config.yaml", "kind: KubeletConfiguration\ncgroupDriver: systemd\n");
  EXPECT_THAT(plan_of(host, runtime_spec())->notes(), ::testing::Contains(HasSubstr("no SystemdCgroup = true")));
  host.file(kConfig,
            "version = 2\n[plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.runc]\nruntime_type = \"r\"\n"
            "[plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.runc.options]\nSystemdCgroup = true\n");
  EXPECT_TRUE(plan_of(host, runtime_spec())->notes().empty());
}

TEST(RuntimeContainerd, AddsAFileWhereImportsAreJoined) {
  FakeHost host;
  install(host, "containerd", "containerd", "2.1.9+ds1-5");
  host.file(kConfig, "version = 3\nimports = [\"/etc/containerd/conf.d/*.toml\"]\n");
  const auto plan = plan_of(host, runtime_spec());
  ASSERT_TRUE(plan.ok()) << to_text(plan.error());
  EXPECT_EQ(summary(*plan), "file /etc/containerd/conf.d/99-nvidia.toml\n");
  const Json file = file_of(host, runtime_spec());
  EXPECT_EQ(file["version"], 3);
  const Json cri = at_path(file, {"plugins", "io.containerd.cri.v1.runtime"});
  EXPECT_EQ(cri, (Json{{"enable_cdi", true},
                       {"containerd", {{"runtimes", {{"nvidia", {{"runtime_type", "io.containerd.runc.v2"}}}}}}}}));
}

TEST(RuntimeContainerd, TakesTheWholeTableAlongIntoADropInOfAnOlderOne) {
  FakeHost host;
  install(host, "containerd", "containerd", "1.7.24");
  host.file(kConfig,
            "version = 2\n[plugins.\"io.containerd.grpc.v1.cri\"]\nsandbox_image = \"pause:1\"\n"
            "[plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.runc]\nruntime_type = \"r\"\n");
  const Spec spec = runtime_spec({{"containerd_drop_in", "/etc/containerd/conf.d/nvidia.toml"}});
  const auto plan = plan_of(host, spec);
  ASSERT_TRUE(plan.ok()) << to_text(plan.error());
  EXPECT_EQ(summary(*plan), "merge /etc/containerd/config.toml\nfile /etc/containerd/conf.d/nvidia.toml\n");
  EXPECT_EQ(plan->actions()[0].value("set"), (Json{{"imports", {"/etc/containerd/conf.d/*.toml"}}, {"version", 2}}));
  const Json file = parse_toml(plan->actions()[1].text("content"), "f").value();
  const Json cri = at_path(file, {"plugins", "io.containerd.grpc.v1.cri"});
  EXPECT_EQ(cri["sandbox_image"], "pause:1");
  EXPECT_EQ(at_path(cri, {"containerd", "runtimes", "nvidia", "runtime_type"}), "r");
}

// Before the fix, the import was planned only while it was missing: an apply then ended as a defect of this plugin, and
// the next one would have removed it again.
TEST(RuntimeContainerd, KeepsPlanningTheImportOfItsDropIn) {
  for (const std::string top : {"", "version = 2\n"}) {
    FakeHost host;
    install(host, "containerd", "containerd", "1.7.24");
    host.file(kConfig, top);
    const Spec spec = runtime_spec({{"containerd_drop_in", "/etc/containerd/conf.d/nvidia.toml"}});
    const auto first = plan_of(host, spec);
    ASSERT_TRUE(first.ok()) << to_text(first.error());
    host.file(kConfig, "version = 2\nimports = [\"/etc/containerd/conf.d/*.toml\"]\n");
    host.file("/etc/containerd/conf.d/nvidia.toml", first->actions()[1].text("content"));
    const auto second = plan_of(host, spec);
    ASSERT_TRUE(second.ok()) << to_text(second.error());
    EXPECT_EQ(to_json(*second), to_json(*first));
  }
}

TEST(RuntimeContainerd, NeedsARuntimeProgramWithoutCdi) {
  FakeHost host;
  install(host, "containerd", "containerd", "1.6.20~ds1-1");
  EXPECT_THAT(to_text(plan_of(host, runtime_spec()).error()), HasSubstr("1.6.20~ds1-1 does not support CDI"));
  host.file("/usr/bin/nvidia-container-runtime", "x", 0755);
  const Json set = set_of(host, runtime_spec({{"set_as_default", true}}));
  const Json containerd = at_path(set, {"plugins", "io.containerd.grpc.v1.cri", "containerd"});
  EXPECT_EQ(at_path(containerd, {"runtimes", "nvidia", "options", "BinaryName"}), "/usr/bin/nvidia-container-runtime");
  EXPECT_EQ(containerd["default_runtime_name"], "nvidia");
  EXPECT_FALSE(at_path(set, {"plugins", "io.containerd.grpc.v1.cri"}).contains("enable_cdi"));
}

TEST(RuntimeContainerd, StartsSlipwayRuntimeWithRuncsOptionsWithoutCdi) {
  FakeHost host;
  install(host, "containerd", "containerd", "1.6.20~ds1-1");
  host.file("/usr/bin/nvidia-container-runtime", "x", 0755);
  host.file("/usr/bin/slipway-runtime", "x", 0755);
  const std::string runc = R"([plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc)";
  host.file(kConfig, "version = 2\n" + runc + "]\nruntime_type = \"io.containerd.runc.v2\"\n" + runc +
                         ".options]\nSystemdCgroup = true\n");
  const Json set = set_of(host, runtime_spec());
  EXPECT_EQ(at_path(set, {"plugins", "io.containerd.grpc.v1.cri", "containerd", "runtimes", "nvidia"}),
            (Json{{"runtime_type", "io.containerd.runc.v2"},
                  {"options", {{"BinaryName", "/usr/bin/slipway-runtime"}, {"SystemdCgroup", true}}}}));
}

TEST(RuntimeContainerd, PlansTheSameOnceItsActionsHold) {
  FakeHost host;
  install(host, "containerd", "containerd", "1.7.24");
  host.file("/usr/bin/nvidia-container-runtime", "x", 0755);
  host.file(
      kConfig,
      "version = 2\n[plugins.\"io.containerd.grpc.v1.cri\".containerd]\ndefault_runtime_name = \"special\"\n"
      "[plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.special]\nruntime_type = \"io.containerd.runc.v1\"\n"
      "[plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.special.options]\nRoot = \"/r\"\n");
  const Spec spec = runtime_spec({{"set_as_default", true}});
  const Json set = set_of(host, spec);
  Json config = parse_toml(host.read(kConfig).value(), kConfig).value();
  config.merge_patch(set);
  host.file(kConfig, to_toml(config));
  EXPECT_EQ(set_of(host, spec), set);
}

// Before the fix, Kata's type was inherited beside a BinaryName that Kata's shim does not support: GPU containers
// became virtual machines.
TEST(RuntimeContainerd, InheritsNothingFromADefaultHandlerOfAnotherKind) {
  FakeHost host;
  install(host, "containerd", "containerd", "1.7.24");
  host.file("/usr/bin/nvidia-container-runtime", "x", 0755);
  const std::string head = "[plugins.\"io.containerd.grpc.v1.cri\".containerd";
  const std::string kata = "version = 2\n" + head + "]\ndefault_runtime_name = \"kata\"\n" + head +
                           ".runtimes.kata]\nruntime_type = \"io.containerd.kata.v2\"\n";
  const auto handler = [&host] {
    return at_path(set_of(host, runtime_spec()),
                   {"plugins", "io.containerd.grpc.v1.cri", "containerd", "runtimes", "nvidia"});
  };
  host.file(kConfig, kata);
  EXPECT_EQ(text_of(handler(), "runtime_type"), "io.containerd.runc.v2");
  host.file(kConfig, kata + head + ".runtimes.runc]\nruntime_type = \"io.containerd.runc.v2\"\n" + head +
                         ".runtimes.runc.options]\nSystemdCgroup = true\n");
  EXPECT_EQ(at_path(handler(), {"options", "SystemdCgroup"}), true) << "runc's counts then";
}

TEST(RuntimeContainerd, ReportsABrokenConfigurationWithItsPlace) {
  FakeHost host;
  install(host, "containerd", "containerd", "1.7.24");
  host.file(kConfig, "version = 2\n[plugins\n");
  const auto plan = plan_of(host, runtime_spec());
  ASSERT_FALSE(plan.ok());
  EXPECT_THAT(plan.error().where, HasSubstr(kConfig + ":2:"));
}

TEST(RuntimeCrio, InheritsNothingFromAHandlerThatIsAVirtualMachine) {
  const Json runtime{{"default_runtime", "kata"},
                     {"runtimes",
                      {{"kata", {{"runtime_path", "/usr/bin/containerd-shim-kata-v2"}, {"runtime_type", "vm"}}},
                       {"runc", {{"runtime_path", "/usr/bin/runc"}, {"runtime_type", "oci"}}}}}};
  EXPECT_EQ(text_of(crio_base_handler({"nvidia"}, runtime), "runtime_path"), "/usr/bin/runc");
}

TEST(RuntimeCrio, WritesADropInThatInheritsFromTheDefaultHandler) {
  FakeHost host;
  host.file("/usr/bin/crio", "x", 0755);
  host.file("/etc/crio/crio.conf.d/10-crun.conf",
            "[crio.runtime]\ndefault_runtime = \"crun\"\n[crio.runtime.runtimes.crun]\n"
            "runtime_path = \"/usr/bin/crun\"\nmonitor_path = \"/usr/libexec/crio/conmon\"\n");
  const auto plan = plan_of(host, runtime_spec());
  ASSERT_TRUE(plan.ok()) << to_text(plan.error());
  EXPECT_EQ(summary(*plan), "file /etc/crio/crio.conf.d/99-nvidia.conf\n");
  EXPECT_THAT(plan->actions()[0].text("content"),
              HasSubstr("[crio.runtime.runtimes.nvidia]\nmonitor_path = \"/usr/libexec/crio/conmon\"\n"
                        "runtime_path = \"/usr/bin/crun\"\nruntime_type = \"oci\"\n"));
}

TEST(RuntimeDocker, SwitchesCdiOnAndKeepsOtherFeatures) {
  FakeHost host;
  install(host, "dockerd", "docker.io", "26.1.5+dfsg1-9");
  host.file("/etc/docker/daemon.json", "{\"features\": {\"buildkit\": true}}");
  EXPECT_EQ(set_of(host, runtime_spec()), (Json{{"features", {{"cdi", true}}}}));
  host.file("/etc/docker/daemon.json", "{\n  \"features\": {},\n  oops\n}");
  EXPECT_THAT(to_text(plan_of(host, runtime_spec()).error()), HasSubstr("the file is not JSON"));
  EXPECT_EQ(plan_of(host, runtime_spec()).error().where, "/etc/docker/daemon.json:3:3");
}

TEST(RuntimeDocker, StartsSlipwayRuntimeWithoutCdi) {
  FakeHost host;
  install(host, "dockerd", "docker.io", "20.10.24+dfsg1-1");
  EXPECT_THAT(to_text(plan_of(host, runtime_spec()).error()), HasSubstr("install slipway-runtime"));
  host.file("/usr/bin/slipway-runtime", "x", 0755);
  EXPECT_EQ(set_of(host, runtime_spec({{"set_as_default", true}})),
            (Json{{"default-runtime", "nvidia"},
                  {"runtimes", {{"nvidia", {{"args", Json::array()}, {"path", "/usr/bin/slipway-runtime"}}}}}}));
}

TEST(RuntimeDocker, WritesNothingWhereCdiIsEnabledByDefault) {
  FakeHost host;
  install(host, "dockerd", "docker.io", "28.5.2+dfsg4-5");
  const auto plan = plan_of(host, runtime_spec());
  ASSERT_TRUE(plan.ok()) << to_text(plan.error());
  EXPECT_TRUE(plan->actions().empty());
  install(host, "dockerd", "docker.io", "20.10.24+dfsg1-1");
  EXPECT_THAT(to_text(plan_of(host, runtime_spec()).error()),
              HasSubstr("Docker 20.10.24+dfsg1-1 does not support CDI"));
  host.file("/usr/bin/nvidia-container-runtime", "x", 0755);
  EXPECT_EQ(
      set_of(host, runtime_spec()),
      (Json{{"runtimes", {{"nvidia", {{"args", Json::array()}, {"path", "/usr/bin/nvidia-container-runtime"}}}}}}));
}

// Before the fix, a check of the machine by an ordinary user left /tmp/podman-run-UID and /tmp/containers-user-UID
// behind.
TEST(RuntimePodman, IsNotRunWhereTheListOfPackagesHasItsVersion) {
  FakeHost host;
  be_node(host);
  install(host, "podman", "podman", "4.3.1+ds1-8");
  const auto facts = Runtime().detect(runtime_spec({{"engines", {"podman"}}}), host);
  ASSERT_TRUE(facts.ok()) << to_text(facts.error());
  EXPECT_EQ(facts->value("podman").value("version", ""), "4.3.1+ds1-8");
  EXPECT_TRUE(host.ran().empty());
  host.without("/var/lib/dpkg").answers({"/usr/bin/podman", "--version"}, {0, "podman version 5.0.1\n", "", false});
  EXPECT_EQ(Runtime().detect(runtime_spec({{"engines", {"podman"}}}), host)->value("podman")["version"], "5.0.1");
}

TEST(RuntimePodman, NeedsAFileOnlyForARuntimeProgram) {
  FakeHost host;
  install(host, "podman", "podman", "4.3.1+ds1-8");
  EXPECT_TRUE(plan_of(host, runtime_spec())->actions().empty());
  host.file("/usr/bin/nvidia-container-runtime", "x", 0755);
  EXPECT_EQ(file_of(host, runtime_spec()),
            (Json{{"engine", {{"runtimes", {{"nvidia", {"/usr/bin/nvidia-container-runtime"}}}}}}}));
}

TEST(RuntimeLowLevel, KeepsTheProgramOfTheFormerDefaultHandler) {
  FakeHost host;
  install(host, "containerd", "containerd", "1.6.20");
  host.file("/usr/bin/slipway-runtime", "x", 0755);
  const std::string runc = R"([plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc)";
  host.file(kConfig, "version = 2\n" + runc + ".options]\nBinaryName = \"/opt/runc\"\n");
  const Spec spec = runtime_spec({{"set_as_default", true}});
  const auto plan = plan_of(host, spec);
  ASSERT_TRUE(plan.ok()) << to_text(plan.error());
  const std::string settings = "/etc/nvidia-container-runtime/config.toml";
  ASSERT_THAT(summary(*plan), HasSubstr("merge " + settings));
  const Json set = plan->actions().back().value("set");
  EXPECT_EQ(at_path(set, {"nvidia-container-runtime", "runtimes"}), Json({"/opt/runc", "runc", "crun"}));

  // When both are true, the default handler is ours and no longer shows the previous one.
  Json config = parse_toml(host.read(kConfig).value(), kConfig).value();
  config.merge_patch(plan->actions().front().value("set"));
  host.file(kConfig, to_toml(config));
  host.file(settings, to_toml(set));
  EXPECT_EQ(summary(*plan_of(host, spec)), summary(*plan));

  host.file(settings, "[nvidia-container-runtime]\nruntimes = [\"crun\"]\n");
  EXPECT_THAT(summary(*plan_of(host, spec)), Not(HasSubstr(settings))) << "somebody has decided otherwise";
}

TEST(RuntimeLowLevel, IsLeftAloneWhereItIsRuncAnyway) {
  FakeHost host;
  install(host, "containerd", "containerd", "1.6.20");
  host.file("/usr/bin/slipway-runtime", "x", 0755);
  EXPECT_THAT(summary(*plan_of(host, runtime_spec())), Not(HasSubstr("nvidia-container-runtime")));
}

TEST(RuntimeEngines, ThatAreNotInstalledAreAnErrorOnlyWhenNamed) {
  const FakeHost host;
  EXPECT_FALSE(Runtime().detect(runtime_spec(), host)->applicable());
  EXPECT_THAT(to_text(plan_of(host, runtime_spec({{"engines", {"crio"}}})).error()),
              HasSubstr("crio is not installed"));
}

TEST(RuntimeEngines, VersionsAreReadFromWhatProgramsAndPackagesSay) {
  for (const char* text : {"1.7.24", "v1.7.24", "1.7.24~ds1-6+b4", "5:1.7.24-1", "1.7.24,"})
    EXPECT_EQ(parse_engine_version(text), (EngineVersion{1, 7, 24})) << text;
  for (const char* text : {"", "github.com/containerd/containerd", "Docker", "1"})
    EXPECT_FALSE(parse_engine_version(text).known()) << text;
}

TEST(Toml, IsWrittenSoThatItReadsAsTheSame) {
  const Json value{{"a", {{"x.y", {{"b", 1}, {"c", {true, "t\"\n"}}}}, {"e", Json::object()}}}, {"v", 1.5}};
  EXPECT_EQ(parse_toml(to_toml(value), "t").value(), value) << to_toml(value);
}

// Found by a fuzzer: toml++ asserted that a key follows the bracket.
TEST(Toml, ThatHasNoKeyInAHeaderIsReported) {
  for (const char* text : {"[\r\n 3]}\r\n", "[ =]\n", "[[:{]]\n", "a.= 1\n"})
    EXPECT_THAT(to_text(parse_toml(text, "/c.toml").error()), HasSubstr("it is not TOML")) << text;
}

}  // namespace
}  // namespace slipway::toolkit
