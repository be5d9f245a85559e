// SPDX-License-Identifier: Apache-2.0
#include "core/loader/plugin_file.hpp"

#include <cstdio>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <slipway/trusted_owner.hpp>

#include "plugin_bytes.hpp"

namespace slipway::core {
namespace {

constexpr uid_t kStranger = 12345;

TEST(PluginFile, ReportsItsComponentsVersionAndDigest) {
  const TempFolder folder;
  const std::string path = write_file(folder / "alpha.so", plugin_bytes("test-alpha"));
  const auto file = read_plugin_file(path);
  ASSERT_TRUE(file) << to_text(file.error());
  EXPECT_EQ(file->path, path);
  EXPECT_EQ(file->plugin_version, "2.0.1");
  ASSERT_EQ(file->components.size(), 2U);
  EXPECT_EQ(file->components[1].component, "beta");
  EXPECT_EQ(file->digest.get().value_or("").size(), 7U + 64U);
}

TEST(PluginFile, HasTheDigestThatSha256sumPrints) {
  const TempFolder folder;
  const std::string path = write_file(folder / "alpha.so", plugin_bytes("test-alpha"));
  FILE* pipe = ::popen(("sha256sum " + path).c_str(), "r");
  char digest[65] = {};
  ASSERT_EQ(std::fread(digest, 1, 64, pipe), 64U);
  ::pclose(pipe);
  EXPECT_EQ(read_plugin_file(path)->digest.get().value_or(""), "sha256:" + std::string(digest));
}

Error protocol_error(std::uint16_t major, std::uint16_t minor) {
  const TempFolder folder;
  std::string bytes = plugin_bytes("test-alpha");
  std::memcpy(bytes.data() + note_offset(bytes) + 4, &major, sizeof major);
  std::memcpy(bytes.data() + note_offset(bytes) + 6, &minor, sizeof minor);
  auto file = read_plugin_file(write_file(folder / "alpha.so", bytes));
  return file ? Error{} : file.error();
}

TEST(PluginFile, OfALaterProtocolAsksForALaterSlipway) {
  for (const Error& error : {protocol_error(1, 7), protocol_error(2, 0)}) {
    EXPECT_EQ(error.code, ErrorCode::unsupported);
    EXPECT_NE(error.what.find("this slipway has 1.0"), std::string::npos) << to_text(error);
    EXPECT_NE(error.next.find("update slipway"), std::string::npos) << to_text(error);
  }
}

TEST(PluginFile, OfAnEarlierMajorProtocolHasToBeRebuilt) {
  const Error error = protocol_error(0, 9);
  EXPECT_EQ(error.code, ErrorCode::unsupported);
  EXPECT_NE(error.next.find("rebuild the plugin"), std::string::npos) << to_text(error);
}

TEST(PluginFile, SaysWhereItsManifestIsWrong) {
  const TempFolder folder;
  const auto file = read_plugin_file(write_file(folder / "broken.so", plugin_bytes("test-broken")));
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().where.substr(0, file.error().where.find(' ')), folder / "broken.so(manifest):2:1");
  EXPECT_NE(file.error().what.find("did you mean 'purpose'?"), std::string::npos);
}

TEST(PluginFile, IsNotAFolderFifoOrMissingFile) {
  const TempFolder folder;
  ::mkdir((folder / "a.so").c_str(), 0755);
  ::mkfifo((folder / "b.so").c_str(), 0755);
  EXPECT_EQ(read_plugin_file(folder / "a.so").error().code, ErrorCode::invalid);
  EXPECT_EQ(read_plugin_file(folder / "b.so").error().code, ErrorCode::invalid);
  EXPECT_EQ(read_plugin_file(folder / "c.so").error().code, ErrorCode::not_found);
}

TEST(SafePath, RefusesWhatOthersCanWrite) {
  const TempFolder folder;
  const std::string file = write_file(folder / "x.so", "x");
  ASSERT_TRUE(safe_path(file));
  for (const mode_t mode : {0775U, 0757U}) {
    ::chmod(file.c_str(), mode);
    const auto refused = safe_path(file);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::denied);
    EXPECT_EQ(refused.error().next, "`chmod go-w " + file + "`");
  }
}

TEST(SafePath, RefusesFilesInAFolderThatOthersCanWrite) {
  const TempFolder folder;
  ::mkdir((folder / "sub").c_str(), 0755);
  const std::string file = write_file(folder / "sub/x.so", "x");
  for (const mode_t mode : {0775U, 0757U}) {
    ::chmod((folder / "sub").c_str(), mode);
    ASSERT_FALSE(safe_path(file));
    EXPECT_EQ(safe_path(file).error().where, folder / "sub");
  }
  ::chmod((folder / "sub").c_str(), 01777);  // like /tmp: only owners can replace files in it
  EXPECT_EQ(static_cast<bool>(safe_path(file)), ::geteuid() == 0);
}

TEST(SafePath, RefusesFilesOfAnotherUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  const TempFolder folder;
  ::mkdir((folder / "sub").c_str(), 0755);
  const std::string file = write_file(folder / "sub/x.so", "x");
  ASSERT_EQ(::chown(file.c_str(), kStranger, 0), 0);
  EXPECT_EQ(safe_path(file).error().where, file);
  ASSERT_EQ(::chown(file.c_str(), 0, 0), 0);
  ASSERT_EQ(::chown((folder / "sub").c_str(), kStranger, 0), 0);
  EXPECT_EQ(safe_path(file).error().where, folder / "sub");
}

