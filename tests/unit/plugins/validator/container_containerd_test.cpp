// SPDX-License-Identifier: Apache-2.0
#include "container_machine.hpp"

namespace slipway::validator {
namespace {

using ::testing::AllOf;
using testing::Command;
using ::testing::HasSubstr;
using testing::kOpened;

constexpr const char* kSocket = "/run/containerd/containerd.sock";

class ContainerByCtr : public testing::ContainerMachine {
 protected:
  ContainerByCtr() : ContainerMachine("containerd") {}
  Command words(const Command& client, const std::string& socket, const Command& more) const {
    Command all = client;
    all.insert(all.end(), {"--address", socket, "--namespace", "slipway"});
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  void starts(const Command& client, const std::string& socket, const std::string& device = "all",
              const std::string& engine = "containerd") {
    removes({engine, kNumber});
    host.answers(words(client, socket,
                       {"run", "--rm", "--cpu-shares", "0", "--device", "nvidia.com/gpu=" + device, "--rootfs",
                        Place{engine, kNumber}.root(), kName, "/probe"}),
                 kOpened);
  }
};

TEST_F(ContainerByCtr, GetsTheGpusByCdiWhereCtrKnowsIt) {
  listen(kSocket);
  program("/usr/bin/ctr", "ctr github.com/containerd/containerd/v2 v2.1.9");
  starts({"/usr/bin/ctr"}, kSocket, "0");
  spec.devices = {"0"};
  const std::string passes = "pass validator.container: containerd started a container with nvidia.com/gpu=0";
  EXPECT_THAT(run(), HasSubstr(passes));
  // Before the fix, a podman without CDI support made verify fail.
  program("/usr/bin/podman", "podman version 3.4.4");
  EXPECT_THAT(run(), AllOf(HasSubstr(passes),
                           HasSubstr("can open each; passed over before: podman 3.4.4 does not support CDI")));
}

TEST_F(ContainerByCtr, IsNotAskedWhereItsVersionIsNotKnown) {
  listen(kSocket);
  program("/usr/bin/ctr", "ctr github.com/containerd/containerd unknown");
  EXPECT_THAT(run(), HasSubstr("no container was started: `/usr/bin/ctr --version` says no version"));
}

// The ctr of containerd 1.7 takes a CDI device for a path, although containerd's CRI supports CDI. Before the fix,
// verify failed.
TEST_F(ContainerByCtr, GetsTheGpusBySlipwayRuntimeElse) {
  listen(kSocket);
  program("/usr/bin/ctr", "ctr github.com/containerd/containerd 1.7.24~ds1");
  EXPECT_THAT(run(),
              HasSubstr("not-exercised validator.container: no container was started: containerd's ctr "
                        "1.7.24~ds1 does not support CDI, as 2.0 and newer do, and slipway-runtime is not installed"));
  host.file("/usr/bin/slipway-runtime", "x", 0755);
  host.answers(words({"/usr/bin/ctr"}, kSocket,
                     {"run", "--rm", "--cpu-shares", "0", "--runc-binary", "/usr/bin/slipway-runtime", "--env",
                      "NVIDIA_VISIBLE_DEVICES=all", "--rootfs", kRoot, kName, "/probe"}),
               kOpened);
  const std::string passes = "pass validator.container: containerd started a container with slipway-runtime";
  EXPECT_THAT(run(), HasSubstr(passes));
  host.file("/etc/nvidia-container-runtime/config.toml",
            "#accept-nvidia-visible-devices-envvar-when-unprivileged = false\n"
            "accept-nvidia-visible-devices-envvar-when-unprivileged = true\n");
  spec.devices.clear();
  EXPECT_THAT(run(), HasSubstr(passes)) << "slipway-runtime makes a spec itself";
  host.file("/etc/nvidia-container-runtime/config.toml",
            "  accept-nvidia-visible-devices-envvar-when-unprivileged=false # as the guide says\n");
  const std::string refused = "config.toml does not let unprivileged containers ask for GPUs by NVIDIA_VISIBLE_DEVICES";
  EXPECT_THAT(run(), HasSubstr(refused));
  host.file("/etc/nvidia-container-runtime/config.toml",
            "\"accept-nvidia-visible-devices-envvar-when-unprivileged\" = false # was = true\n");
  EXPECT_THAT(run(), HasSubstr(refused)) << "the second = is of the comment";
  program("/usr/bin/ctr", "ctr github.com/containerd/containerd 1.4.13");
  EXPECT_THAT(run(), HasSubstr("containerd's ctr 1.4.13 is older than 1.6"));
}

// containerd's socket remains when containerd is stopped or removed. Before the fix, each verify then failed, although
// there was another engine.
TEST_F(ContainerByCtr, SkipsAnUnresponsiveContainerd) {
  program("/usr/bin/ctr", "ctr github.com/containerd/containerd/v2 v2.1.9");
  host.file(kSocket, "");
  EXPECT_THAT(run(), HasSubstr("not-exercised validator.container: no container was started: containerd does not"));
}

// Before the fix, a container whose start took too long went on running, with all GPUs, and each verify added one more.
TEST_F(ContainerByCtr, RemovesAContainerThatContainerdLeavesBehind) {
  const auto with = [&](const Command& more) { return words({"/usr/bin/ctr"}, kSocket, more); };
  listen(kSocket);
  program("/usr/bin/ctr", "ctr github.com/containerd/containerd/v2 v2.1.9");
  // The text of ctr for a missing container.
  host.answers(with({"tasks", "delete", "--force", kName}), {1, "", "ctr: task " + kName + ": not found\n", false});
  host.answers(with({"containers", "delete", kName}),
               {1, "", "ctr: container \"" + kName + "\" in namespace \"slipway\": not found\n", false});
  EXPECT_THAT(run(), HasSubstr("fail validator.container: containerd did not start"));
  EXPECT_EQ(last(4),
            (std::vector<Command>{with({"tasks", "delete", "--force", kName}), with({"containers", "delete", kName}),
                                  with({"namespaces", "remove", "slipway"}), kRemoval}));
}

TEST_F(ContainerByCtr, KnowsThoseOfTheDistributions) {
  struct Distribution {
    const char* name;
    const char* engine;
    const char* socket;
    Command client;
  };
  const std::vector<Distribution> all{
      {"K3s or RKE2", "k3s", "/run/k3s/containerd/containerd.sock", {"/var/lib/rancher/k3s/data/current/bin/ctr"}},
      {"K3s or RKE2", "k3s", "/run/k3s/containerd/containerd.sock", {"/var/lib/rancher/rke2/bin/ctr"}},
      {"k0s", "k0s", "/run/k0s/containerd.sock", {"/usr/local/bin/k0s", "ctr"}},
      {"MicroK8s", "microk8s", "/var/snap/microk8s/common/run/containerd.sock", {"/snap/microk8s/current/bin/ctr"}},
  };
  std::string former;
  for (const Distribution& each : all) {
    if (former != each.socket) listen(each.socket);
    former = each.socket;
    EXPECT_THAT(run(), HasSubstr(std::string("the program ctr of the containerd of ") + each.name))
        << each.client.front();
    program(each.client.front(), "ctr github.com/k3s-io/containerd v2.1.4-k3s1",
            {each.client.begin() + 1, each.client.end()});
    starts(each.client, each.socket, "all", each.engine);
    EXPECT_THAT(run(), HasSubstr(std::string("pass validator.container: the containerd of ") + each.name))
        << each.client.front();
    host.without(each.client.front());
  }
}

}  // namespace
}  // namespace slipway::validator
