// SPDX-License-Identifier: Apache-2.0
// Files that decide something and libraries that are loaded: those of another user are refused.
#include <cstdlib>
#include <filesystem>
#include <functional>

#include <dlfcn.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <slipway/testing/fake_host.hpp>
#include <slipway/testing/temp_dir.hpp>
#include <slipway/trusted_owner.hpp>

namespace slipway {
namespace {

using slipway::testing::FakeHost;
using slipway::testing::TempDir;
using ::testing::HasSubstr;

constexpr uid_t kAnother = 65534;
constexpr std::size_t kLimit = 1024;

/// Does something to /etc/x/file below `root` that another user could do, and undoes it.
const std::vector<std::pair<std::string, std::function<void(const std::string& root, bool done)>>>& ways_to_write() {
  static const std::vector<std::pair<std::string, std::function<void(const std::string&, bool)>>> ways{
      {"owns the file",
       [](const std::string& root, bool done) {
         ASSERT_EQ(::chown((root + "/etc/x/file").c_str(), done ? 0 : kAnother, 0), 0);
       }},
      {"may write to the file",
       [](const std::string& root, bool done) {
         ASSERT_EQ(::chmod((root + "/etc/x/file").c_str(), done ? 0644 : 0666), 0);
       }},
      {"owns the folder", [](const std::string& root,
                             bool done) { ASSERT_EQ(::chown((root + "/etc/x").c_str(), done ? 0 : kAnother, 0), 0); }},
      {"may write to the folder", [](const std::string& root, bool done) {
         ASSERT_EQ(::chmod((root + "/etc/x").c_str(), done ? 0755 : 0777), 0);
       }}};
  return ways;
}

class TrustedFile : public ::testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root gives files away";
    host_.file("/etc/x/file", "text");
    host_.link("/etc/link", "x/file");
  }
  RootDir root() const { return RootDir::open(host_.root_folder()).value(); }

  FakeHost host_;
};

TEST_F(TrustedFile, IsReadWhereNoOtherUserCouldHaveWrittenIt) {
  for (const char* path : {"/etc/x/file", "/etc/link"}) {
    EXPECT_EQ(read_trusted(root(), path, kLimit).value_or(""), "text") << path;
    EXPECT_EQ(read_trusted(host_, path, kLimit).value_or(""), "text") << path;
  }
  EXPECT_EQ(read_trusted(host_, "/etc/none", kLimit).error().code, ErrorCode::not_found);
  EXPECT_EQ(read_trusted(root(), "/etc/none", kLimit).error().code, ErrorCode::not_found);
}

TEST_F(TrustedFile, IsRefusedWhereAnotherUserCouldHaveWrittenIt) {
  for (const auto& [name, change] : ways_to_write()) {
    change(host_.root_folder(), false);
    for (const char* path : {"/etc/x/file", "/etc/link"}) {
      EXPECT_EQ(host_.read(path).value_or(""), "text") << "without the check it is believed";
      EXPECT_EQ(read_trusted(root(), path, kLimit).error().code, ErrorCode::denied) << name << path;
      EXPECT_EQ(read_trusted(host_, path, kLimit).error().code, ErrorCode::denied) << name << path;
      EXPECT_EQ(read_private(root(), path, kLimit).error().code, ErrorCode::denied) << name << path;
    }
    change(host_.root_folder(), true);
    EXPECT_TRUE(read_trusted(host_, "/etc/link", kLimit)) << name;
  }
}

// A Host does not show access control lists, so the group's bits may stand for one.
TEST_F(TrustedFile, OfAHostMayNotBeOpenToItsGroup) {
  ASSERT_EQ(::chmod((host_.root_folder() + "/etc/x").c_str(), 0775), 0);
  EXPECT_EQ(read_trusted(host_, "/etc/x/file", kLimit).error().code, ErrorCode::denied);
  EXPECT_TRUE(read_trusted(root(), "/etc/x/file", kLimit)) << "root's own group, and no such list";
}

// Before the fix, a TLS key with mode 0644 was accepted without a message.
TEST_F(TrustedFile, ThatIsASecretMayNotBeReadableByAllUsers) {
  const Result<std::string> open = read_private(root(), "/etc/link", kLimit);
  ASSERT_FALSE(open);
  EXPECT_THAT(open.error().what, HasSubstr("all users can read the secret in /etc/link"));
  EXPECT_EQ(check_private(host_, "/etc/link").error().code, ErrorCode::denied);
  ASSERT_EQ(::chmod((host_.root_folder() + "/etc/x/file").c_str(), 0640), 0);
  EXPECT_EQ(read_private(root(), "/etc/link", kLimit).value_or(""), "text");
  EXPECT_TRUE(check_private(host_, "/etc/link"));
}

TEST_F(TrustedFile, OfACommandLineBelongsToRootTheCallerOrTheSudoUser) {
  const std::string file = host_.root_folder() + "/etc/x/file";
  ::unsetenv("SUDO_UID");
  EXPECT_EQ(read_named(file, kLimit).value_or(""), "text");
  for (const auto& [name, change] : ways_to_write()) {
    change(host_.root_folder(), false);
    EXPECT_EQ(read_named(file, kLimit).error().code, ErrorCode::denied) << name;
    change(host_.root_folder(), true);
  }
  ASSERT_EQ(::chown(file.c_str(), kAnother, kAnother), 0);
  ASSERT_EQ(::setenv("SUDO_UID", std::to_string(kAnother).c_str(), 1), 0);
  EXPECT_TRUE(read_named(file, kLimit)) << "who called sudo has written it";
  ASSERT_EQ(::chmod(file.c_str(), 0664), 0);
  EXPECT_FALSE(read_named(file, kLimit)) << "a group that is not known to be the user's own";
  ASSERT_EQ(::setenv("SUDO_UID", "1", 1), 0);
  EXPECT_FALSE(read_named(file, kLimit));
  ::unsetenv("SUDO_UID");
  EXPECT_EQ(read_named(file + "-none", kLimit).error().code, ErrorCode::not_found);
}

