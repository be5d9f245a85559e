// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>

#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <slipway/testing/temp_dir.hpp>

#include "gpu_machine.hpp"
#include "validator/toolkit_check.hpp"

namespace slipway::validator {
namespace {

using slipway::testing::FakeHost;
using ::testing::HasSubstr;
using testing::shown;

const std::string kFolder = "/var/lib/slipway/container-check-" + std::to_string(::getpid());
const std::string kName = "slipway-check-" + std::to_string(::getpid());
const std::vector<std::string> kRemoval{"rm", "-rf", "--one-file-system", kFolder};

class ContainerCheck : public ::testing::Test {
 protected:
  ContainerCheck() {
    host.live("6.1.0-50-amd64").answers(kRemoval, {});
    spec.kind = "nvidia.com/gpu";
    spec.devices = {"0", "all"};
  }
  std::vector<std::string> podman_words(const std::string& device) const {
    return {"/usr/bin/podman",
            "run",
            "--rm",
            "--name",
            kName,
            "--network=none",
            "--security-opt",
            "label=disable",
            "--device",
            "nvidia.com/gpu=" + device,
            "--rootfs",
            kFolder,
            "/probe"};
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
                kFolder, kName, "/probe"},
               {0, "it has 2 nodes of the driver, and can open each\n", "", false});
  spec.devices = {"0"};
  const std::string passes = "pass validator.container: containerd started a container with nvidia.com/gpu=0";
  EXPECT_THAT(shown(run()), HasSubstr(passes));
  // A podman that knows no CDI made verify fail.
  host.file("/usr/bin/podman", "x", 0755);
  host.answers({"/usr/bin/podman", "--version"}, {0, "podman version 3.4.4\n", "", false});
  EXPECT_THAT(shown(run()), HasSubstr(passes));
}

using Words = std::vector<std::string>;

// A container whose start took too long went on running, with all GPUs, and one more came with each verify.
TEST_F(ContainerCheck, RemovesAContainerThatItsEngineLeavesBehind) {
  const Words ctr{"/usr/bin/ctr", "--namespace", "slipway"};
  const auto with = [&](Words more) {
    more.insert(more.begin(), ctr.begin(), ctr.end());
    return more;
  };
  host.file("/usr/bin/ctr", "x", 0755).file("/run/containerd/containerd.sock", "");
  host.answers({"/usr/bin/ctr", "--version"}, {0, "ctr github.com/containerd/containerd/v2 v2.1.9\n", "", false});
  EXPECT_THAT(shown(run()), HasSubstr("fail validator.container: containerd did not start"));
  const std::vector<Words> removals{with({"tasks", "delete", "--force", kName}),
                                    with({"containers", "delete", kName}),
                                    {"/usr/bin/ctr", "namespaces", "remove", "slipway"},
                                    kRemoval};
  ASSERT_GE(host.ran().size(), removals.size());
  EXPECT_TRUE(std::equal(removals.begin(), removals.end(), host.ran().end() - std::ssize(removals)));
  host.file("/usr/bin/podman", "x", 0755);
  host.answers({"/usr/bin/podman", "--version"}, {0, "podman version 4.3.1\n", "", false});
  EXPECT_THAT(shown(run()), HasSubstr("podman did not start"));
  EXPECT_EQ(*(host.ran().end() - 2), (Words{"/usr/bin/podman", "rm", "--force", "--time", "0", kName}));
}

TEST_F(ContainerCheck, NamesTheEnginesWithWhichNoneIsStarted) {
  host.file("/usr/bin/dockerd", "x", 0755).file("/run/crio/crio.sock", "");
  host.file("/var/snap/microk8s/common/run/containerd.sock", "");
  EXPECT_THAT(shown(run()), HasSubstr("none is started with Docker, CRI-O, the containerd of MicroK8s"));
}

class ContainerProbe : public ::testing::Test {
 protected:
  /// What the program says of the folder; its exit status is in `status`.
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
  EXPECT_EQ(output(), "it has no node of NVIDIA's driver in " + dev.string() + "\n");
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
  ASSERT_TRUE(node("nvidia1", 511, 77777));  // which no driver serves
  EXPECT_EQ(output(), "it cannot open " + dev.at("nvidia1").string() + ": No such device or address\n");
  EXPECT_EQ(status, 3);
}

}  // namespace
}  // namespace slipway::validator