// All users outside of a user namespace have one id in it: before the fix, any of these users passed as slipway's
// owner.
TEST(SafePath, RefusesFilesOfUnmappedUsersInASharedFolder) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  const TempFolder folder;
  ::mkdir((folder / "shared").c_str(), 0755);
  ::chmod((folder / "shared").c_str(), 01777);
  write_file(folder / "shared/x.so", "x");
  ::chmod((folder / ".").c_str(), 0755);
  ASSERT_EQ(::chown((folder / "shared/x.so").c_str(), kStranger, 0), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    if (::setuid(kStranger + 1) != 0 || ::unshare(CLONE_NEWUSER) != 0) ::_exit(77);
    std::ofstream("/proc/self/uid_map") << "0 " << kStranger + 1 << " 1\n";
    const auto refused = safe_path(folder / "shared/x.so");
    ::_exit(!refused && refused.error().code == ErrorCode::denied ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "users may not make namespaces here";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(SafePath, FollowsLinksAndChecksWhatIsOnTheirWay) {
  const TempFolder folder;
  ::mkdir((folder / "open").c_str(), 0755);
  ::mkdir((folder / "closed").c_str(), 0755);
  write_file(folder / "closed/x.so", "x");
  std::filesystem::create_symlink("../closed/x.so", folder / "open/x.so");
  std::filesystem::create_symlink("open", folder / "link");
  EXPECT_EQ(*safe_path(folder / "link/x.so"), folder / "closed/x.so");
  ::chmod((folder / "open").c_str(), 0777);  // a user who can write there can redirect the link
  EXPECT_EQ(safe_path(folder / "link/x.so").error().where, folder / "open");
}

TEST(SafePath, EndsOnALoopOfLinks) {
  const TempFolder folder;
  std::filesystem::create_symlink("b", folder / "a");
  std::filesystem::create_symlink("a", folder / "b");
  EXPECT_FALSE(safe_path(folder / "a"));
}

TEST(Discover, FindsEveryPluginOfItsFoldersByComponent) {
  const TempFolder one, two;
  write_file(one / "alpha.so", plugin_bytes("test-alpha"));
  write_file(two / "gamma.so", plugin_bytes("test-gamma"));
  write_file(two / "README", "no plugin");
  const auto plugins = discover_plugins({one.path(), two.path()});
  ASSERT_TRUE(plugins) << to_text(plugins.error());
  EXPECT_TRUE(plugins->problems.empty());
  EXPECT_EQ(plugins->component_to_path.at("beta"), one / "alpha.so");
  EXPECT_EQ(plugins->manifest("gamma")->purpose, "one more");
  EXPECT_EQ(plugins->manifest("delta"), nullptr);
}

TEST(Discover, LeavesOutWhatItCannotReadAndSaysSo) {
  const TempFolder folder;
  write_file(folder / "alpha.so", plugin_bytes("test-alpha"));
  write_file(folder / "text.so", "no plugin");
  ::chmod(write_file(folder / "open.so", plugin_bytes("test-gamma")).c_str(), 0777);
  const auto plugins = discover_plugins({folder.path(), folder / "missing"});
  ASSERT_TRUE(plugins);
  EXPECT_EQ(plugins->files.size(), 1U);
  ASSERT_EQ(plugins->problems.size(), 3U);
  EXPECT_EQ(plugins->problems[0].code, ErrorCode::denied);
  EXPECT_EQ(plugins->problems[1].code, ErrorCode::invalid);
  EXPECT_EQ(plugins->problems[2].code, ErrorCode::not_found);
}

TEST(Discover, OfTwoFilesWithOneComponentIsAConflictThatNamesBoth) {
  const TempFolder folder;
  write_file(folder / "a.so", plugin_bytes("test-gamma"));
  write_file(folder / "b.so", plugin_bytes("test-gamma"));
  const auto plugins = discover_plugins({folder.path()});
  ASSERT_FALSE(plugins);
  EXPECT_EQ(plugins.error().code, ErrorCode::conflict);
  EXPECT_NE(plugins.error().what.find(folder / "a.so"), std::string::npos);
  EXPECT_NE(plugins.error().what.find(folder / "b.so"), std::string::npos);
}

TEST(Discover, CountsADuplicatePathOnce) {
  const TempFolder folder;
  write_file(folder / "a.so", plugin_bytes("test-gamma"));
  std::filesystem::create_symlink("a.so", folder / "b.so");
  const auto plugins = discover_plugins({folder.path(), folder.path()});
  ASSERT_TRUE(plugins) << to_text(plugins.error());
  EXPECT_EQ(plugins->files.size(), 1U);
}

TEST(PluginFolders, ComeFromTheEnvironmentWhenThatIsTrusted) {
  ::setenv("SLIPWAY_PLUGIN_PATH", "/a::/b", 1);
  EXPECT_EQ(plugin_folders(true), (std::vector<std::string>{"/a", "/b"}));
  EXPECT_EQ(plugin_folders(false).front() == "/a", ::geteuid() != 0);
  ::unsetenv("SLIPWAY_PLUGIN_PATH");
  ASSERT_EQ(plugin_folders(true).size(), 1U);
  EXPECT_TRUE(plugin_folders(true).front().ends_with("/lib/slipway/plugins"));
}

}  // namespace
}  // namespace slipway::core
