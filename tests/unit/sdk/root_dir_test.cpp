// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <cstddef>
#include <functional>
#include <random>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <slipway/root_dir.hpp>
#include <slipway/testing/temp_dir.hpp>

#include "sdk/src/host/root_walk.hpp"

namespace slipway {
namespace {

using testing::TempDir;

/// Both ways to open a path: the kernel's, and slipway's own walk.
enum class Way { kernel, walk };

class RootDirBothWays : public ::testing::TestWithParam<Way> {
 protected:
  RootDirBothWays() {
    outside_.file("secret", "outside");
    tree_.file("/etc/name", "inside");
  }

  Result<Fd> open(const std::string& path, int flags = O_RDONLY, mode_t mode = 0) {
    const RootDir root = *RootDir::open(tree_.string());
    if (GetParam() == Way::kernel) return root.open_at(path, flags, mode);
    Fd fd(detail::walk_open(root.fd(), path, flags, mode));
    if (!fd) return system_error("open", path, errno);
    return fd;
  }
  std::string content(const std::string& path) {
    const Result<Fd> fd = open(path);
    if (!fd) return fd.error().what;
    std::string text(100, '\0');
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(0, ::read(fd->get(), text.data(), text.size()))));
    return text;
  }

  TempDir outside_;
  TempDir tree_;
};

INSTANTIATE_TEST_SUITE_P(Ways, RootDirBothWays, ::testing::Values(Way::kernel, Way::walk),
                         [](const auto& way) { return way.param == Way::kernel ? "Kernel" : "Walk"; });

TEST_P(RootDirBothWays, OpensAbsoluteAndRelativePathsInside) {
  EXPECT_EQ(content("/etc/name"), "inside");
  EXPECT_EQ(content("etc//./name"), "inside");
}

TEST_P(RootDirBothWays, KeepsDotDotInside) {
  EXPECT_EQ(content("/../../../etc/name"), "inside");
  tree_.link("up", "../../../../../../etc/name");
  EXPECT_EQ(content("/up"), "inside");
  EXPECT_EQ(open(".." + outside_.string() + "/secret").error().code, ErrorCode::not_found);
}

TEST_P(RootDirBothWays, TakesAbsoluteLinksFromTheRoot) {
  tree_.link("absolute", "/etc/name");
  tree_.link("folder", "/etc");
  tree_.link("away", outside_.string() + "/secret");
  EXPECT_EQ(content("/absolute"), "inside");
  EXPECT_EQ(content("/folder/name"), "inside");
  EXPECT_EQ(open("/away").error().code, ErrorCode::not_found);
}

TEST_P(RootDirBothWays, CreatesOnlyInsideThroughADanglingLink) {
  tree_.link("new", outside_.string() + "/made");
  EXPECT_EQ(open("/new", O_WRONLY | O_CREAT, 0600).error().code, ErrorCode::not_found);
  EXPECT_FALSE(std::filesystem::exists(outside_.at("made")));
  tree_.link("near", "/etc/made");
  EXPECT_TRUE(open("/near", O_WRONLY | O_CREAT, 0640).ok());
  EXPECT_TRUE(std::filesystem::exists(tree_.at("etc/made")));
}

TEST_P(RootDirBothWays, GivesUpOnLinkLoops) {
  tree_.link("a", "b");
  tree_.link("b", "a");
  tree_.link("self", "self/more");
  EXPECT_NE(content("/a").find(std::strerror(ELOOP)), std::string::npos);
  EXPECT_NE(content("/self").find(std::strerror(ELOOP)), std::string::npos);
}

TEST_P(RootDirBothWays, DoesNotFollowTheLastNameOnRequest) {
  tree_.link("link", "/etc/name");
  const Result<Fd> fd = open("/link", O_PATH | O_NOFOLLOW);
  ASSERT_TRUE(fd.ok());
  struct stat info {};
  ASSERT_EQ(fstat(fd->get(), &info), 0);
  EXPECT_TRUE(S_ISLNK(info.st_mode));
  EXPECT_FALSE(open("/link", O_WRONLY | O_CREAT | O_EXCL, 0600).ok());
}

