// SPDX-License-Identifier: Apache-2.0
// tests/fuzz/tree.cpp - a tree of folders from another user, deep, wide or both: it is walked whole or refused, and
// removed whole.
//
// Input: a byte for each step. Its lower two bits: 0 a folder, which is entered; 1 a file; 2 up; 3 a link to a folder
// outside. The others are the number of the name. From 0x80 on: the last step again, 16 times (byte - 0x7f).
#include "base/write/tree.hpp"

#include <cstdint>

#include "tests/fuzz/scratch_tree.hpp"

namespace {

namespace fs = std::filesystem;
using namespace slipway;

constexpr std::size_t kMostSteps = 1024;  // four times as deep as a walk goes; the kernel takes a millisecond for each

class Tree {
 public:
  explicit Tree(const fs::path& outside) : outside_(outside.string()) {}
  ~Tree() { ::close(folder_); }
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;

  void begin(const fs::path& top) {
    fs::create_directory(top);
    folder_ = ::open(top.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  }
  void step(unsigned kind, const std::string& name) {
    if (steps_++ >= kMostSteps) return;
    if (kind == 0) enter(name);
    if (kind == 1) made_ += own(::openat(folder_, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (kind == 2 && depth_ > 0) {
      --depth_;
      go("..");
    }
    if (kind == 3 && ::symlinkat(outside_.c_str(), folder_, name.c_str()) == 0) ++made_;
  }
  std::size_t made() const { return made_; }
  std::size_t deepest() const { return deepest_; }

 private:
  static std::size_t own(int file) {
    if (file >= 0) ::close(file);
    return file >= 0 ? 1 : 0;
  }
  void enter(const std::string& name) {
    if (::mkdirat(folder_, name.c_str(), 0700) == 0) ++made_;
    if (go(name)) deepest_ = std::max(deepest_, ++depth_);
  }
  bool go(const std::string& name) {
    const int next = ::openat(folder_, name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (next < 0) return false;
    ::close(folder_);
    folder_ = next;
    return true;
  }

  std::string outside_;
  int folder_ = -1;
  std::size_t steps_ = 0;
  std::size_t made_ = 0;
  std::size_t depth_ = 0;
  std::size_t deepest_ = 0;
};

void check_walk(const fs::path& top, const Tree& tree) {
  std::size_t seen = 0;
  const int folder = ::open(top.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const Status walked =
      base::walk_tree(folder, top.string(), {.enter = [&](const base::TreeEntry& entry) -> Result<bool> {
                        ++seen;
                        return S_ISDIR(entry.info.st_mode);
                      }});
  ::close(folder);
  if (walked) return fuzz::demand(seen == tree.made(), "a walk visits all that is there, and each once");
  fuzz::demand_presentable(walked.error());
  fuzz::demand(tree.deepest() >= base::kDeepestFolder, "only what is too deep is refused");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fuzz::Scratch scratch;
  const fs::path top = scratch.folder() / "tree";
  const fs::path outside = scratch.folder() / "outside";
  fs::create_directories(outside);
  fuzz::write_file(outside / "kept", "kept");
  Tree tree(outside);
  tree.begin(top);
  constexpr std::uint8_t kAgain = 0x80;
  std::uint8_t last = 0;
  std::size_t number = 0;
  for (std::size_t i = 0; i < size; ++i) {
    const bool again = data[i] >= kAgain;
    if (!again) last = data[i];
    const std::size_t times = again ? 16 * (std::size_t{data[i]} - kAgain + 1) : 1;
    for (std::size_t t = 0; t < times; ++t)
      tree.step(last & 3U, again ? "again" + std::to_string(number++) : std::to_string(last >> 2U));
  }
  check_walk(top, tree);
  const Status removed = base::remove_tree(top.string());
  fuzz::demand(removed.ok() && !fs::exists(fs::symlink_status(top)), "it is removed whole, however deep it is");
  fuzz::demand(fs::exists(outside / "kept"), "no link is followed");
  return 0;
}
