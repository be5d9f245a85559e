// SPDX-License-Identifier: Apache-2.0
#include "mig/diagnose/other_manager.hpp"

#include <gmock/gmock.h>

#include "tests/unit/plugins/nvidia/process/pod_process.hpp"

namespace slipway::mig {
namespace {

using slipway::testing::FakeHost;
using slipway::testing::kContainer;
using slipway::testing::kPodGroup;
using slipway::testing::kPodUid;
using slipway::testing::run_process;
using ::testing::AllOf;
using ::testing::HasSubstr;

std::vector<Finding> other_manager(const FakeHost& host, const std::string& file = {}) {
  Findings findings;
  diagnose_other_manager(host, file, findings);
  return findings.list();
}

/// A process like the GPU operator's pod, or a variant that differs in properties that a tenant can or cannot choose.
struct Like {
  std::string name = "nvidia-mig-mana";
  std::string program = "/usr/bin/nvidia-mig-manager";
  std::string user = "0";
  std::string capabilities = "000001ffffffffff";
  std::string group = kPodGroup;
};

void run(FakeHost& host, const Like& like) { run_process(host, like); }

TEST(MigOtherManagerFound, IsAUnitOrItsLeftovers) {
  FakeHost host;
  EXPECT_TRUE(other_manager(host).empty());
  const std::string config = "/etc/nvidia-mig-manager/config.yaml";
  host.file(config, "version: v1\n");
  EXPECT_TRUE(other_manager(host, config).empty()) << "the spec names a config in that folder";
  const auto installed = other_manager(host);
  ASSERT_EQ(installed.size(), 1U);
  EXPECT_EQ(installed[0].name, "mig.other-manager");
  EXPECT_EQ(installed[0].status, Finding::Status::warning);
  host.link("/etc/systemd/system/multi-user.target.wants/nvidia-mig-manager.service",
            "/usr/lib/systemd/system/nvidia-mig-manager.service");
  const auto enabled = other_manager(host, config);
  ASSERT_EQ(enabled.size(), 1U);
  EXPECT_EQ(enabled[0].status, Finding::Status::fail);
  EXPECT_THAT(enabled[0].remedy, HasSubstr("`systemctl disable nvidia-mig-manager.service`"));
}

// Before the fix, the GPU operator's manager was only described in the documentation, and both programs changed the
// layouts of the GPUs.
TEST(MigOtherManagerFound, IsAPodThatIsNamed) {
  FakeHost host;
  run(host, {});
  host.directory(std::string("/var/log/pods/gpu-operator_nvidia-mig-manager-x7k2p_") + kPodUid);
  host.file("/var/log/containers/nvidia-mig-manager-x7k2p_gpu-operator_nvidia-mig-manager-" + kContainer + ".log", "");
  const auto found = other_manager(host);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].status, Finding::Status::fail);
  EXPECT_THAT(found[0].text, HasSubstr("NVIDIA's MIG manager (pid 4711, pod gpu-operator/nvidia-mig-manager-x7k2p, "
                                       "container nvidia-mig-manager)"));
  EXPECT_THAT(found[0].remedy, AllOf(HasSubstr("nvidia.com/gpu.deploy.mig-manager=false"),
                                     HasSubstr("migManager.enabled: false"), HasSubstr("other_manager: yield")));
  const Error refused = other_manager_error(*running_manager(host), "report");
  EXPECT_EQ(refused.code, ErrorCode::conflict);
  EXPECT_EQ(refused.where, "spec.components.mig.other_manager = report");
  EXPECT_THAT(refused.what, HasSubstr("pod gpu-operator/nvidia-mig-manager-x7k2p, container nvidia-mig-manager"));
}

TEST(MigOtherManagerFound, MayBeAContainerOrAProgramWithoutAUnit) {
  const std::pair<Like, const char*> cases[] = {
      {{.group = "/system.slice/docker-" + kContainer + ".scope"}, "stop that container"},
      {{.program = "", .group = "/"}, "end it (`kill 4711`)"},
      {{.group = "/system.slice/own-manager.service"}, "stop and disable own-manager.service"}};
  for (const auto& [like, remedy] : cases) {
    FakeHost host;
    run(host, like);
    ASSERT_EQ(other_manager(host).size(), 1U) << remedy;
    EXPECT_THAT(other_manager(host)[0].remedy, HasSubstr(remedy));
  }
}

// Before the fix, the unit, the program and the folder of one manager were reported as three findings.
TEST(MigOtherManagerFound, IsNamedOnceForAllItsTraces) {
  FakeHost host;
  run(host, {.group = "/"});
  host.file("/etc/nvidia-mig-manager/config.yaml", "version: v1\n");
  const auto running = other_manager(host);
  ASSERT_EQ(running.size(), 1U);
  EXPECT_THAT(running[0].text, HasSubstr("pid 4711"));
  host.link("/etc/systemd/system/multi-user.target.wants/nvidia-mig-manager.service",
            "/usr/lib/systemd/system/nvidia-mig-manager.service");
  const auto both = other_manager(host);
  ASSERT_EQ(both.size(), 1U);
  EXPECT_THAT(both[0].text, AllOf(HasSubstr("pid 4711"), HasSubstr("nvidia-mig-manager.service is enabled as well")));
  EXPECT_THAT(both[0].remedy, AllOf(HasSubstr("end it (`kill 4711`)"), HasSubstr("other_manager: yield"),
                                    HasSubstr("`systemctl disable nvidia-mig-manager.service`")));
}

// Otherwise a tenant whose process has that name would keep slipway from the GPUs.
TEST(MigOtherManagerFound, IsNotAProcessThatCannotChangeAGpu) {
  const Like others[] = {{.name = "nvidia-mig-man"},
                         {.program = "/usr/bin/python3"},
                         {.user = "4242"},
                         {.user = "x"},
                         {.capabilities = "00000000a80425fb"},  // the capabilities of a container that is not
                                                                // privileged
                         {.capabilities = ""},
                         {.group = "/system.slice/nvidia-mig-manager.service"}};
  for (const Like& like : others) {
    FakeHost host;
    run(host, like);
    EXPECT_FALSE(running_manager(host)) << like.name << like.program << like.user << like.capabilities << like.group;
  }
  FakeHost host;
  run(host, {.program = "/usr/bin/nvidia-mig-manager (deleted)"});
  EXPECT_TRUE(running_manager(host));
}

}  // namespace
}  // namespace slipway::mig
