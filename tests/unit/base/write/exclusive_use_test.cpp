// SPDX-License-Identifier: Apache-2.0
// Locks that a change takes, and services that it quiesces: answers that do not agree, and invalid names.
#include "base/write/exclusive_use.hpp"

#include <filesystem>
#include <fstream>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <slipway/testing/fake_host.hpp>

namespace slipway::base {
namespace {

using slipway::testing::FakeHost;
using ::testing::HasSubstr;

Action change(std::vector<std::string> exclusives, bool quiesces = false) {
  return action::custom({.name = "change",
                         .data = nullptr,
                         .inverse = nullptr,
                         .irreversible = "a test",
                         .exclusives = std::move(exclusives),
                         .quiesces_services = quiesces});
}

/// A control socket that gives one answer to every client; empty: it hangs up.
class FakeService {
 public:
  FakeService(const Host& host, const std::string& name, std::string answer) : answer_(std::move(answer)) {
    const std::string folder = host.root_folder() + "/run/slipway/service";
    std::filesystem::create_directories(folder);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    (folder + "/" + name + ".sock").copy(address.sun_path, sizeof address.sun_path - 1);
    listening_ = Fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): how sockets take addresses
    EXPECT_EQ(::bind(listening_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(listening_.get(), 4), 0);
    thread_ = std::thread([this] { serve(); });
  }
  FakeService(const FakeService&) = delete;
  FakeService& operator=(const FakeService&) = delete;
  ~FakeService() {
    ::shutdown(listening_.get(), SHUT_RDWR);
    if (thread_.joinable()) thread_.join();
  }
  /// True when the client has hung up.
  bool is_released() {
    thread_.join();
    char letter = 0;
    return ::recv(client_.get(), &letter, 1, 0) <= 0;
  }

 private:
  void serve() {
    client_ = Fd(::accept(listening_.get(), nullptr, nullptr));
    if (!client_) return;
    char letter = 0;
    while (letter != '\n' && ::recv(client_.get(), &letter, 1, 0) == 1) {
    }
    if (answer_.empty()) client_ = Fd();
    if (!answer_.empty()) (void)!::send(client_.get(), answer_.data(), answer_.size(), MSG_NOSIGNAL);
  }
  std::string answer_;
  Fd listening_;
  Fd client_;
  std::thread thread_;
};

TEST(ExclusiveUse, HoldsEachLockUntilItsEnd) {
  const FakeHost host;
  ExclusiveUse first;
  ASSERT_EQ(first.take(host, change({"gpu-b", "gpu-a", "gpu-b"}))->kind, Outcome::Kind::done);
  ASSERT_EQ(first.take(host, change({"gpu-b", "gpu-c"}))->kind, Outcome::Kind::done) << "what it has is no obstacle";
  ExclusiveUse second;
  const auto waits = second.take(host, change({"gpu-0", "gpu-c"}));
  ASSERT_EQ(waits->kind, Outcome::Kind::waiting);
  EXPECT_THAT(waits->reason, HasSubstr("another program changes gpu-c"));
  EXPECT_EQ(first.take(host, change({"gpu-0"}))->kind, Outcome::Kind::done) << "one that waits holds nothing";
  first.end();
  EXPECT_EQ(second.take(host, change({"gpu-0", "gpu-a", "gpu-b", "gpu-c"}))->kind, Outcome::Kind::done);
}

TEST(ExclusiveUse, RefusesInvalidNames) {
  const FakeHost host;
  for (const char* name : {"", "../x", "a/b", "GPU-1", "root-1-2", "-a", "a b"}) {
    ExclusiveUse use;
    const auto taken = use.take(host, change({name}));
    ASSERT_FALSE(taken.ok()) << name;
    EXPECT_EQ(taken.error().code, ErrorCode::plugin_defect);
  }
  ExclusiveUse use;
  EXPECT_FALSE(use.take(host, change({std::string(101, 'a')})).ok());
  EXPECT_FALSE(use.take(host, Action(Json{{"kind", "custom"}, {"target", "x"}, {"exclusives", 7}})).ok());
}

TEST(ExclusiveUse, KeepsServicesQuiescedUntilItsEnd) {
  const FakeHost host;
  FakeService one(host, "one", "{\"ok\":true,\"quiet\":true}\n");
  FakeService other(host, "other", "{\"ok\":true,\"quiet\":true}\n");
  ExclusiveUse use;
  ASSERT_EQ(use.take(host, change({}, true))->kind, Outcome::Kind::done);
  use.end();
  EXPECT_TRUE(one.is_released());
  EXPECT_TRUE(other.is_released());
}

TEST(ExclusiveUse, WaitsForAServiceThatKeepsTheDriver) {
  const FakeHost host;
  FakeService agrees(host, "agrees", "{\"ok\":true,\"quiet\":true}\n");
  const FakeService refuses(host, "refuses", "{\"ok\":false,\"error\":{\"what\":\"a call does not return\"}}\n");
  ExclusiveUse use;
  const auto taken = use.take(host, change({"gpu-a"}, true));
  ASSERT_EQ(taken->kind, Outcome::Kind::waiting);
  EXPECT_EQ(taken->reason, "the service of refuses did not release the driver: a call does not return");
  EXPECT_TRUE(agrees.is_released());
  ExclusiveUse other;
  EXPECT_EQ(other.take(host, change({"gpu-a"}))->kind, Outcome::Kind::done);
}

TEST(ExclusiveUse, NeedsNoAnswerFromAServiceThatEnds) {
  const FakeHost host;
  const FakeService ends(host, "ends", "");
  std::filesystem::create_directories(host.root_folder() + "/run/slipway/service");
  std::ofstream(host.root_folder() + "/run/slipway/service/dead.sock") << "no socket";
  ExclusiveUse use;
  EXPECT_EQ(use.take(host, change({}, true))->kind, Outcome::Kind::done);
}

TEST(ExclusiveUse, IgnoresInvalidAnswers) {
  for (const char* noise : {"[]\n", "{}\n", "{\"ok\":1}\n", "\n", "{\"ok\":false,\"error\":7}\n"}) {
    const FakeHost host;
    const FakeService noisy(host, "noisy", noise);
    ExclusiveUse use;
    EXPECT_EQ(use.take(host, change({}, true))->kind, Outcome::Kind::waiting) << noise;
  }
}

}  // namespace
}  // namespace slipway::base
