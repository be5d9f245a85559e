// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

#include <slipway/testing/temp_dir.hpp>

#include "container_machine.hpp"
#include "validator/container/engine.hpp"

namespace slipway::validator {
namespace {

using testing::Command;
using ::testing::HasSubstr;
using testing::shown;

class ContainerCheck : public testing::ContainerMachine {
 protected:
  ContainerCheck() : ContainerMachine("podman") { host.answers(kPodmanRemoval, {}); }
  void podman(const ProcessOutput& output) {
    program("/usr/bin/podman", "podman version 4.3.1");
    host.answers({"/usr/bin/podman", "run", "--rm", "--name", kName, "--network=none", "--security-opt",
                  "label=disable", "--device", "nvidia.com/gpu=all", "--rootfs", kRoot, "/probe"},
                 output);
  }
  const Command kPodmanRemoval{"/usr/bin/podman", "rm", "--force", "--time", "0", kName};
};

TEST_F(ContainerCheck, IsSkippedAndSaysSoWhereNothingCanBeStarted) {
  EXPECT_EQ(
      run(),
      "not-exercised validator.container: no container was started: podman, Docker and containerd are not installed");
  spec.devices.clear();
  EXPECT_THAT(run(), HasSubstr("no CDI spec has a GPU"));
  EXPECT_THAT(shown(check_container(slipway::testing::FakeHost(), {spec}, CONTAINER_PROBE)),
              HasSubstr("not-exercised"));
  EXPECT_TRUE(host.ran().empty());
}

TEST_F(ContainerCheck, PassesWhenThePodmanContainerOpensItsNodes) {
  podman({0, "it has 3 nodes of the driver, and can open each\n", "", false});
  EXPECT_EQ(run(),
            "pass validator.container: podman started a container with nvidia.com/gpu=all: it has 3 nodes of "
            "the driver, and can open each");
  EXPECT_EQ(host.ran().back(), kRemoval) << "and nothing is left";
}

TEST_F(ContainerCheck, FailsWithTheMessageOfContainerOrEngine) {
  podman({3, "it cannot open /dev/nvidia0: Operation not permitted\n", "", false});
  EXPECT_THAT(run(), HasSubstr("ended with 3: it cannot open /dev/nvidia0: Operation not permitted"));
  podman({126, "", "Error: unresolvable CDI devices \x1b[2J nvidia.com/gpu=all\n\n", false});
  EXPECT_THAT(run(), HasSubstr("Error: unresolvable CDI devices ?[2J nvidia.com/gpu=all"));
}

// Before the fix, it was truncated in the middle of a word: "asked for by: NVIDIA_VISIBL".
TEST_F(ContainerCheck, EndsALongMessageBehindAWord) {
  std::string words = "it failed:";
  while (words.size() < 295) words += " word";
  podman({126, "", words + " NVIDIA_VISIBLE_DEVICES=all\n", false});
  EXPECT_THAT(run(), ::testing::AllOf(HasSubstr("word ..."), ::testing::Not(HasSubstr("NVIDIA_VISIBL"))));
  podman({126, "", std::string(400, 'x') + "\n", false});
  EXPECT_THAT(run(), HasSubstr(std::string(300, 'x') + " ..."));
}

TEST_F(ContainerCheck, RemovesAContainerThatPodmanLeavesBehind) {
  program("/usr/bin/podman", "podman version 4.3.1");
  EXPECT_THAT(run(), HasSubstr("podman did not start"));
  EXPECT_EQ(last(2), (std::vector<Command>{kPodmanRemoval, kRemoval}));
}

// The checks run as root, so a program that another user can replace must not be run.
TEST_F(ContainerCheck, RunsNoProgramThatOthersCouldReplace) {
  podman({0, "it has 3 nodes of the driver, and can open each\n", "", false});
  std::filesystem::permissions(host.root_folder() + "/usr/bin", std::filesystem::perms::others_write,
                               std::filesystem::perm_options::add);
  EXPECT_THAT(run(), HasSubstr("/usr/bin/podman is not run, since users other than root could replace it"));
  EXPECT_TRUE(host.ran().empty());
}

TEST_F(ContainerCheck, ExplainsWhyNoInstalledEngineIsUsed) {
  host.file("/usr/sbin/dockerd", "x", 0755).file("/run/crio/crio.sock", "");
  host.file("/var/snap/microk8s/common/run/containerd.sock", "");
  program("/usr/bin/podman", "podman version 3.4.4");
  EXPECT_EQ(
      run(),
      "not-exercised validator.container: no container was started: podman 3.4.4 does not support CDI, as 4.1 and "
      "newer do; Docker does not run: /run/docker.pid names no dockerd; the containerd of MicroK8s does not answer at "
      "/var/snap/microk8s/common/run/containerd.sock; CRI-O starts nothing without an image in its storage");
}

// Before the fix, a program that hung or failed was reported as too old: "podman  does not support CDI, as 4.1 and
// newer do".
TEST_F(ContainerCheck, ReportsAProgramWithoutAVersion) {
  program("/usr/bin/podman", "podman version next");
  EXPECT_THAT(run(), HasSubstr("no container was started: `/usr/bin/podman --version` says no version"));
  host.answers({"/usr/bin/podman", "--version"}, {125, "podman version 4.3.1", "", false});
  EXPECT_THAT(run(), HasSubstr("`/usr/bin/podman --version` says no version"));
  host.fails({"/usr/bin/podman", "--version"}, {.code = ErrorCode::timed_out, .what = "it took too long"});
  EXPECT_THAT(run(), HasSubstr("`/usr/bin/podman --version` says no version"));
}

TEST(EngineVersions, AreTheNumbersOfTheLastWord) {
  const auto is = [](unsigned major, unsigned minor) { return EngineVersion{major, minor}; };
  EXPECT_EQ(parse_engine_version("ctr github.com/containerd/containerd 1.7.24~ds1"), is(1, 7));
  EXPECT_EQ(parse_engine_version("ctr github.com/k3s-io/containerd v2.1.4-k3s1\n"), is(2, 1));
  EXPECT_EQ(parse_engine_version("20.10.24+dfsg1"), is(20, 10));
  for (const char* text : {"", "unknown", "v", "-1.-2", "a.b"}) EXPECT_EQ(parse_engine_version(text), is(0, 0)) << text;
}

class ContainerProbe : public ::testing::Test {
 protected:
  /// Returns the program's output about the folder; its exit status is in `status`.
  std::string output() {
    FILE* program = ::popen((CONTAINER_PROBE " '" + dev.string() + "'").c_str(), "r");
    char line[256] = "";
    EXPECT_NE(::fgets(line, sizeof line, program), nullptr);
    status = WEXITSTATUS(::pclose(program));
    return line;
  }
  bool node(const std::string& name, unsigned major, unsigned minor) const {
    return ::mknod(dev.at(name).c_str(), S_IFCHR | 0600, makedev(major, minor)) == 0;
  }
  slipway::testing::TempDir dev;
  int status = -1;
};

TEST_F(ContainerProbe, SaysThatThereIsNoNode) {
  dev.file("nvidia0", "a file, and no node");
  EXPECT_EQ(output(), "there is no device node of NVIDIA's driver in " + dev.string() + "\n");
  EXPECT_EQ(status, 4);
  std::filesystem::remove_all(dev.string());
  EXPECT_EQ(output(), "there is no " + dev.string() + ": No such file or directory\n");
  EXPECT_EQ(status, 4);
}

TEST_F(ContainerProbe, OpensEachNodeAndNamesTheOneThatRefuses) {
  if (!node("nvidia0", 1, 3) || !node("nvidiactl", 1, 5)) GTEST_SKIP() << "no device nodes here";
  ASSERT_TRUE(node("other", 1, 3));
  EXPECT_EQ(output(), "it has 2 nodes of the driver, and can open each\n");
  EXPECT_EQ(status, 0);
  ASSERT_TRUE(node("nvidia1", 511, 77777));  // without a driver behind it
  EXPECT_EQ(output(), "it cannot open " + dev.at("nvidia1").string() + ": No such device or address\n");
  EXPECT_EQ(status, 3);
}

}  // namespace
}  // namespace slipway::validator
