// SPDX-License-Identifier: Apache-2.0
// The choice of containerd's file to change, and the inherited keys: judged by containerd itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime_fixture.hpp"
#include "toolkit/runtime/containerd/configuration.hpp"

namespace slipway::toolkit {
namespace {

using slipway::testing::FakeHost;
using slipway::testing::summary;
using ::testing::Contains;
using ::testing::HasSubstr;

const std::string kCri2 = "[plugins.\"io.containerd.grpc.v1.cri\"]\n";
const std::string kRunc2 =
    "[plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.runc]\n"
    "runtime_type = \"io.containerd.runc.v2\"\n";
const std::string kRuncOptions2 =
    "[plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.runc.options]\nSystemdCgroup = true\n";
const std::string kFolder = "/etc/containerd/";

/// Planning again after the plan was carried out gives the same plan.
void expect_settled(FakeHost& host, const Spec& spec = runtime_spec()) {
  const auto first = plan_of(host, spec);
  ASSERT_TRUE(first.ok()) << to_text(first.error());
  carry_out_files(host, *first);
  const auto second = plan_of(host, spec);
  ASSERT_TRUE(second.ok()) << to_text(second.error());
  EXPECT_EQ(to_json(*second), to_json(*first));
}

void containerd(FakeHost& host, const std::string& version) { install(host, "containerd", "containerd.io", version); }

// Before the fix, each apply added one more import of the drop-in's folder, and failed as a defect of this plugin.
TEST(ContainerdFiles, AddTheImportOfTheDropInOnceBesideOtherImports) {
  for (const std::string version : {"1.7.24", "2.0.5", "2.1.5"}) {
    FakeHost host;
    containerd(host, version);
    const std::string number = version == "1.7.24" ? "2" : "3";
    host.file(kConfig, "version = " + number + "\nimports = [\"/etc/containerd/im/*.toml\"]\n");
    const Spec spec = runtime_spec({{"containerd_drop_in", "/etc/containerd/conf.d/99-nvidia.toml"}});
    const auto plan = plan_of(host, spec);
    ASSERT_TRUE(plan.ok()) << to_text(plan.error());
    EXPECT_EQ(plan->actions()[0].value("set")["imports"],
              Json({"/etc/containerd/im/*.toml", "/etc/containerd/conf.d/*.toml"}));
    expect_settled(host, spec);
  }
}

// Before the fix, the folder's other files came into force with it. Found by random layouts: seed 4 of containerd 2.1.
TEST(ContainerdFiles, AddOnlyTheDropInWhereItsFolderHasUnreadFiles) {
  FakeHost host;
  containerd(host, "2.1.5");
  host.file(kConfig, "version = 3\n");
  host.file(kFolder + "conf.d/10-disused.toml",
            "version = 3\n[plugins.\"io.containerd.cri.v1.runtime\".containerd."
            "runtimes.runc.options]\nSystemdCgroup = true\n");
  const Spec spec = runtime_spec({{"containerd_drop_in", "/etc/containerd/conf.d/99-nvidia.toml"}});
  const auto plan = plan_of(host, spec);
  ASSERT_TRUE(plan.ok()) << to_text(plan.error());
  EXPECT_EQ(plan->actions()[0].value("set")["imports"], Json({"/etc/containerd/conf.d/99-nvidia.toml"}));
  expect_settled(host, spec);
}

TEST(ContainerdFiles, AddNoImportOfADropInThatIsImportedByItsName) {
  FakeHost host;
  containerd(host, "2.1.5");
  host.file(kConfig, "version = 3\nimports = [\"/etc/containerd/conf.d/99-nvidia.toml\"]\n");
  const Spec spec = runtime_spec({{"containerd_drop_in", "/etc/containerd/conf.d/99-nvidia.toml"}});
  const auto plan = plan_of(host, spec);
  ASSERT_TRUE(plan.ok()) << to_text(plan.error());
  EXPECT_EQ(plan->actions()[0].value("set")["imports"], Json({"/etc/containerd/conf.d/99-nvidia.toml"}));
  expect_settled(host, spec);
}

// containerd 1.7 uses the table of the file that it reads last.
TEST(ContainerdFiles, RefuseADropInThatALaterFileReplaces) {
  FakeHost host;
  containerd(host, "1.7.24");
  host.file(kConfig, "version = 2\nimports = [\"/etc/containerd/conf.d/*.toml\", \"/etc/containerd/z.toml\"]\n");
  host.file("/etc/containerd/z.toml", "version = 2\n" + kCri2 + "sandbox_image = \"pause:3.9\"\n");
  const Spec spec = runtime_spec({{"containerd_drop_in", "/etc/containerd/conf.d/99-nvidia.toml"}});
  EXPECT_THAT(actions_of(host, spec), HasSubstr("containerd 1.7.24 reads /etc/containerd/z.toml after "
                                                "/etc/containerd/conf.d/99-nvidia.toml"));
  EXPECT_EQ(actions_of(host), "merge /etc/containerd/z.toml\n");
}

// Before the fix, only the imports of the main file were read: real containerd 1.7.24 used only the nested file's
// table.
TEST(ContainerdFiles, AreReadBreadthFirstThroughNestedImports) {
  FakeHost host;
  containerd(host, "1.7.24");
  host.file(kConfig, "version = 2\nimports = [\"/etc/containerd/site.toml\"]\n");
  host.file(kFolder + "site.toml", "version = 2\nimports = [\"/etc/containerd/site-cri.toml\"]\n");
  host.file(kFolder + "site-cri.toml", "version = 2\n" + kCri2 + "sandbox_image = \"pause:3.9\"\n");
  EXPECT_EQ(actions_of(host), "merge /etc/containerd/site-cri.toml\n");
  expect_settled(host);
}

TEST(ContainerdFiles, AreReadOnceEachInALoopAndThroughPatternsOfFolders) {
  FakeHost host;
  host.file(kConfig, "version = 2\nimports = [\"a.toml\", \"/etc/containerd/*/c.toml\"]\n");
  host.file(kFolder + "a.toml", "imports = [\"/etc/containerd/config.toml\", \"b.toml\"]\n");
  host.file(kFolder + "b.toml", "imports = [\"a.toml\"]\n");
  host.file(kFolder + "x/c.toml", "");
  host.file(kFolder + "y/c.toml", "");
  const auto all = Configuration::read(host, kConfig, {1, 7});
  ASSERT_TRUE(all.ok()) << to_text(all.error());
  std::vector<std::string> read;
  for (const ConfigFile& file : all->files()) read.push_back(file.path.substr(kFolder.size()));
  EXPECT_THAT(read, ::testing::ElementsAre("config.toml", "a.toml", "x/c.toml", "y/c.toml", "b.toml"));
}

// Before the fix, the drop-in was written to /d1, which containerd does not read from 1.6.29, 1.7.16 and 2.0 on.
TEST(ContainerdFiles, OfARelativePatternAreFoundAsContainerdDoes) {
  const std::pair<EngineVersion, std::string> folders[]{{{1, 6, 20}, "/d1"},         {{1, 6, 29}, kFolder + "d1"},
                                                        {{1, 7, 15}, "/d1"},         {{1, 7, 16}, kFolder + "d1"},
                                                        {{2, 0, 0}, kFolder + "d1"}, {{2, 1, 4}, kFolder + "d1"}};
  for (const auto& [engine, folder] : folders) {
    FakeHost host;
    host.file(kConfig, "version = 2\nimports = [\"d1/*.toml\"]\n").file(folder + "/a.toml", "");
    const auto all = Configuration::read(host, kConfig, engine);
    ASSERT_TRUE(all.ok()) << to_text(all.error());
    EXPECT_TRUE(all->reads(folder + "/a.toml")) << engine.major << "." << engine.minor << "." << engine.patch;
  }
}

// Before the fix, two files that import their folder by "../conf.d/*.toml" were read without end, under ever longer
// names; or the path of an edit contained "..". Found by random layouts: seeds 14 and 20 of containerd 1.7.
TEST(ContainerdFiles, OfAPatternThatGoesUpAndDownAgainAreReadOnce) {
  FakeHost host;
  containerd(host, "1.7.24");
  host.file(kConfig, "version = 2\nimports = [\"/etc/containerd/im/../conf.d/*.toml\"]\n");
  host.file(kFolder + "conf.d/a.toml", "version = 2\nimports = [\"../conf.d/*.toml\", \"../im/*.toml\"]\n");
  host.file(kFolder + "im/c.toml", "version = 2\n" + kCri2 + "enable_selinux = true\n" + kRunc2);
  const auto all = Configuration::read(host, kConfig, {1, 7, 24});
  ASSERT_TRUE(all.ok()) << to_text(all.error());
  EXPECT_EQ(all->files().size(), 3U);
  EXPECT_EQ(all->deciding().path, kFolder + "im/c.toml");
  expect_settled(host);
}

TEST(ContainerdFiles, AreLimitedInNumber) {
  FakeHost host;
  host.file(kConfig, "version = 2\nimports = [\"/etc/containerd/many/*.toml\"]\n");
  for (int i = 0; i < 300; ++i) host.file(kFolder + "many/" + std::to_string(i) + ".toml", "");
  EXPECT_THAT(to_text(Configuration::read(host, kConfig, {1, 7}).error()), HasSubstr("more than 256 files"));
}

// containerd 2.1 merges the tables, so runc has SystemdCgroup. Before the fix, the handler did not get it.
TEST(ContainerdFiles, GiveTheHandlerTheMergedOptionsOfTheDefaultOne) {
  FakeHost host;
  containerd(host, "2.1.9");
  const std::string cri = "[plugins.\"io.containerd.cri.v1.runtime\"";
  host.file(kConfig, "version = 3\nimports = [\"/etc/containerd/conf.d/*.toml\"]\n");
  host.file(kFolder + "conf.d/10-cgroups.toml",
            "version = 3\n" + cri + ".containerd.runtimes.runc]\nruntime_type = \"io.containerd.runc.v2\"\n" + cri +
                ".containerd.runtimes.runc.options]\nSystemdCgroup = true\n");
  host.file(kFolder + "conf.d/20-selinux.toml", "version = 3\n" + cri + "]\nenable_selinux = true\n");
  host.file("/var/lib/kubelet/config.yaml", "cgroupDriver: systemd\n");
  const auto plan = plan_of(host, runtime_spec());
  ASSERT_TRUE(plan.ok()) << to_text(plan.error());
  EXPECT_EQ(summary(*plan), "file /etc/containerd/conf.d/99-nvidia.toml\n");
  const Json nvidia = at_path(file_of(host, runtime_spec()),
                              {"plugins", "io.containerd.cri.v1.runtime", "containerd", "runtimes", "nvidia"});
  EXPECT_EQ(nvidia, (Json{{"runtime_type", "io.containerd.runc.v2"}, {"options", {{"SystemdCgroup", true}}}}));
  EXPECT_TRUE(plan->notes().empty()) << plan->notes().front();
  expect_settled(host);
}

// 99-nvidia.toml would be read before it, so another handler nvidia would be used.
TEST(ContainerdFiles, AreChangedWhereALaterOneHasTheHandlerAlready) {
  FakeHost host;
  containerd(host, "2.1.9");
  host.file(kConfig, "version = 3\nimports = [\"/etc/containerd/conf.d/*.toml\"]\n");
  host.file(kFolder + "conf.d/zz.toml",
            "version = 3\n[plugins.\"io.containerd.cri.v1.runtime\".containerd.runtimes."
            "nvidia]\nruntime_type = \"other\"\n");
  EXPECT_EQ(actions_of(host), "merge /etc/containerd/conf.d/zz.toml\n");
}

// Before the fix, slipway's handler inherited from a handler that is not used, and the next plan was different.
TEST(ContainerdFiles, IgnoreATableThatALaterFileReplaces) {
  for (const std::string version : {"1.6.20", "1.7.24"}) {
    FakeHost host;
    containerd(host, version);
    host.file("/usr/bin/slipway-runtime", "x", 0755);
    host.file(kConfig, "version = 2\nimports = [\"/etc/containerd/config.d/*.toml\"]\n" + kRunc2 + kRuncOptions2);
    host.file(kFolder + "config.d/registries.toml",
              "[plugins.\"io.containerd.grpc.v1.cri\".registry.mirrors.\"docker.io\"]\nendpoint = [\"https://m\"]\n");
    const auto plan = plan_of(host, runtime_spec());
    ASSERT_TRUE(plan.ok()) << to_text(plan.error());
    EXPECT_EQ(actions_of(host), "merge /etc/containerd/config.d/registries.toml\n");
    const Json runtimes =
        at_path(plan->actions()[0].value("set"), {"plugins", "io.containerd.grpc.v1.cri", "containerd", "runtimes"});
    EXPECT_EQ(
        runtimes,
        (Json{{"nvidia",
               {{"runtime_type", "io.containerd.runc.v2"}, {"options", {{"BinaryName", "/usr/bin/slipway-runtime"}}}}},
              {"runc", {{"runtime_type", "io.containerd.runc.v2"}}}}));
    EXPECT_THAT(plan->notes(),
                Contains(HasSubstr(kConfig + "'s settings of the CRI plugin are not used: containerd " + version +
                                   " takes all of them from " + kFolder + "config.d/registries.toml")));
    expect_settled(host);
    const auto findings = Runtime().diagnose(runtime_spec(), host);
    ASSERT_TRUE(findings);
    EXPECT_THAT(findings->list().at(0).text, HasSubstr("the runtime classes of " + kConfig + " have no effect (runc)"));
  }
}

// Before the fix, the standard file of Docker's package of containerd failed the component, and Docker was not
// configured either.
TEST(ContainerdFiles, OfDockersPackageSwitchTheCriPluginOffSoOnlyDockerIsConfigured) {
  FakeHost host;
  host.file("/usr/bin/dockerd", "x", 0755).file("/usr/bin/containerd", "x", 0755);
  host.file("/var/lib/dpkg/status",
            "Package: docker-ce\nStatus: install ok installed\nVersion: 5:28.1.1-1~debian.12~bookworm\n\n"
            "Package: containerd.io\nStatus: install ok installed\nVersion: 2.1.5-1~debian.12~bookworm\n");
  host.file(kConfig, "disabled_plugins = [\"cri\"]\n");
  const auto plan = plan_of(host, runtime_spec());
  ASSERT_TRUE(plan.ok()) << to_text(plan.error());
  EXPECT_EQ(actions_of(host), "merge /etc/docker/daemon.json\n");
  EXPECT_THAT(plan->notes(), Contains(HasSubstr(kConfig + " switches containerd's CRI plugin off")));
  EXPECT_FALSE(plan->outputs().contains("cdi")) << "no kubelet can use that containerd";
}

// containerd 2.1.9 accepts the plugins' names of version 3 from a file without a version, and ignores those of 1 and 2.
TEST(ContainerdFiles, WithoutAVersionAreOfVersion3ForContainerd2) {
  FakeHost host;
  containerd(host, "2.1.5");
  host.file(kConfig, "disabled_plugins = []\n");
  const Json set = set_of(host, runtime_spec());
  EXPECT_TRUE(at_path(set, {"plugins", "io.containerd.cri.v1.runtime", "containerd", "runtimes", "nvidia"}).is_object())
      << set;
  EXPECT_FALSE(set.contains("version"));
  containerd(host, "1.7.24");
  EXPECT_TRUE(at_path(set_of(host, runtime_spec()), {"plugins", "cri", "containerd", "runtimes"}).is_object());
}

TEST(ContainerdFiles, WithAnInvalidVersionAreRefused) {
  FakeHost host;
  containerd(host, "1.7.24");
  host.file(kConfig, "# ours\nversion = \"2\"\n");
  const auto plan = plan_of(host, runtime_spec());
  ASSERT_FALSE(plan.ok());
  EXPECT_THAT(plan.error().what, HasSubstr("version is not a number"));
  EXPECT_EQ(plan.error().where, kConfig + ":2");
}

// Before the fix, each of these units was read as if `--config` were missing, and another file was created.
TEST(ContainerdFiles, AreFoundByTheUnitAsSystemdReadsIt) {
  for (const std::string exec : {
           "ExecStart = /usr/bin/containerd --config /srv/c.toml",
           "   ExecStart=/usr/bin/containerd --config /srv/c.toml",
           "ExecStart=/usr/bin/containerd \\\n# a comment\n  --config /srv/c.toml",
           "ExecStart=/usr/bin/containerd\t--config /srv/c.toml",
           "ExecStart=/usr/bin/containerd -c=/srv/c.toml",
           "ExecStart=/usr/bin/env PATH=/opt/bin:/usr/bin containerd --config /srv/c.toml",
           "ExecStart=-/usr/bin/containerd --config \"/srv/c.toml\"",
           "Environment=\"CONFIG=/srv/c.toml\"\nExecStart=/usr/bin/containerd --config ${CONFIG}",
           "Environment=OPTIONS='--config /srv/c.toml'\nExecStart=/usr/bin/containerd $OPTIONS",
           "ExecStart=/usr/bin/containerd --config /srv/x/../c.toml",
           "EnvironmentFile=-/etc/default/containerd\nExecStart=/usr/bin/containerd $FROM_FILE",
       }) {
    FakeHost host;
    containerd(host, "1.7.24");
    host.file("/etc/default/containerd", "# as Amazon Linux has it\nFROM_FILE=\"--config /srv/c.toml\"\n");
    host.file("/usr/lib/systemd/system/containerd.service", "[Unit]\nAfter=x\n[Service]\n" + exec + "\n");
    EXPECT_EQ(actions_of(host), "merge /srv/c.toml\n") << exec;
  }
}

// Flatcar's unit. Before the fix, /etc/containerd/config.toml was created, which Flatcar's containerd never reads.
TEST(ContainerdFiles, ComeFromTheUnitsEnvironment) {
  FakeHost host;
  containerd(host, "1.7.24");
  const std::string unit = "/usr/lib/systemd/system/containerd.service";
  host.file(unit,
            "[Service]\nEnvironment=CONTAINERD_CONFIG=/usr/share/containerd/config.toml\n"
            "ExecStart=/usr/bin/containerd --config ${CONTAINERD_CONFIG}\n");
  EXPECT_EQ(actions_of(host), "merge /usr/share/containerd/config.toml\n");
  EXPECT_THAT(plan_of(host, runtime_spec())->notes(),
              Contains(HasSubstr("Where /usr is read-only, copy the file to /etc")));
  host.file("/etc/systemd/system/containerd.service.d/10-use-custom-config.conf",
            "[Service]\nEnvironment=CONTAINERD_CONFIG=/etc/containerd/config.toml\n");
  EXPECT_EQ(actions_of(host), "merge /etc/containerd/config.toml\n");
  host.without("/etc/systemd/system/containerd.service.d");
  host.file(unit, "[Service]\nEnvironmentFile=/run/made-at-boot\nExecStart=/usr/bin/containerd --config ${WHERE}\n");
  EXPECT_THAT(actions_of(host), HasSubstr("from a variable whose value is not known here: ${WHERE} of " + unit + ":3"));
}

}  // namespace
}  // namespace slipway::toolkit
