// SPDX-License-Identifier: Apache-2.0
#include "validator/toolkit_check.hpp"

#include <filesystem>

#include <slipway/unix_socket.hpp>

#include "gpu_machine.hpp"
#include "tests/unit/plugins/toolkit/runtime/engine_socket.hpp"

namespace slipway::validator {
namespace {

using slipway::testing::FakeHost;
using ::testing::HasSubstr;
using testing::shown;

constexpr const char* kSpec = R"({"cdiVersion": "0.5.0", "kind": "nvidia.com/gpu",
  "devices": [{"name": "0", "containerEdits": {"deviceNodes": [{"path": "/dev/nvidia0"}]}}],
  "containerEdits": {"mounts": [{"hostPath": "/usr/lib/libcuda.so.535.261.03", "containerPath": "/x"}],
                     "hooks": [{"hookName": "createContainer", "path": "/usr/bin/nvidia-cdi-hook"}]}})";

class Toolkit : public ::testing::Test {
 protected:
  Toolkit() {
    host.live("6.1.0-50-amd64").device("/dev/nvidia0", 195, 0);
    host.file("/usr/lib/libcuda.so.535.261.03", "").file("/usr/bin/nvidia-cdi-hook", "");
  }
  std::string run() { return shown(check.run()); }
  FakeHost host;
  ToolkitCheck check{host};
};

TEST_F(Toolkit, IsNotExercisedWhereNothingGivesGpusToContainers) {
  host.file(
      "/etc/cdi/other.json",
      R"({"cdiVersion": "0.5.0", "kind": "vendor.com/nic", "devices": [{"name": "a"}]})");  // broken, and not slipway's
  EXPECT_THAT(run(), HasSubstr("not-exercised validator.toolkit:"));
}

TEST_F(Toolkit, PassesForASpecWithoutMissingPaths) {
  host.file("/etc/cdi/nvidia.json", kSpec);
  EXPECT_EQ(run(), "pass validator.toolkit: 1 CDI spec with 1 devices, and all that they name exists");
}

TEST_F(Toolkit, ChecksThatTheEngineAnswers) {
  const std::string socket = "/run/containerd/containerd.sock";
  host.file("/etc/cdi/nvidia.json", kSpec);
  std::filesystem::create_directories(host.root().at("run/containerd"));
  {
    const Fd listening = toolkit::listen_at(host, socket);
    EXPECT_EQ(run(),
              "pass validator.toolkit: 1 CDI spec with 1 devices, and all that they name exists; containerd answers");
  }
  EXPECT_EQ(run(), "fail validator.toolkit: containerd does not answer at " + socket + ", so it starts no container");
  {
    std::filesystem::create_directories(host.root().at("run/crio"));
    const Fd other = toolkit::listen_at(host, "/run/crio/crio.sock");
    EXPECT_THAT(run(), HasSubstr("pass validator.toolkit")) << "the socket is what is left of the former engine";
  }
  host.without("/dev/nvidia0");
  EXPECT_THAT(run(), HasSubstr("is stale")) << "what is wrong with the spec comes first";
}

// Before the fix, almost every error was reported as a stopped engine, even a process with too many open files.
TEST_F(Toolkit, SaysThatAnEngineIsDownOnlyWhereNoProcessListens) {
  host.file("/etc/cdi/nvidia.json", kSpec).link("/run/crio/crio.sock", "crio.sock");
  ASSERT_EQ(connect_to(host, "/run/crio/crio.sock").error().code, ErrorCode::io) << "a link to itself";
  EXPECT_EQ(run(), "pass validator.toolkit: 1 CDI spec with 1 devices, and all that they name exists");
}

// Before the fix, the spec was reported as stale, with the advice to write it again.
TEST_F(Toolkit, NamesAHookProgramThatIsMissingAndTheRemedy) {
  host.file("/etc/cdi/nvidia.json", kSpec).without("/usr/bin/nvidia-cdi-hook");
  EXPECT_THAT(run(), HasSubstr("fail validator.toolkit: /etc/cdi/nvidia.json names the hook program "
                               "/usr/bin/nvidia-cdi-hook, which is missing"));
  EXPECT_THAT(check.run().remedy, HasSubstr("install that program"));
}

