// SPDX-License-Identifier: Apache-2.0
// The tools of `slipway mig` on a simulated machine, beside a kubelet and services of slipway that run on this one.
#include <atomic>

#include <gmock/gmock.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <slipway/fd.hpp>

#include "machine.hpp"

namespace slipway {
namespace {

/// Listens at a path, counts connections, and answers with noise.
class Listener {
 public:
  explicit Listener(const std::string& path) : socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    EXPECT_EQ(::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(socket_.get(), 16), 0);
    thread_ = std::thread([this] {
      for (;;) {
        const Fd came(::accept(socket_.get(), nullptr, nullptr));
        if (!came) return;
        ++came_;
      }
    });
  }
  ~Listener() {
    ::shutdown(socket_.get(), SHUT_RDWR);
    thread_.join();
  }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  int came() const { return came_; }

 private:
  Fd socket_;
  std::atomic<int> came_ = 0;
  std::thread thread_;
};

class MigOnAnotherMachine : public MigMachine {
 protected:
  MigOnAnotherMachine() {
    folder_.file("kubelet/device-plugins/kubelet_internal_checkpoint", "nobody can read this");
    folder_.file("kubelet/pod-resources/empty", "");
    folder_.file("run/service/empty", "");
    kubelet_.emplace(folder_.at("kubelet/pod-resources/kubelet.sock"));
    service_.emplace(folder_.at("run/service/gfd.sock"));
  }
  /// Runs the command with both at their usual places of this machine.
  Ran beside(const std::string& command) const {
    folder_.file("beside.sh",
                 "set -e\nmount -t tmpfs tmpfs /var/lib\nmkdir /var/lib/kubelet\nmkdir -p /run/slipway\n"
                 "mount --bind " +
                     folder_.at("kubelet") +
                     " /var/lib/kubelet\n"
                     "mount --bind " +
                     folder_.at("run") + " /run/slipway\n" + command + "\n");
    return run("unshare -m sh " + folder_.at("beside.sh"));
  }

  std::optional<Listener> kubelet_;
  std::optional<Listener> service_;
};

// Before the fix, `slipway mig apply --sim` asked this machine's kubelet for users of the simulated GPUs, and made this
// machine's services release their own.
TEST_F(MigOnAnotherMachine, IgnoresThisMachinesFiles) {
  if (::geteuid() != 0) GTEST_SKIP() << "mounts need root";
  const std::string file = config("devices: all, mig-enabled: true, mig-devices: {3g.40gb: 2}");
  const Ran simulated = beside(SLIPWAY_PROGRAM " mig apply --sim h100x2 -f " + file);
  EXPECT_EQ(simulated.status, 0) << simulated.errors;
  make("h100x2");
  const Ran named = beside(machine_ + SLIPWAY_PROGRAM " mig apply -f " + file);
  EXPECT_EQ(named.status, 0) << named.errors;
  const Ran verbose = beside(machine_ + SLIPWAY_PROGRAM " mig apply -v -f " + file);
  EXPECT_EQ(verbose.status, 0) << verbose.errors;
  EXPECT_THAT(beside(machine_ + SLIPWAY_PROGRAM " mig show").output, ::testing::HasSubstr("3g.40gb"));
  EXPECT_EQ(kubelet_->came(), 0);
  EXPECT_EQ(service_->came(), 0);
}

// In its own root, the simulated machine has its own kubelet.
TEST_F(MigOnAnotherMachine, AsksTheKubeletOfItsOwnRoot) {
  folder_.file("root/var/lib/kubelet/pod-resources/empty", "");
  const Listener own(folder_.at("root/var/lib/kubelet/pod-resources/kubelet.sock"));
  const std::string file = config("devices: all, mig-enabled: true, mig-devices: {3g.40gb: 2}");
  const Ran ran = run(SLIPWAY_PROGRAM " mig apply --sim h100x2 --root " + folder_.at("root") + " -f " + file);
  EXPECT_EQ(ran.status, 1) << ran.output;
  EXPECT_THAT(ran.errors, ::testing::HasSubstr("kubelet does not report which pods have GPUs"));
  EXPECT_GT(own.came(), 0);
}

}  // namespace
}  // namespace slipway
