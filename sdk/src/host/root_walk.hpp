// SPDX-License-Identifier: Apache-2.0
// sdk/src/host/root_walk.hpp - follows a path inside a root name by name, for kernels without openat2(2).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <slipway/root_dir.hpp>

namespace slipway::detail {

/// One walk from a root folder along a path. Links are read as text and begun anew from where they point, absolute ones
/// from the root; ".." at the root stays there. No call ever hands a link to the kernel to follow.
class RootWalk {
 public:
  /// @param root  descriptor of the root folder; borrowed for the life of the walk
  explicit RootWalk(int root) : root_(root) {}

  /// Walks to the folder of the last name. With `follow_last` a link there is followed as well. @return 0 or errno
  int go(std::string_view path, bool follow_last);

  /// The folder that was reached, and what is left: a name that is not a link to follow (it may be missing), or
  /// nothing.
  int folder() const { return stack_.empty() ? root_ : stack_.back().fd.get(); }
  const std::string& last() const { return last_; }
  /// Where that is, as seen from inside.
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
  std::vector<std::string> pending_;  ///< names still to go, the next one at the end
  std::string last_;
  bool follow_last_ = true;
  int links_ = 0;
};

/// open(2) of a path below `root`, as RootDir::open_at(). Errors: -1 and errno.
int walk_open(int root, std::string_view path, int flags, mode_t mode);

/// As `uname -m` says it on this machine.
std::string running_arch();

/// As `uname -m` would say it in that root, from the ELF header of its shell or init; running_arch() without any.
std::string root_arch(const RootDir& root);

}  // namespace slipway::detail
