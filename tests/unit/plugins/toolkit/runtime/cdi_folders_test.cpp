// SPDX-License-Identifier: Apache-2.0
// The folders from which engines read CDI specs, and cdi's message when its own is not among them.
#include "toolkit/runtime/cdi_folders/cdi_folders.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime_fixture.hpp"
#include "toolkit/cdi/component/component.hpp"

namespace slipway::toolkit {
namespace {

using slipway::testing::FakeHost;
using ::testing::Contains;
using ::testing::HasSubstr;

/// Returns a line for each engine that does not read /run/cdi.
std::string unread(const FakeHost& host) {
  std::string lines;
  for (const EngineFolders& engine : read_engine_folders(host))
    if (!engine.has("/run/cdi")) lines += to_text(engine, "/run/cdi") + "\n";
  return lines;
}

TEST(CdiFolders, OfContainerdComeFromTheLastFileThatNamesThem) {
  FakeHost host;
  install(host, "containerd", "containerd.io", "2.1.5");
  EXPECT_EQ(unread(host), "");
  host.file(kConfig,
            "version = 3\nimports = [\"conf.d/*.toml\", \"/etc/containerd/conf.d/*.toml\"]\n"
            "[plugins.\"io.containerd.cri.v1.runtime\"]\ncdi_spec_dirs = [\"/etc/cdi\"]\n");
  EXPECT_EQ(unread(host), "containerd reads CDI specs from /etc/cdi (" + kConfig +
                              "), so its containers do not find those in /run/cdi\n");
  host.file("/etc/containerd/conf.d/cdi.toml",
            "version = 3\n[plugins.\"io.containerd.cri.v1.runtime\"]\n"
            "cdi_spec_dirs = [\"/etc/cdi\", \"/var/run/cdi/\"]\n");
  EXPECT_EQ(unread(host), "") << "/var/run is /run";
}

TEST(CdiFolders, OfDockerComeFromItsFileAndFlags) {
  FakeHost host;
  install(host, "dockerd", "docker.io", "26.1.5");
  host.file("/etc/docker/daemon.json", R"({"cdi-spec-dirs": ["/etc/cdi"]})");
  EXPECT_THAT(unread(host), HasSubstr("Docker reads CDI specs from /etc/cdi (/etc/docker/daemon.json)"));
  host.file("/etc/docker/daemon.json", "{}");
  host.file("/usr/lib/systemd/system/docker.service",
            "[Service]\nExecStart=/usr/bin/dockerd --cdi-spec-dir=/srv/a --cdi-spec-dir /srv/b\n");
  EXPECT_THAT(unread(host), HasSubstr("from /srv/a, /srv/b (/usr/lib/systemd/system/docker.service:2)"));
}

TEST(CdiFolders, OfCrioAndPodmanComeFromTheirFiles) {
  FakeHost host;
  host.file("/usr/bin/crio", "x", 0755).file("/usr/bin/podman", "x", 0755);
  host.file("/etc/crio/crio.conf.d/cdi.conf", "[crio.runtime]\ncdi_spec_dirs = [\"/etc/cdi\"]\n");
  host.file("/etc/containers/containers.conf", "[engine]\ncdi_spec_dirs = []\n");
  EXPECT_THAT(unread(host), HasSubstr("CRI-O reads CDI specs from /etc/cdi"));
  EXPECT_THAT(unread(host), HasSubstr("podman reads CDI specs from no folder"));
}

// Before the fix, these engines were told to read one more folder, which they cannot do.
TEST(CdiFolders, OfEnginesWithoutCdiAreEmpty) {
  for (const auto& [program, package, old, first] : {std::tuple("containerd", "containerd", "1.6.20", "1.7.0"),
                                                     {"containerd", "containerd.io", "1.6.33", "1.7.27"},
                                                     {"dockerd", "docker.io", "20.10.24", "25.0.1"},
                                                     {"crio", "cri-o", "1.22.5", "1.23.0"},
                                                     {"podman", "podman", "4.0.3", "4.3.1"}}) {
    FakeHost host;
    install(host, program, package, old);
    EXPECT_TRUE(read_engine_folders(host).empty()) << package << " " << old;
    install(host, program, package, first);
    EXPECT_EQ(read_engine_folders(host).size(), 1U) << package << " " << first;
  }
}

// podman 5.5 dropped /var/run/cdi, and 5.6 has it again.
TEST(CdiFolders, OfPodman55AreOne) {
  for (const auto& [version, one] : {std::pair("5.4.2", false), {"5.5.0+ds1-1", true}, {"5.6.1", false}}) {
    FakeHost host;
    install(host, "podman", "podman", version);
    EXPECT_EQ(!unread(host).empty(), one) << version;
  }
}

TEST(CdiFolders, ThatEnginesDoNotReadAreNamedByPlanVerifyAndDoctor) {
  FakeHost host;
  install(host, "containerd", "containerd.io", "2.1.5");
  host.file(kConfig, "version = 3\n[plugins.\"io.containerd.cri.v1.runtime\"]\ncdi_spec_dirs = [\"/etc/cdi\"]\n");
  const Spec spec(Json{{"folder", "/run/cdi"},
                       {"modes", {"nvml"}},
                       {"names", {"index"}},
                       {"driver_root", "auto"},
                       {"dev_root", "auto"},
                       {"format", "yaml"},
                       {"hooks", "slipway"},
                       {"char_links", true}});
  const auto facts = Cdi().detect(spec, host);
  ASSERT_TRUE(facts.ok()) << to_text(facts.error());
  const auto plan = Cdi().plan(spec, *facts, Inputs(Json{{"target", {{"live", false}}}}));
  ASSERT_TRUE(plan.ok()) << to_text(plan.error());
  EXPECT_THAT(plan->notes(), Contains(HasSubstr("containerd reads CDI specs from /etc/cdi (" + kConfig +
                                                "), so its containers do not find those in /run/cdi: write folder: "
                                                "/etc/cdi for the component cdi, or add /run/cdi")));
  for (const auto& findings : {Cdi().verify(spec, host), Cdi().diagnose(spec, host)}) {
    ASSERT_TRUE(findings.ok());
    ASSERT_FALSE(findings->list().empty());
    EXPECT_EQ(findings->list()[0].name, "cdi.engines");
    EXPECT_EQ(findings->list()[0].status, Finding::Status::fail);
  }
}

}  // namespace
}  // namespace slipway::toolkit
