// SPDX-License-Identifier: Apache-2.0
// The patterns of `slipway doctor` for container engines: each is found where it is, and only there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime_fixture.hpp"

namespace slipway::toolkit {
namespace {

using slipway::testing::FakeHost;
using ::testing::HasSubstr;

std::string table(const std::string& name, const std::string& binary) {
  const std::string head = "[plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes." + name;
  return head + "]\nruntime_type = \"io.containerd.runc.v2\"\n" + head + ".options]\nBinaryName = \"" + binary + "\"\n";
}

/// Returns a line for each finding: its name and its text.
std::string found(const FakeHost& host) {
  const auto findings = Runtime().diagnose(runtime_spec(), host);
  if (!findings) return to_text(findings.error());
  std::string lines;
  for (const Finding& finding : findings->list()) lines += finding.name + ": " + finding.text + "\n";
  return lines;
}

class RuntimeDiagnose : public ::testing::Test {
 protected:
  void containerd(const std::string& version) {
    install(host_, "containerd", "containerd", version);
    host_.file("/usr/bin/runc", "x", 0755);
    host_.file("/usr/bin/kata", "x", 0755);
  }
  FakeHost host_;
};

TEST_F(RuntimeDiagnose, FindsNothingWithoutAFault) {
  containerd("1.6.20");
  host_.file(kConfig, "version = 2\n" + table("runc", "/usr/bin/runc") + table("kata", "kata-runtime"));
  EXPECT_EQ(found(host_), "");
  EXPECT_EQ(found(FakeHost()), "");
}

// Before the fix, one unreadable configuration ended the search: the other engines and the containers were not checked.
TEST_F(RuntimeDiagnose, ContinuesPastAnEngineWhoseConfigurationIsBroken) {
  containerd("1.7.24");
  host_.file(kConfig, "this is not TOML").file("/usr/bin/dockerd", "x", 0755);
  host_.file("/etc/docker/daemon.json", R"({"default-runtime": "gone"})");
  EXPECT_THAT(found(host_), HasSubstr("runtime.containerd: "));
  EXPECT_THAT(found(host_), HasSubstr(kConfig));
  EXPECT_THAT(found(host_), HasSubstr("runtime.default: the default runtime of Docker is gone"));
  const auto findings = Runtime().diagnose(runtime_spec({{"env", {{"CDI_KIND", "x"}}}}), host_);
  ASSERT_TRUE(findings);
  EXPECT_EQ(findings->list().at(0).name, "runtime.settings");
}

// Before the fix, the same broken configuration was a warning in verify and a failure in doctor.
TEST_F(RuntimeDiagnose, JudgesABrokenConfigurationAsVerifyDoes) {
  const auto severity = [&](const Findings& findings) {
    for (const Finding& finding : findings.list())
      if (finding.name == "runtime.containerd") return std::string(to_string(finding.status));
    return std::string("none");
  };
  containerd("1.7.24");
  host_.file(kConfig, "this is not TOML").file("/usr/bin/dockerd", "x", 0755);
  EXPECT_EQ(severity(*Runtime().diagnose(runtime_spec(), host_)), "warning") << "an apply configures Docker";
  EXPECT_EQ(severity(*Runtime().verify(runtime_spec(), host_)), "warning");
  const Spec listed = runtime_spec({{"engines", {"containerd", "docker"}}});
  EXPECT_EQ(severity(*Runtime().diagnose(listed, host_)), "fail") << "no apply succeeds";
}

TEST_F(RuntimeDiagnose, FindsClassesThatALaterImportHidesBefore21) {
  for (const auto& [version, hides] : {std::pair("1.7.24", true), {"2.0.5", true}, {"2.1.1", false}}) {
    FakeHost host;
    install(host, "containerd", "containerd", version);
    host.file("/usr/bin/runc", "x", 0755);
    host.file("/usr/bin/kata", "x", 0755);
    host.file(kConfig, "version = 2\nimports = [\"/etc/containerd/conf.d/*.toml\"]\n" + table("kata", "/usr/bin/kata"));
    host.file("/etc/containerd/conf.d/99-nvidia.toml", "version = 2\n" + table("nvidia", "/usr/bin/runc"));
    if (hides)
      EXPECT_THAT(found(host), HasSubstr("runtime.hidden: the runtime classes of " + kConfig +
                                         " have no effect (kata): /etc/containerd/conf.d/99-nvidia.toml"));
    else
      EXPECT_EQ(found(host), "");
  }
}

TEST_F(RuntimeDiagnose, FindsAClassWhoseProgramIsGone) {
  containerd("1.7.24");
  host_.file(kConfig, "version = 2\n" + table("nvidia", "/usr/local/nvidia/toolkit/nvidia-container-runtime"));
  EXPECT_THAT(found(host_), HasSubstr("runtime.program: the runtime class nvidia of containerd starts "
                                      "/usr/local/nvidia/toolkit/nvidia-container-runtime"));
}

TEST_F(RuntimeDiagnose, FindsAnUndefinedDefaultClass) {
  containerd("1.7.24");
  host_.file(kConfig, "version = 2\n" + table("runc", "/usr/bin/runc") +
                          "[plugins.\"io.containerd.grpc.v1.cri\".containerd]\ndefault_runtime_name = \"nvidia\"\n");
  EXPECT_THAT(found(host_), HasSubstr("runtime.default: the default runtime class of containerd is nvidia"));
}

TEST_F(RuntimeDiagnose, FindsThatAnotherConfigurationIsUsed) {
  containerd("1.7.24");
  host_.file("/lib/systemd/system/containerd.service",
             "[Service]\nExecStart=/usr/bin/containerd --config /etc/custom.toml\n");
  host_.file("/etc/custom.toml", "version = 2\n");
  EXPECT_EQ(found(host_), "");
  host_.file(kConfig, "version = 2\n");
  EXPECT_THAT(found(host_), HasSubstr("runtime.other-config: containerd is started with /etc/custom.toml; " + kConfig));
}

TEST_F(RuntimeDiagnose, FindsASnapOfDockerThatHasNoRuntimeForGpus) {
  host_.file("/etc/systemd/system/snap.docker.dockerd.service",
             "[Service]\nExecStart=/usr/bin/snap run docker.dockerd\n");
  const std::string file = "/var/snap/docker/current/config/daemon.json";
  EXPECT_THAT(found(host_),
              HasSubstr("runtime.docker-snap: Docker is installed as a snap, and " + file + " has no runtime nvidia"));
  host_.file(file, R"({"log-level": "error"})");
  EXPECT_THAT(found(host_), HasSubstr("runtime.docker-snap"));
  host_.file("/snap/docker/2932/usr/bin/nvidia-container-runtime", "x", 0755);
  host_.file(file, R"({"runtimes": {"nvidia": {"path": "/snap/docker/2932/usr/bin/nvidia-container-runtime"}}})");
  EXPECT_EQ(found(host_), "");
}

// Before the fix, this hook ran in each container with NVIDIA_VISIBLE_DEVICES, beside CDI.
TEST_F(RuntimeDiagnose, FindsTheHookThatNvidiasOldPackagesHaveLeft) {
  const std::string path = "/usr/share/containers/oci/hooks.d/oci-nvidia-hook.json";
  host_.file(path, R"({"version": "1.0.0", "hook": {"path": "/usr/bin/nvidia-container-toolkit", "args": ["x"]}})");
  host_.file("/usr/share/containers/oci/hooks.d/other.json", R"({"version": "1.0.0", "hook": {"path": "/usr/bin/x"}})");
  EXPECT_EQ(found(host_), "") << "nobody would run it";
  install(host_, "podman", "podman", "4.3.1");
  EXPECT_THAT(found(host_), HasSubstr("runtime.legacy-hook: " + path + " makes podman and CRI-O run NVIDIA's hook"));
  EXPECT_THAT(plan_of(host_, runtime_spec())->notes(), ::testing::Contains(HasSubstr(path)));
}

TEST_F(RuntimeDiagnose, FindsErrorsThatStopDocker) {
  install(host_, "dockerd", "docker.io", "20.10.24");
  host_.file(
      "/etc/docker/daemon.json",
      R"({"default-runtime": "nvidia", "runtimes": {"other": {"path": "/opt/gone"}, "runc2": {"path": "runc"}}})");
  EXPECT_THAT(found(host_), HasSubstr("the runtime class other of Docker starts /opt/gone"));
  EXPECT_THAT(found(host_), HasSubstr("runtime.default: the default runtime of Docker is nvidia"));
  host_.file("/etc/docker/daemon.json", R"({"default-runtime": "runc"})");
  EXPECT_EQ(found(host_), "");
}

/// Returns the failing findings of verify.
std::string failed(const FakeHost& host, const Spec& spec = runtime_spec()) {
  const auto findings = Runtime().verify(spec, host);
  if (!findings) return to_text(findings.error());
  std::string lines;
  for (const Finding& finding : findings->list())
    if (finding.status == Finding::Status::fail) lines += finding.name + ": " + finding.text + "\n";
  return lines;
}

// Before the fix, an image passed, whatever was added to it after the apply.
TEST(RuntimeVerifyOfImage, FailsWhereALaterImportHidesTheRuntimeClass) {
  for (const auto& [version, hides] : {std::pair("1.7.24", true), {"2.1.1", false}}) {
    FakeHost host;
    install(host, "containerd", "containerd", version);
    host.file(kConfig,
              "version = 2\nimports = [\"/etc/containerd/conf.d/*.toml\"]\n" + table("nvidia", "/usr/bin/runc"));
    EXPECT_EQ(failed(host), "") << version;
    host.file("/etc/containerd/conf.d/99-site.toml", "version = 2\n" + table("kata", "/usr/bin/kata"));
    if (hides)
      EXPECT_THAT(failed(host),
                  HasSubstr("runtime.containerd: containerd 1.7.24 will not see the runtime class nvidia of " +
                            kConfig + ": /etc/containerd/conf.d/99-site.toml is read later"));
    else
      EXPECT_EQ(failed(host), "");
  }
}

TEST(RuntimeVerifyOfImage, FailsWhereContainerdIsStartedWithAnotherFile) {
  FakeHost host;
  install(host, "containerd", "containerd", "1.7.24");
  host.file(kConfig, "version = 2\n" + table("nvidia", "/usr/bin/runc"));
  EXPECT_EQ(failed(host), "");
  host.file("/etc/custom.toml", "version = 2\n");
  host.file("/lib/systemd/system/containerd.service",
            "[Service]\nExecStart=/usr/bin/containerd --config /etc/custom.toml\n");
  EXPECT_EQ(failed(host), "runtime.containerd: no file that containerd reads has the runtime class nvidia\n");
}

TEST(RuntimeVerifyOfImage, FailsWhereAFlagOfDockerdSetsWhatItsFileSets) {
  FakeHost host;
  install(host, "dockerd", "docker.io", "26.1.5");
  host.file("/etc/docker/daemon.json", R"({"default-runtime": "nvidia", "features": {"cdi": true}})");
  EXPECT_EQ(failed(host), "");
  const auto start_with = [&](const std::string& flags) {
    host.file("/lib/systemd/system/docker.service", "[Service]\nExecStart=/usr/bin/dockerd -H fd:// " + flags + "\n");
    return failed(host);
  };
  EXPECT_THAT(start_with("--default-runtime=nvidia"),
              HasSubstr("runtime.docker: dockerd will not start: /lib/systemd/system/docker.service:2"));
  EXPECT_THAT(start_with("--default-runtime=nvidia"), HasSubstr("sets default-runtime, and /etc/docker/daemon.json"));
  EXPECT_THAT(start_with("--feature cdi"), HasSubstr("sets features, and /etc/docker/daemon.json"));
  EXPECT_EQ(start_with("--log-level=warn"), "");
}

}  // namespace
}  // namespace slipway::toolkit