TEST_F(TrustedFile, OfACommandLineMayBeAPipe) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ASSERT_EQ(::write(ends[1], "piped", 5), 5);
  ::close(ends[1]);
  EXPECT_EQ(read_named("/dev/fd/" + std::to_string(ends[0]), kLimit).value_or(""), "piped");
  ::close(ends[0]);
}

// Before the fix, a library from a folder that a key of the spec names was loaded, even if another user had put it
// there: its initialisation ran as root.
TEST_F(TrustedFile, ThatIsALibraryOfAnotherUserIsNotLoaded) {
  const std::string file = host_.root_folder() + "/etc/x/file";
  const std::string mark = host_.root_folder() + "/loaded";
  std::filesystem::copy_file(SLIPWAY_TEST_CONSTRUCTOR, file, std::filesystem::copy_options::overwrite_existing);
  ASSERT_EQ(::setenv("SLIPWAY_TEST_MARK", mark.c_str(), 1), 0);
  for (const auto& [name, change] : ways_to_write()) {
    ASSERT_EQ(::chmod(file.c_str(), 0644), 0);
    change(host_.root_folder(), false);
    EXPECT_EQ(open_library(file, RTLD_NOW | RTLD_LOCAL).error().code, ErrorCode::denied) << name;
    EXPECT_FALSE(std::filesystem::exists(mark)) << name;
    change(host_.root_folder(), true);
  }
  const auto loaded = open_library(host_.root_folder() + "/etc/link", RTLD_NOW | RTLD_LOCAL);
  ASSERT_TRUE(loaded) << to_text(loaded.error());
  ::dlclose(*loaded);
  EXPECT_TRUE(std::filesystem::exists(mark)) << "loading alone is enough to run it";
  host_.file("/etc/x/file", "no library");
  EXPECT_EQ(open_library(file, RTLD_NOW).error().code, ErrorCode::invalid);
}

/// Another user creates the file between the check of its path and the reading.
class HostWithLateFile final : public Host {
 public:
  explicit HostWithLateFile(const Host& inner) : inner_(inner) {}
  bool live() const override { return inner_.live(); }
  bool has_kernel_view() const override { return inner_.has_kernel_view(); }
  Result<std::string> kernel_release() const override { return inner_.kernel_release(); }
  std::string arch() const override { return inner_.arch(); }
  Result<std::string> read(std::string_view, std::size_t) const override { return std::string("theirs"); }
  Result<FileInfo> info(std::string_view path) const override { return inner_.info(path); }
  Result<std::string> read_link(std::string_view path) const override { return inner_.read_link(path); }
  Result<std::string> resolve(std::string_view path) const override { return inner_.resolve(path); }
  Result<std::vector<std::string>> list(std::string_view path) const override { return inner_.list(path); }
  Status opens(std::string_view path) const override { return inner_.opens(path); }
  Result<ProcessOutput> run(const std::vector<std::string>& argv, std::chrono::milliseconds limit) const override {
    return inner_.run(argv, limit);
  }

 private:
  const Host& inner_;
};

// Before the fix, a file that was absent during the check of its path was read anyway: in a folder like /tmp, any file
// that appeared in the meantime.
TEST(TrustedFileOfAnyUser, IsAbsentWhenItAppearsTooLate) {
  FakeHost without;
  EXPECT_EQ(read_trusted(HostWithLateFile(without), "/tmp/x/file").error().code, ErrorCode::not_found);
  FakeHost with;
  with.file("/tmp/x/file", "ours");
  EXPECT_EQ(read_trusted(HostWithLateFile(with), "/tmp/x/file").value_or(""), "theirs") << "the stand-in's";
}

// Before the fix, a name that leads to no file any more, like that of a deleted file behind a descriptor, was loaded
// without a check.
TEST(TrustedFileOfAnyUser, ThatIsALibraryWithoutANameIsNotLoaded) {
  const TempDir folder;
  const std::string file = folder.at("library").string();
  std::filesystem::copy_file(SLIPWAY_TEST_CONSTRUCTOR, file);
  const std::string mark = folder.at("loaded").string();
  ASSERT_EQ(::setenv("SLIPWAY_TEST_MARK", mark.c_str(), 1), 0);
  const int open = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_GE(open, 0);
  std::filesystem::remove(file);
  const std::string name = "/proc/self/fd/" + std::to_string(open);
  const auto loaded = open_library(name, RTLD_NOW | RTLD_LOCAL);
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.error().code, ErrorCode::invalid);
  EXPECT_FALSE(std::filesystem::exists(mark));
  void* const by_hand = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(by_hand, nullptr) << "the loader itself would";
  ::dlclose(by_hand);
  EXPECT_TRUE(std::filesystem::exists(mark));
  ::close(open);
}

}  // namespace
}  // namespace slipway