TEST_P(RootDirBothWays, SaysNotFoundWhenAFileStandsWhereAFolderShould) {
  EXPECT_EQ(open("/etc/name/below").error().code, ErrorCode::not_found);
  EXPECT_EQ(open("/etc/name/").error().code, ErrorCode::not_found);
  EXPECT_EQ(open("").error().code, ErrorCode::not_found);
}

/// Creates a random tree of folders, files and links that point anywhere, and random paths through it.
class RandomTree {
 public:
  explicit RandomTree(unsigned seed) : random_(seed) {
    for (int i = 0; i < 30; ++i) add();
  }
  std::string path() {
    std::string text = pick(2) != 0 ? "/" : "";
    const unsigned names = 1 + pick(5);
    for (unsigned i = 0; i < names; ++i) text += std::array{"a", "b", "c", "..", ".", "d"}[pick(6)] + slashes();
    if (pick(4) != 0) text.pop_back();
    return text;
  }
  const TempDir& tree() const { return tree_; }

 private:
  unsigned pick(unsigned below) { return std::uniform_int_distribution<unsigned>(0, below - 1)(random_); }
  std::string slashes() { return pick(8) == 0 ? "//" : "/"; }
  void add() {
    std::error_code taken;
    std::string where;
    const unsigned depth = 1 + pick(3);
    for (unsigned i = 0; i < depth; ++i) where += std::array{"a/", "b/", "c/", "d/"}[pick(4)];
    where.pop_back();
    const std::filesystem::path full = tree_.at(where);
    // Never through a link: on the machine itself it would lead out of the tree.
    if (std::filesystem::canonical(full.parent_path(), taken) != full.parent_path()) return;
    if (std::filesystem::symlink_status(full, taken).type() != std::filesystem::file_type::not_found) return;
    const unsigned kind = pick(5);
    if (kind < 2) return void(std::filesystem::create_directory(full, taken));
    if (kind == 2) return void(std::ofstream(full) << where);
    std::filesystem::create_symlink(path(), full, taken);
  }

  std::mt19937 random_;
  TempDir tree_;
};

TEST(RootWalk, EndsWhereTheKernelEndsOnRandomTrees) {
  unsigned opened = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    RandomTree random(seed);
    const RootDir root = *RootDir::open(random.tree().string());
    for (int i = 0; i < 40; ++i) {
      const std::string path = random.path();
      const int flags = O_PATH | (i % 2 == 0 ? 0 : O_NOFOLLOW);
      const Result<Fd> kernel = root.open_at(path, flags);
      const Fd walk(detail::walk_open(root.fd(), path, flags, 0));
      ASSERT_EQ(kernel.ok(), static_cast<bool>(walk)) << "seed " << seed << " path " << path;
      if (!walk) continue;
      ++opened;
      struct stat a {
      }, b{};
      ASSERT_EQ(fstat(kernel->get(), &a), 0);
      ASSERT_EQ(fstat(walk.get(), &b), 0);
      EXPECT_EQ(a.st_ino, b.st_ino) << "seed " << seed << " path " << path;
    }
  }
  EXPECT_GT(opened, 300U);
}

TEST(RootDir, ResolvesToAPathThatOpensTheSameThing) {
  for (unsigned seed = 100; seed < 130; ++seed) {
    RandomTree random(seed);
    const RootDir root = *RootDir::open(random.tree().string());
    for (int i = 0; i < 40; ++i) {
      const std::string path = random.path();
      const Result<std::string> resolved = root.resolve(path);
      const Result<Fd> direct = root.open_at(path, O_PATH);
      ASSERT_EQ(resolved.ok(), direct.ok()) << "seed " << seed << " path " << path;
      if (!direct) continue;
      struct stat a {
      }, b{};
      ASSERT_EQ(fstat(direct->get(), &a), 0);
      ASSERT_EQ(lstat((random.tree().string() + *resolved).c_str(), &b), 0);
      EXPECT_EQ(a.st_ino, b.st_ino) << "seed " << seed << " path " << path << " resolved " << *resolved;
      detail::RootWalk walk(root.fd());
      ASSERT_EQ(walk.go(path, true), 0);
      EXPECT_EQ(*resolved, walk.path()) << "the kernel and the walk name it alike";
    }
  }
}

