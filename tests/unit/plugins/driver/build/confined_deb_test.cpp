// SPDX-License-Identifier: Apache-2.0
// The attacks that are possible for a .deb that takes over the code which reads it. That code still reads every valid
// .deb.
#include "driver/build/confined_deb.hpp"

#include <csignal>
#include <filesystem>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/ipc.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/unit/plugins/driver/test_deb.hpp"
#include "tests/unit/plugins/driver/test_host.hpp"

namespace slipway::driver {
namespace {

using slipway::testing::TempDir;
using testing::content_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::TestDeb;

bool can_write(const std::string& path) { return ::open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600) >= 0; }

/// True when this process can take memory that is charged to no process and remains after the process ends.
bool can_take_uncounted_memory() {
  const int memory = ::shmget(IPC_PRIVATE, 4096, 0600);
  return memory >= 0 && ::shmctl(memory, IPC_RMID, nullptr) == 0;
}

bool has_useful_landlock() {
  constexpr int kCreateRuleset = 444;  // landlock_create_ruleset(2), which returns the version here
  return ::syscall(kCreateRuleset, nullptr, 0, 1U) >= 2;
}

TEST(ConfinedDeb, HasNoNetworkNoProgramsNoUncountedMemoryAndNoOtherProcesses) {
  if (::prctl(PR_GET_SECCOMP, 0, 0, 0, 0) < 0) GTEST_SKIP() << "the kernel takes no filter of system calls";
  const auto tried = in_confined_process({}, []() -> Result<Json> {
    Json succeeded = Json::array();
    if (::socket(AF_INET, SOCK_STREAM, 0) >= 0) succeeded.push_back("socket");
    if (::kill(::getppid(), 0) == 0) succeeded.push_back("kill");
    if (can_take_uncounted_memory()) succeeded.push_back("memory");
    ::execl("/bin/true", "true", nullptr);
    if (errno != EPERM) succeeded.push_back("program");
    return succeeded;
  });
  ASSERT_TRUE(tried) << to_text(tried.error());
  EXPECT_EQ(*tried, Json::array());
  EXPECT_TRUE(can_take_uncounted_memory()) << "where it is not confined";
}

TEST(ConfinedDeb, WritesIntoItsFolderAlone) {
  if (!has_useful_landlock()) GTEST_SKIP() << "the kernel has no Landlock to speak of";
  const TempDir folder;
  const auto tried = in_confined_process((folder.path() / "into").string(), [&]() -> Result<Json> {
    return Json{can_write((folder.path() / "into/own").string()), can_write((folder.path() / "beside").string())};
  });
  ASSERT_TRUE(tried) << to_text(tried.error());
  EXPECT_EQ(*tried, (Json{true, false}));
}

TEST(ConfinedDeb, ThatCrashesIsOnlyAnError) {
  const auto tried = in_confined_process({}, []() -> Result<Json> {
    std::signal(SIGSEGV, SIG_DFL);
    ::raise(SIGSEGV);
    return Json();
  });
  ASSERT_FALSE(tried);
  EXPECT_EQ(tried.error().code, ErrorCode::corrupt);
  EXPECT_THAT(tried.error().what, HasSubstr("signal 11"));
}

TEST(ConfinedDeb, IsReadAndUnpackedAsUnconfined) {
  const TempDir folder;
  const std::string file =
      TestDeb{.package = "a",
              .version = "1:535.261.03-1",
              .depends = "b (= 1) | c",
              .entries = {{.path = "./usr/lib/x", .content = "content"}, {.path = "./usr/share/y", .content = "left"}}}
          .write(folder.string());
  const auto open = read_deb_info(file);
  const auto info = read_deb_info_confined(file);
  ASSERT_TRUE(open && info) << to_text(info.error());
  EXPECT_EQ(info->file, file);
  EXPECT_EQ(info->package, open->package);
  EXPECT_EQ(info->version, open->version);
  EXPECT_EQ(info->architecture, open->architecture);
  EXPECT_EQ(info->depends, open->depends);
  EXPECT_EQ(info->exactly, open->exactly);
  EXPECT_EQ(info->installed_bytes, open->installed_bytes);

  std::vector<std::string> left_out;
  const auto paths = [](const std::string& path) { return path.starts_with("usr/lib") ? path : std::string(); };
  const Status done = unpack_deb_confined(file, (folder.path() / "into/deep").string(), paths, &left_out);
  ASSERT_TRUE(done) << to_text(done.error());
  EXPECT_EQ(content_of((folder.path() / "into/deep/usr/lib/x").string()), "content");
  EXPECT_THAT(left_out, ElementsAre("usr/share/y"));

  const auto none = read_deb_info_confined((folder.path() / "none.deb").string());
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::not_found);
}

}  // namespace
}  // namespace slipway::driver