TEST_F(Toolkit, ExpectsNoDeviceNodesInARootThatIsNotRunning) {
  FakeHost image;
  image.file("/usr/lib/libcuda.so.535.261.03", "").file("/usr/bin/nvidia-cdi-hook", "");
  image.file("/etc/cdi/nvidia.json", kSpec);
  EXPECT_THAT(shown(ToolkitCheck(image).run()), HasSubstr("pass"));
}

TEST_F(Toolkit, FollowsASpecThatBecomesStaleAndIsMadeAgain) {
  host.file("/run/cdi/nvidia.yaml",
            "cdiVersion: 0.6.0\nkind: nvidia.com/gpu\ndevices:\n- name: \"0\"\n"
            "  containerEdits: {deviceNodes: [{path: /dev/nvidia0}]}\n");
  EXPECT_THAT(run(), HasSubstr("pass"));
  host.without("/dev/nvidia0");
  EXPECT_THAT(run(), HasSubstr("fail validator.toolkit: /run/cdi/nvidia.yaml is stale: it names /dev/nvidia0"));
  host.file("/run/cdi/nvidia.yaml",
            "cdiVersion: 0.6.0\nkind: nvidia.com/gpu\ndevices:\n- name: all\n"
            "  containerEdits: {env: [A=b]}\n");
  EXPECT_THAT(run(), HasSubstr("pass"));
}

TEST_F(Toolkit, ExplainsErrorsOfASpec) {
  const std::string kEdits = R"("containerEdits": {"env": ["A=b"]})";
  const auto with = [&](const std::string& devices) {
    return R"({"cdiVersion": "0.5.0", "kind": "nvidia.com/gpu", "devices": [)" + devices + "]}";
  };
  const std::map<std::string, std::string> wrong{
      {"{", "/etc/cdi/nvidia.json:"},
      {"[]", "/etc/cdi/nvidia.json:"},
      {R"({"kind": "nvidia.com/gpu", "devices": [{"name": "0", )" + kEdits + "}]}", "cdiVersion"},
      {R"({"cdiVersion": "0.5.0", "kind": "nvidia.com/gpu"})", "device"},
      {with("{" + kEdits + "}"), "name"},
      {with(R"({"name": "all"})"), "would change nothing"},  // engines refuse a device without changes
      {with(R"({"name": "0", "edits": {}})"), "'edits'"},
      {with(R"({"name": "0", )" + kEdits + R"(}, {"name": "0", )" + kEdits + "}"), "0"}};
  for (const auto& [text, says] : wrong) {
    host.file("/etc/cdi/nvidia.json", text);
    EXPECT_THAT(run(), ::testing::AllOf(HasSubstr("fail validator.toolkit:"), HasSubstr(says))) << text;
  }
}

TEST_F(Toolkit, AcceptsAnEngineWithNvidiasRuntimeWhenItsProgramExists) {
  host.file("/etc/containerd/conf.d/99-nvidia.toml",
            "[runtimes.nvidia.options]\n  BinaryName = \"/usr/bin/nvidia-container-runtime\"\n");
  EXPECT_THAT(run(), HasSubstr("fail validator.toolkit: /etc/containerd/conf.d/99-nvidia.toml names the runtime"));
  host.file("/usr/bin/nvidia-container-runtime", "");
  EXPECT_THAT(run(), HasSubstr("pass validator.toolkit: /etc/containerd/conf.d/99-nvidia.toml uses the runtime"));
}

// Before the fix, when slipway had just configured containerd for its own runtime, verify reported that no engine was
// configured.
TEST_F(Toolkit, TakesAnEngineWithSlipwaysRuntimeAsWell) {
  host.file("/etc/containerd/config.toml", "[runtimes.nvidia.options]\nBinaryName = \"/usr/bin/slipway-runtime\"\n");
  EXPECT_THAT(run(), HasSubstr("fail validator.toolkit: /etc/containerd/config.toml names the runtime"));
  host.file("/usr/bin/slipway-runtime", "");
  EXPECT_THAT(run(), HasSubstr("pass validator.toolkit: /etc/containerd/config.toml uses the runtime "
                               "/usr/bin/slipway-runtime"));
}

}  // namespace
}  // namespace slipway::validator
