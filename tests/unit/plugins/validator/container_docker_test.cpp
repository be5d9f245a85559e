// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <thread>

#include "container_machine.hpp"

namespace slipway::validator {
namespace {

using ::testing::AllOf;
using testing::Command;
using ::testing::HasSubstr;
using testing::kOpened;
using ::testing::Not;

constexpr const char* kShim = R"("nvidia":{"path":"/usr/bin/slipway-runtime"},)";

class ContainerByDocker : public testing::ContainerMachine {
 protected:
  ContainerByDocker() : ContainerMachine("docker") {
    host.answers(docker({"rm", "--force", kName}), {}).answers(kImageRemoval, {});
  }
  static Command docker(const Command& more) {
    Command all{"/usr/bin/docker", "--host=unix:///run/docker.sock"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  Command start(const Command& gift) const {
    Command words = docker({"run", "--rm", "--name", kName, "--network=none", "--pull=never", "--log-driver=none",
                            "--security-opt", "label=disable"});
    words.insert(words.end(), gift.begin(), gift.end());
    words.insert(words.end(), {kName, "/probe"});
    return words;
  }
  void runs(const std::string& version, const std::string& more) {
    host.file("/usr/bin/dockerd", "x", 0755).file("/usr/bin/docker", "x", 0755).file("/run/docker.pid", "4711");
    host.without("/proc/4711").link("/proc/4711/exe", "/usr/bin/dockerd");
    host.answers(
        docker({"info", "--format", "{{json .}}"}),
        {0, R"({"ServerVersion":")" + version + R"(",)" + more + "}\n", "WARNING: No swap limit support\n", false});
    host.answers({"/usr/bin/tar", "-cf", place.archive(), "-C", kRoot, "."}, {});
    host.answers(docker({"import", place.archive(), kName}), {0, "sha256:12\n", "", false});
  }
  static std::string runtimes(const std::string& more, const std::string& by_default = "runc") {
    return R"("Runtimes":{)" + more + R"("runc":{"path":"runc"}},"DefaultRuntime":")" + by_default + "\"";
  }
  const Command kImageRemoval = docker({"image", "rm", "--force", kName});
  const Command kByRuntime{"--runtime", "nvidia", "--env", "NVIDIA_VISIBLE_DEVICES=all"};
};

TEST_F(ContainerByDocker, GetsTheGpusByCdiWhereDockerKnowsIt) {
  runs("28.2.2", R"("CDISpecDirs":["/etc/cdi","/var/run/cdi"],)" + runtimes(kShim));
  host.answers(start({"--device", "nvidia.com/gpu=all"}), kOpened);
  EXPECT_EQ(run(),
            "pass validator.container: Docker started a container with nvidia.com/gpu=all: it has 2 nodes of the "
            "driver, and can open each");
  EXPECT_EQ(last(2), (std::vector<Command>{kImageRemoval, kRemoval})) << "and nothing is left";
}

TEST_F(ContainerByDocker, GetsTheGpusByTheRegisteredRuntimeElse) {
  runs("20.10.24+dfsg1", runtimes(kShim));
  host.answers(start(kByRuntime), kOpened);
  const std::string passes = "pass validator.container: Docker started a container with the runtime nvidia";
  EXPECT_THAT(run(), HasSubstr(passes));
  runs("26.1.5", R"("CDISpecDirs":[],)" + runtimes(kShim));
  EXPECT_THAT(run(), HasSubstr(passes)) << "CDI is off";
  spec.devices.clear();
  runs("28.2.2", R"("CDISpecDirs":["/etc/cdi"],)" + runtimes(kShim));
  EXPECT_THAT(run(), HasSubstr(passes)) << "there is no spec";
}

TEST_F(ContainerByDocker, SkipsARuntimeThatIgnoresTheVariable) {
  host.file("/etc/nvidia-container-runtime/config.toml",
            "accept-nvidia-visible-devices-envvar-when-unprivileged = false\n");
  runs("20.10.24", runtimes(kShim));
  EXPECT_THAT(run(), HasSubstr("not-exercised validator.container: no container was started: Docker gives GPUs by the "
                               "runtime nvidia, and /etc/nvidia-container-runtime/config.toml does not let"));
  runs("28.2.2", R"("CDISpecDirs":["/etc/cdi"],)" + runtimes(kShim));
  host.answers(start({"--device", "nvidia.com/gpu=all"}), kOpened);
  EXPECT_THAT(run(), HasSubstr("pass validator.container"));
}

TEST_F(ContainerByDocker, PrefersTheDefaultRuntimeAndThenTheFirstName) {
  const std::string two = R"("nvidia-legacy":{"path":"/usr/bin/nvidia-container-runtime.legacy"},)"
                          R"("nvidia":{"path":"nvidia-container-runtime"},)";
  runs("24.0.7", runtimes(two));
  host.answers(start(kByRuntime), kOpened);
  EXPECT_THAT(run(), HasSubstr("pass validator.container"));
  runs("24.0.7", runtimes(two, "nvidia-legacy"));
  host.answers(start({"--runtime", "nvidia-legacy", "--env", "NVIDIA_VISIBLE_DEVICES=all"}), kOpened);
  EXPECT_THAT(run(), HasSubstr("with the runtime nvidia-legacy"));
}

// The containerd that Docker brings along does not show how Docker gives GPUs. It may serve Kubernetes too, so it is
// checked when Docker cannot be, and the finding names the problem with Docker.
TEST_F(ContainerByDocker, IsStartedByDockerBeforeContainerd) {
  runs("20.10.24", runtimes(kShim));
  host.answers(start(kByRuntime), kOpened);
  listen("/run/containerd/containerd.sock");
  program("/usr/bin/ctr", "ctr github.com/containerd/containerd/v2 v2.1.9");
  EXPECT_THAT(run(), HasSubstr("pass validator.container: Docker started"));
  runs("20.10.24", runtimes(""));
  const Place by_containerd{"containerd", kNumber};
  host.answers(
      {"/usr/bin/ctr", "--address", "/run/containerd/containerd.sock", "--namespace", "slipway", "run", "--rm",
       "--cpu-shares", "0", "--device", "nvidia.com/gpu=all", "--rootfs", by_containerd.root(), kName, "/probe"},
      kOpened);
  removes(by_containerd);
  EXPECT_THAT(run(),
              AllOf(HasSubstr("pass validator.container: containerd started"),
                    HasSubstr("; passed over before: Docker 20.10.24 has CDI switched off or does not know it")));
}

// systemd holds Docker's socket: any program that connects to it starts dockerd.
TEST_F(ContainerByDocker, IsNotStartedWhereDockerDoesNotRun) {
  runs("28.2.2", R"("CDISpecDirs":["/etc/cdi"])");
  host.without("/run/docker.pid");
  EXPECT_THAT(run(), HasSubstr("Docker does not run: /run/docker.pid names no dockerd"));
  for (const char* left : {"", "0", "-1", "4711 4712", "99999999999999999999", "x", "4712"}) {
    host.file("/run/docker.pid", left);
    EXPECT_THAT(run(), HasSubstr("Docker does not run")) << left;
  }
  host.file("/run/docker.pid", "4711\n").without("/proc/4711/exe").link("/proc/4711/exe", "/home/user/dockerd");
  EXPECT_THAT(run(), HasSubstr("Docker does not run")) << "another process has the number now";
  EXPECT_TRUE(host.ran().empty());
  host.without("/proc/4711/exe").link("/proc/4711/exe", "/usr/bin/dockerd (deleted)");
  host.answers(start({"--device", "nvidia.com/gpu=all"}), kOpened);
  EXPECT_THAT(run(), HasSubstr("pass validator.container")) << "it was upgraded while it ran";
}

// Before the fix, the message was only "there is no container engine".
TEST_F(ContainerByDocker, OfASnapIsNamedAndNotTried) {
  host.file("/etc/systemd/system/snap.docker.dockerd.service",
            "[Service]\nExecStart=/usr/bin/snap run docker.dockerd\n");
  EXPECT_THAT(run(), AllOf(HasSubstr("not-exercised validator.container"), HasSubstr("Docker is a snap here"),
                           HasSubstr("docker run --rm --runtime nvidia")));
  EXPECT_TRUE(host.ran().empty());
  runs("20.10.24", runtimes(kShim));
  host.answers(start(kByRuntime), kOpened);
  EXPECT_THAT(run(), AllOf(HasSubstr("pass validator.container"), Not(HasSubstr("snap"))));
}

// Debian has dockerd in sbin, which was not searched before the fix.
TEST_F(ContainerByDocker, IsFoundWhereDebianHasIt) {
  runs("20.10.24", runtimes(kShim));
  host.without("/usr/bin/dockerd").file("/usr/sbin/dockerd", "x", 0755);
  host.without("/proc/4711").link("/proc/4711/exe", "/usr/sbin/dockerd");
  host.answers(start(kByRuntime), kOpened);
  EXPECT_THAT(run(), HasSubstr("pass validator.container"));
}

TEST_F(ContainerByDocker, ExplainsWhyDockerIsNotAsked) {
  runs("20.10.24", runtimes(R"("kata":{"path":"/usr/bin/not-nvidia-container-runtime"},"odd":7,)"));
  EXPECT_THAT(run(), HasSubstr("Docker 20.10.24 has CDI switched off or does not know it, and neither"));
  runs("19.03.8", runtimes(kShim));
  EXPECT_THAT(run(), HasSubstr("Docker 19.03.8 is older than 20.10"));
  runs("dev", runtimes(kShim));
  EXPECT_THAT(run(), HasSubstr("`docker info` prints no readable version, but \"dev\""));
  // A client without a server prints this, and exits with status 0.
  host.answers(docker({"info", "--format", "{{json .}}"}),
               {0, R"({"ServerVersion":"","ServerErrors":["Cannot connect to the Docker daemon"]})", "", false});
  EXPECT_THAT(run(), HasSubstr("Docker does not answer"));
  host.answers(docker({"info", "--format", "{{json .}}"}), {0, "[", "", false});
  EXPECT_THAT(run(), HasSubstr("Docker does not answer"));
  host.without("/usr/bin/docker");
  EXPECT_THAT(run(), HasSubstr("its program docker is not installed"));
}

TEST_F(ContainerByDocker, FailsWithDockersMessageWithoutItsHint) {
  runs("26.1.5", R"("CDISpecDirs":["/etc/cdi"])");
  host.answers(
      start({"--device", "nvidia.com/gpu=all"}),
      {125, "", "docker: Error response from daemon: CDI device injection failed.\nSee 'docker run --help'.\n", false});
  EXPECT_THAT(run(),
              HasSubstr("fail validator.container: a container that Docker started with nvidia.com/gpu=all ended "
                        "with 125: docker: Error response from daemon: CDI device injection failed."));
}

TEST_F(ContainerByDocker, LeavesNeitherContainerNorImageWhenItsStartTakesTooLong) {
  runs("26.1.5", R"("CDISpecDirs":["/etc/cdi"])");
  host.fails(start({"--device", "nvidia.com/gpu=all"}), {.code = ErrorCode::timed_out, .what = "it took too long"});
  EXPECT_THAT(run(), HasSubstr("fail validator.container: Docker did not start a container with nvidia.com/gpu=all: it "
                               "took too long"));
  EXPECT_EQ(last(3), (std::vector<Command>{docker({"rm", "--force", kName}), kImageRemoval, kRemoval}));
}

TEST_F(ContainerByDocker, IsNotJudgedWhereItsImageCannotBeMade) {
  runs("26.1.5", R"("CDISpecDirs":["/etc/cdi"])");
  host.answers(docker({"import", place.archive(), kName}), {1, "", "no space left on device\n", false});
  EXPECT_THAT(run(), HasSubstr("not-exercised validator.container: no container was started: `/usr/bin/docker "));
  EXPECT_THAT(run(), HasSubstr("no space left on device"));
  EXPECT_EQ(last(2), (std::vector<Command>{kImageRemoval, kRemoval}));
  for (const Command& words : host.ran()) EXPECT_THAT(words, Not(::testing::Contains("run")));
}

// Before the fix, tar was run by its name alone: the folders of the machine's own programs come first in the search,
// and a group may write there.
TEST_F(ContainerByDocker, IsNotAskedWhereOthersCouldReplaceTar) {
  runs("26.1.5", R"("CDISpecDirs":["/etc/cdi"])");
  std::filesystem::permissions(host.root_folder() + "/usr/bin/tar", std::filesystem::perms::others_write,
                               std::filesystem::perm_options::add);
  EXPECT_THAT(run(), HasSubstr("/usr/bin/tar is not run, since users other than root could replace it"));
  EXPECT_TRUE(host.ran().empty());
  host.without("/usr/bin/tar");
  EXPECT_THAT(run(), HasSubstr("Docker needs tar, which is not installed"));
}

// Before the fix, the limits of single programs added up to more than a verify has: its worker was killed, and all
// findings were lost.
TEST_F(ContainerByDocker, StartsNothingAfterItsTimeAndCleansUp) {
  runs("26.1.5", R"("CDISpecDirs":["/etc/cdi"])");
  terms.asking = std::chrono::milliseconds(200);
  host.does({"/usr/bin/tar", "-cf", place.archive(), "-C", kRoot, "."}, [] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    return ProcessOutput{};
  });
  EXPECT_THAT(run(),
              AllOf(HasSubstr("not-exercised validator.container:"), HasSubstr("there was no time left to run")));
  EXPECT_EQ(times_run(docker({"import", place.archive(), kName})), 0);
  EXPECT_EQ(last(2), (std::vector<Command>{kImageRemoval, kRemoval}));
}

}  // namespace
}  // namespace slipway::validator
