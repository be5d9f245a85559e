// SPDX-License-Identifier: Apache-2.0
// sdk/src/host/root_walk.hpp - resolves a path inside a root, one component at a time, for kernels without
// openat2(2).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <slipway/root_dir.hpp>

namespace slipway::detail {

/// One walk from a root folder along a path. Reads links as text and continues from their targets, absolute ones from
/// the root; ".." at the root stays there. The kernel never follows a link in any call.
class RootWalk {
 public:
  /// @param root  descriptor of the root folder; borrowed for the life of the walk
  explicit RootWalk(int root) : root_(root) {}

  /// Walks to the folder of the last name. With `follow_last` also follows a link there. @return 0 or errno
  int go(std::string_view path, bool follow_last);

  /// Returns the folder that was reached. The remaining name is not a link to follow (it may be missing), or is empty.
  int folder() const { return stack_.empty() ? root_ : stack_.back().fd.get(); }
  const std::string& last() const { return last_; }
  /// Returns the path of both, as seen from inside.
  std::string path() const;

 private:
  struct Step {
    Fd fd;
    std::string name;
  };
  int step(const std::string& name);
  int enter(const std::string& name);
  int follow(const std::string& target);
  void push(std::string_view path);

  int root_;
  std::vector<Step> stack_;
  std::vector<std::string> pending_;  ///< remaining names, the next one at the end
  std::string last_;
  bool follow_last_ = true;
  int links_ = 0;
};

/// Calls open(2) for a path below `root`, as RootDir::open_at(). Errors: -1 and errno.
int walk_open(int root, std::string_view path, int flags, mode_t mode);

/// Returns the output of `uname -m` on this machine.
std::string running_arch();

/// Returns what `uname -m` would print in that root, from the ELF header of its shell or init; running_arch() without
/// any.
std::string root_arch(const RootDir& root);

}  // namespace slipway::detail