TEST(RootDir, ResolvesLinksAsSeenFromInside) {
  const TempDir tree;
  tree.file("/usr/lib/libc.so.6", "");
  tree.link("/lib", "usr/lib");
  tree.link("/usr/lib/libc.so", "/lib/libc.so.6");
  const RootDir root = *RootDir::open(tree.string());
  EXPECT_EQ(*root.resolve("/lib/libc.so"), "/usr/lib/libc.so.6");
  EXPECT_EQ(*root.resolve("/lib/"), "/usr/lib");
  EXPECT_EQ(*root.resolve("/.."), "/");
  EXPECT_EQ(root.resolve("/lib/none").error().code, ErrorCode::not_found);
  EXPECT_EQ(root.resolve("/lib/libc.so/more").error().code, root.open_at("/lib/libc.so/more", O_PATH).error().code);
  EXPECT_EQ(*RootDir::open("/")->resolve(tree.at("lib/libc.so.6").string()), tree.at("usr/lib/libc.so.6").string());
}

// The kernel names a removed file in this way too.
TEST(RootDir, ResolvesANameThatEndsAsThatOfARemovedFile) {
  const TempDir tree;
  tree.file("/etc/notes (deleted)", "");
  tree.link("/notes", "etc/notes (deleted)");
  EXPECT_EQ(*RootDir::open(tree.string())->resolve("/notes"), "/etc/notes (deleted)");
}

TEST(RootDir, GivesTheFolderOfANameThatNeedNotExist) {
  const TempDir tree;
  tree.directory("/usr/lib");
  tree.link("/lib", "/usr/lib");
  const RootDir root = *RootDir::open(tree.string());
  const auto parent = root.parent_of("/lib/new/");
  ASSERT_TRUE(parent.ok());
  EXPECT_EQ(parent->second, "new");
  EXPECT_EQ(mkdirat(parent->first.get(), "new", 0755), 0);
  EXPECT_TRUE(std::filesystem::is_directory(tree.at("usr/lib/new")));
  EXPECT_EQ(root.parent_of("top")->second, "top");
  EXPECT_EQ(root.parent_of("/none/name").error().code, ErrorCode::not_found);
  for (const char* path : {"/", "", "/usr/..", "/usr/."})
    EXPECT_EQ(root.parent_of(path).error().code, ErrorCode::invalid) << path;
}

TEST(RootDir, RefusesAFileAsRootAndANulByteInAPath) {
  const TempDir tree;
  tree.file("/file", "");
  EXPECT_EQ(RootDir::open(tree.string() + "/file").error().code, ErrorCode::invalid);
  EXPECT_EQ(RootDir::open(tree.string() + "/none").error().code, ErrorCode::not_found);
  EXPECT_EQ(RootDir::open(tree.string())->open_at(std::string_view("/file\0x", 7), O_RDONLY).error().code,
            ErrorCode::invalid);
}

/// Runs `body` in a process in which openat2 fails with `number`, as on an old kernel or under an old container engine.
int exit_without_openat2(unsigned number, const std::function<bool()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    sock_filter code[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                          BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
                          BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | number),
                          BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    const sock_fprog program{static_cast<unsigned short>(std::size(code)), code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
      _exit(77);
    _exit(body() ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

TEST(RootDir, WorksOnAKernelWithoutOpenat2) {
  const TempDir tree;
  tree.file("/etc/name", "");
  tree.link("/link", "/etc/name");
  for (const unsigned number : {unsigned{ENOSYS}, unsigned{EPERM}}) {
    const int status = exit_without_openat2(number, [&] {
      const RootDir root = *RootDir::open(tree.string());
      return root.open_at("/link", O_RDONLY).ok() && root.open_at("/../link", O_RDONLY).ok() &&
             root.open_at("/none", O_RDONLY).error().code == ErrorCode::not_found;
    });
    if (status == 77) GTEST_SKIP() << "no seccomp here";
    EXPECT_EQ(status, 0) << number;
  }
}

}  // namespace
}  // namespace slipway
