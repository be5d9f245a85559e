// SPDX-License-Identifier: Apache-2.0
// The lock that keeps two slipway device plugins from serving the same kubelet.
#include "deviceplugin/service/endpoint/plugin_lock.hpp"

#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <slipway/testing/temp_dir.hpp>

namespace slipway::deviceplugin {
namespace {

class PluginLocks : public ::testing::Test {
 protected:
  PluginLocks() { std::filesystem::create_directory(folder()); }
  std::string folder() const { return dir_.at("device-plugins").string(); }

  const slipway::testing::TempDir dir_;
};

TEST_F(PluginLocks, AreHeldByOneProcess) {
  PluginLock first(folder());
  PluginLock second(folder());
  EXPECT_TRUE(first.hold());
  EXPECT_TRUE(first.hold()) << "it still has it";
  EXPECT_FALSE(second.hold());
  EXPECT_EQ(second.fd(), -1);
  first.release();
  EXPECT_TRUE(second.hold());
  EXPECT_FALSE(first.hold());
}

TEST_F(PluginLocks, SurviveAStartOfKubelet) {
  PluginLock first(folder());
  PluginLock second(folder());
  ASSERT_TRUE(first.hold());
  std::ofstream(folder() + "/nvidia-gpu.sock") << "";
  for (const auto& entry : std::filesystem::directory_iterator(folder())) std::filesystem::remove_all(entry.path());
  EXPECT_FALSE(second.hold());
  EXPECT_TRUE(std::filesystem::is_empty(folder())) << "the lock leaves no file in kubelet's folder";
}

TEST_F(PluginLocks, BelongToThePresentFolder) {
  PluginLock first(folder());
  PluginLock second(folder());
  ASSERT_TRUE(first.hold());
  std::filesystem::rename(folder(), dir_.at("former"));
  EXPECT_TRUE(second.hold()) << "without a folder there is nothing to serve";
  std::filesystem::create_directory(folder());
  EXPECT_TRUE(second.hold());
  EXPECT_FALSE(first.hold());
}

TEST_F(PluginLocks, ArePassedOnWithTheirDescriptor) {
  PluginLock former(folder());
  PluginLock next(folder());
  PluginLock stranger(folder());
  ASSERT_TRUE(former.hold());
  ASSERT_FALSE(next.hold());
  next.adopt(Fd(::fcntl(former.fd(), F_DUPFD_CLOEXEC, 0)));
  EXPECT_TRUE(next.hold());
  EXPECT_TRUE(former.hold()) << "both have it during the handover";
  former.release();
  EXPECT_TRUE(next.hold());
  EXPECT_FALSE(stranger.hold());
}

TEST_F(PluginLocks, NameTheProcessThatServesASocket) {
  const std::string path = folder() + "/nvidia-gpu.sock";
  EXPECT_FALSE(listener_at(path));
  const Fd server(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  ASSERT_LT(path.size(), sizeof address.sun_path);
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(server.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  EXPECT_FALSE(listener_at(path)) << "nobody listens yet";
  ASSERT_EQ(::listen(server.get(), 1), 0);
  EXPECT_EQ(listener_at(path), ::getpid());
  EXPECT_EQ(listener_text(4711), "the process 4711");
  EXPECT_EQ(listener_text(0), "a process in another container");
}

}  // namespace
}  // namespace slipway::deviceplugin
