// SPDX-License-Identifier: Apache-2.0
#include "root_walk.hpp"

#include <array>
#include <cerrno>
#include <climits>

#include <fcntl.h>
#include <unistd.h>

namespace slipway::detail {
namespace {

constexpr int kMaxLinks = 40;  // the kernel's limit (MAXSYMLINKS)

/// Returns a link's target; empty with errno set when `name` is not a link or cannot be read.
std::string link_text(int folder, const std::string& name) {
  std::array<char, PATH_MAX> text;
  const ssize_t length = readlinkat(folder, name.c_str(), text.data(), text.size());
  return length > 0 ? std::string(text.data(), static_cast<std::size_t>(length)) : std::string();
}

}  // namespace

void RootWalk::push(std::string_view path) {
  // A slash at the end requires a folder, which a following "." does as well.
  if (path.ends_with('/')) pending_.emplace_back(".");
  std::size_t end = path.size();
  while (end > 0) {
    const std::size_t slash = path.rfind('/', end - 1);
    const std::size_t begin = slash == std::string_view::npos ? 0 : slash + 1;
    if (begin < end) pending_.emplace_back(path.substr(begin, end - begin));
    end = slash == std::string_view::npos ? 0 : slash;
  }
}

int RootWalk::go(std::string_view path, bool follow_last) {
  if (path.empty()) return ENOENT;
  if (path.size() >= PATH_MAX) return ENAMETOOLONG;
  follow_last_ = follow_last;
  push(path);
  while (!pending_.empty()) {
    const std::string name = std::move(pending_.back());
    pending_.pop_back();
    if (const int error = step(name); error != 0) return error;
  }
  return 0;
}

int RootWalk::step(const std::string& name) {
  if (name == ".") return 0;
  if (name == "..") {
    if (!stack_.empty()) stack_.pop_back();
    return 0;
  }
  if (!pending_.empty()) return enter(name);
  if (follow_last_) {
    if (const std::string target = link_text(folder(), name); !target.empty()) return follow(target);
    if (errno != EINVAL && errno != ENOENT) return errno;
  }
  last_ = name;
  return 0;
}

int RootWalk::enter(const std::string& name) {
  Fd fd(openat(folder(), name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (fd) {
    stack_.push_back({std::move(fd), name});
    return 0;
  }
  if (errno != ENOTDIR && errno != ELOOP) return errno;
  const std::string target = link_text(folder(), name);
  return target.empty() ? ENOTDIR : follow(target);
}

int RootWalk::follow(const std::string& target) {
  if (++links_ > kMaxLinks) return ELOOP;
  if (target.starts_with('/')) stack_.clear();
  push(target);
  return 0;
}

std::string RootWalk::path() const {
  std::string text;
  for (const Step& step : stack_) text += "/" + step.name;
  if (!last_.empty()) text += "/" + last_;
  return text.empty() ? "/" : text;
}

int walk_open(int root, std::string_view path, int flags, mode_t mode) {
  const bool follow_last = (flags & O_NOFOLLOW) == 0 && (flags & (O_CREAT | O_EXCL)) != (O_CREAT | O_EXCL);
  RootWalk walk(root);
  if (const int error = walk.go(path, follow_last); error != 0) {
    errno = error;
    return -1;
  }
  if (walk.last().empty()) return openat(walk.folder(), ".", flags | O_CLOEXEC, mode);
  return openat(walk.folder(), walk.last().c_str(), flags | O_NOFOLLOW | O_CLOEXEC, mode);
}

}  // namespace slipway::detail
