// SPDX-License-Identifier: Apache-2.0
#include <sys/wait.h>
#include <unistd.h>

#include "gpu_machine.hpp"
#include "validator/toolkit_check.hpp"

namespace slipway::validator {
namespace {

using slipway::testing::FakeHost;
using ::testing::HasSubstr;
using testing::shown;

const std::string kFolder = "/var/lib/slipway/container-check-" + std::to_string(::getpid());
const std::vector<std::string> kRemoval{"rm", "-rf", "--one-file-system", kFolder};

class ContainerCheck : public ::testing::Test {
 protected:
  ContainerCheck() {
    host.live("6.1.0-50-amd64").answers(kRemoval, {});
    spec.kind = "nvidia.com/gpu";
    spec.devices = {"0", "all"};
  }
  std::vector<std::string> podman_words(const std::string& device) const {
    return {"/usr/bin/podman", "run",           "--rm",     "--network=none",
            "--security-opt",  "label=disable", "--device", "nvidia.com/gpu=" + device,
            "--rootfs",        kFolder,         "/probe"};
  }
  void podman(const ProcessOutput& output) {
    host.file("/usr/bin/podman", "x", 0755).answers(podman_words("all"), output);
    host.answers({"/usr/bin/podman", "--version"}, {0, "podman version 4.3.1\n", "", false});
  }
  Finding run() const { return check_container(host, {spec}, CONTAINER_PROBE); }

  FakeHost host;
  CdiSpec spec;
};

TEST_F(ContainerCheck, IsSkippedAndSaysSoWhereNothingCanBeStarted) {
  EXPECT_THAT(shown(run()), HasSubstr("not-exercised validator.container: no container was started: neither podman"));
  spec.devices.clear();
  EXPECT_THAT(shown(run()), HasSubstr("no CDI spec has a GPU"));
  EXPECT_THAT(shown(check_container(FakeHost(), {spec}, CONTAINER_PROBE)), HasSubstr("not-exercised"));
  EXPECT_TRUE(host.ran().empty());
}

TEST_F(ContainerCheck, PassesWhenThePodmanContainerOpensItsNodes) {
  podman({0, "it has 3 nodes of the driver, and can open each\n", "", false});
  EXPECT_EQ(shown(run()),
            "pass validator.container: podman started a container with nvidia.com/gpu=all: it has 3 nodes of "
            "the driver, and can open each");
  EXPECT_EQ(host.ran().back(), kRemoval) << "and nothing is left";
}

TEST_F(ContainerCheck, FailsWithWhatTheContainerOrTheEngineSays) {
  podman({3, "it cannot open /dev/nvidia0: Operation not permitted\n", "", false});
  EXPECT_THAT(shown(run()), HasSubstr("ended with 3: it cannot open /dev/nvidia0: Operation not permitted"));
  podman({126, "", "Error: unresolvable CDI devices \x1b[2J nvidia.com/gpu=all\n\n", false});
  EXPECT_THAT(shown(run()), HasSubstr("Error: unresolvable CDI devices ?[2J nvidia.com/gpu=all"));
}

TEST_F(ContainerCheck, AsksAContainerdThatKnowsCdi) {
  host.file("/usr/bin/ctr", "x", 0755).file("/run/containerd/containerd.sock", "");
  host.answers({"/usr/bin/ctr", "--version"}, {0, "ctr github.com/containerd/containerd 1.6.20~ds1\n", "", false});
  EXPECT_THAT(shown(run()), HasSubstr("not-exercised"));
  host.answers({"/usr/bin/ctr", "--version"}, {0, "ctr github.com/containerd/containerd/v2 v2.1.9\n", "", false});
  host.answers({"/usr/bin/ctr", "--namespace", "slipway", "run", "--rm", "--device", "nvidia.com/gpu=0", "--rootfs",
                kFolder, "slipway-check-" + std::to_string(::getpid()), "/probe"},
               {0, "it has 2 nodes of the driver, and can open each\n", "", false});
  spec.devices = {"0"};
  const std::string passes = "pass validator.container: containerd started a container with nvidia.com/gpu=0";
  EXPECT_THAT(shown(run()), HasSubstr(passes));
  // A podman that knows no CDI made verify fail.
  host.file("/usr/bin/podman", "x", 0755);
  host.answers({"/usr/bin/podman", "--version"}, {0, "podman version 3.4.4\n", "", false});
  EXPECT_THAT(shown(run()), HasSubstr(passes));
}

TEST(ContainerProbe, SaysThatThereIsNoNode) {
  FILE* program = ::popen(CONTAINER_PROBE, "r");
  ASSERT_NE(program, nullptr);
  char line[256] = "";
  EXPECT_NE(::fgets(line, sizeof line, program), nullptr);
  const int status = ::pclose(program);
  // A machine with a GPU may run this too.
  EXPECT_TRUE(WEXITSTATUS(status) == 4 || std::string(line).find("nvidia") != std::string::npos ||
              WEXITSTATUS(status) == 0)
      << line;
}

}  // namespace
}  // namespace slipway::validator
