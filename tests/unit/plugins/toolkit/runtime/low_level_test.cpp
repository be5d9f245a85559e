// SPDX-License-Identifier: Apache-2.0
// The program that creates containers behind slipway-runtime: the one that created them before, and never a runtime for
// GPUs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime_fixture.hpp"
#include "toolkit/runtime/engine.hpp"

namespace slipway::toolkit {
namespace {

using slipway::testing::FakeHost;
using ::testing::HasSubstr;

const std::string kSettingsFile = "/etc/nvidia-container-runtime/config.toml";
const std::string kHandlers = "[plugins.\"io.containerd.grpc.v1.cri\".containerd";

/// Returns the planned value of nvidia-container-runtime.runtimes; null when it is not planned.
Json runtimes_of(const FakeHost& host, const Json& more = Json::object()) {
  const auto plan = plan_of(host, runtime_spec(more));
  if (!plan) return to_json(plan.error());
  for (const Action& action : plan->actions())
    if (action.target() == kSettingsFile) return at_path(action.value("set"), {"nvidia-container-runtime", "runtimes"});
  return nullptr;
}

FakeHost with_runtime() {
  FakeHost host;
  host.file("/usr/bin/slipway-runtime", "x", 0755);
  return host;
}

/// The configuration of GPU Operator and EKS nodes.
void containerd_of_operator(FakeHost& host, const std::string& program, const std::string& more) {
  install(host, "containerd", "containerd", "1.7.24");
  host.file(kConfig, "version = 2\n" + kHandlers + "]\ndefault_runtime_name = \"nvidia\"\n" + kHandlers +
                         ".runtimes.nvidia]\nruntime_type = \"io.containerd.runc.v2\"\n" + kHandlers +
                         ".runtimes.nvidia.options]\nBinaryName = \"" + program + "\"\n" + more);
}

// Before the fix, slipway-runtime started NVIDIA's runtime, which started itself without end.
TEST(LowLevelRuntime, IsNeverNvidiasRuntime) {
  for (const std::string program :
       {"/usr/bin/nvidia-container-runtime", "/usr/local/nvidia/toolkit/nvidia-container-runtime.cdi",
        "/usr/bin/nvidia-container-runtime.legacy", "/opt/slipway-runtime"}) {
    FakeHost host = with_runtime();
    containerd_of_operator(host, program, "");
    EXPECT_EQ(runtimes_of(host), nullptr) << "its default is runc, then crun";
    host.file(kSettingsFile, "[nvidia-container-runtime]\nlog-level = \"warning\"\n");
    EXPECT_EQ(runtimes_of(host), nullptr);
    host.file(kSettingsFile, "[nvidia-container-runtime]\nruntimes = [\"" + program + "\", \"runc\", \"crun\"]\n");
    EXPECT_EQ(runtimes_of(host), nullptr) << "what slipway wrote before is taken out again";
  }
}

TEST(LowLevelRuntime, IsTheHandlerRuncIfTheDefaultIsForGpus) {
  FakeHost host = with_runtime();
  containerd_of_operator(host, "/usr/bin/nvidia-container-runtime",
                         kHandlers + ".runtimes.runc.options]\nBinaryName = \"/opt/bin/runc\"\n");
  EXPECT_EQ(runtimes_of(host), Json({"/opt/bin/runc", "runc", "crun"}));
}

// Before the fix, once slipway's runtime was the default, runc's own program was used. Found by random layouts: seed 42
// of containerd 1.6.
TEST(LowLevelRuntime, StaysTheSameOnceTheDefaultHandlerIsOurs) {
  const Json as_default{{"set_as_default", true}};
  for (const auto& [of_default, expected] :
       {std::pair<std::string, Json>{"", {"/opt/bin/runc", "runc", "crun"}}, {"/usr/bin/runc", {"runc", "crun"}}}) {
    FakeHost host = with_runtime();
    install(host, "containerd", "containerd", "1.7.24");
    host.file(
        kConfig,
        "version = 2\n" + kHandlers + "]\ndefault_runtime_name = \"other\"\n" + kHandlers +
            ".runtimes.other]\nruntime_type = \"io.containerd.kata.v2\"\n" +
            (of_default.empty() ? "" : kHandlers + ".runtimes.other.options]\nBinaryName = \"" + of_default + "\"\n") +
            kHandlers + ".runtimes.runc.options]\nBinaryName = \"/opt/bin/runc\"\n");
    EXPECT_EQ(runtimes_of(host, as_default), expected);
    const auto plan = plan_of(host, runtime_spec(as_default));
    ASSERT_TRUE(plan.ok());
    carry_out_files(host, *plan);
    EXPECT_EQ(to_json(*plan_of(host, runtime_spec(as_default))), to_json(*plan));
  }
}

TEST(LowLevelRuntime, IsNeverNvidiasRuntimeOfDockerAndCrio) {
  FakeHost docker = with_runtime();
  install(docker, "dockerd", "docker.io", "26.1.5");
  docker.file(
      "/etc/docker/daemon.json",
      R"({"default-runtime": "nvidia", "runtimes": {"nvidia": {"path": "/usr/bin/nvidia-container-runtime"}}})");
  EXPECT_EQ(runtimes_of(docker), nullptr);
  FakeHost crio = with_runtime();
  crio.file("/usr/bin/crio", "x", 0755);
  crio.file("/etc/crio/crio.conf.d/50-nvidia.conf",
            "[crio.runtime]\ndefault_runtime = \"nvidia\"\n[crio.runtime.runtimes.nvidia]\n"
            "runtime_path = \"/usr/bin/nvidia-container-runtime\"\n");
  EXPECT_EQ(runtimes_of(crio), nullptr);
}

TEST(LowLevelRuntime, IsDockersDefault) {
  FakeHost host = with_runtime();
  install(host, "dockerd", "docker.io", "26.1.5");
  host.file("/etc/docker/daemon.json",
            R"({"default-runtime": "crun", "runtimes": {"crun": {"path": "/usr/local/bin/crun"}}})");
  EXPECT_EQ(runtimes_of(host), Json({"/usr/local/bin/crun", "runc", "crun"}));
}

TEST(LowLevelRuntime, IsPodmans) {
  FakeHost host = with_runtime();
  install(host, "podman", "podman", "5.4.2");
  EXPECT_EQ(runtimes_of(host), nullptr);
  host.file("/etc/containers/containers.conf", "[engine]\nruntime = \"crun\"\n");
  EXPECT_EQ(runtimes_of(host), Json({"crun", "runc"}));
  host.file("/usr/local/bin/crun", "x", 0755);
  host.file("/etc/containers/containers.conf.d/10-crun.conf",
            "[engine.runtimes]\ncrun = [\"/usr/bin/crun\", \"/usr/local/bin/crun\"]\n");
  EXPECT_EQ(runtimes_of(host), Json({"/usr/local/bin/crun", "runc", "crun"}));
}

// OpenShift's configuration has no path of crun.
TEST(LowLevelRuntime, IsCriosHandlerByItsNameWhereItHasNoPath) {
  FakeHost host = with_runtime();
  host.file("/usr/bin/crio", "x", 0755);
  host.file("/etc/crio/crio.conf.d/00-default",
            "[crio.runtime]\ndefault_runtime = \"crun\"\n[crio.runtime.runtimes.crun]\nruntime_root = \"/run/crun\"\n");
  EXPECT_EQ(runtimes_of(host), Json({"crun", "runc"}));
  host.without("/usr/bin/slipway-runtime");
  const auto plan = plan_of(host, runtime_spec());
  ASSERT_FALSE(plan.ok());
  EXPECT_THAT(plan.error().what, HasSubstr("the handler of CRI-O to inherit from has no runtime_path, and "
                                           "slipway-runtime is not installed"));
}

// Before the fix, slipway-runtime refused each container of its handler, without an earlier warning.
TEST(LowLevelRuntime, WithInvalidTomlIsAnErrorOfPlanVerifyAndDoctor) {
  FakeHost host = with_runtime();
  install(host, "containerd", "containerd", "1.7.24");
  host.file(kSettingsFile, "disable-require = false\ndisable-require = false\n");
  const auto plan = plan_of(host, runtime_spec());
  ASSERT_FALSE(plan.ok());
  EXPECT_THAT(plan.error().where, HasSubstr(kSettingsFile + ":2:"));
  for (const auto& findings : {Runtime().verify(runtime_spec(), host), Runtime().diagnose(runtime_spec(), host)}) {
    if (!findings) {
      EXPECT_THAT(findings.error().where, HasSubstr(kSettingsFile + ":2:"));
      continue;
    }
    ASSERT_FALSE(findings->list().empty());
    EXPECT_EQ(findings->list()[0].status, Finding::Status::fail);
    EXPECT_THAT(findings->list()[0].text, HasSubstr(kSettingsFile + ":2:"));
  }
}

}  // namespace
}  // namespace slipway::toolkit
