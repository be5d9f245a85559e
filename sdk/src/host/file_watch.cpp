// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <slipway/watch/file_watch.hpp>

namespace slipway {
namespace {

constexpr int kMostLinksOnTheWay = 40;   // the kernel's limit (MAXSYMLINKS)
constexpr std::size_t kMostNames = 256;  // for one path, including those of its links
constexpr int kMostReads = 64;           // of the queue in one take(); the descriptor stays readable for the rest
constexpr std::size_t kReadBytes = 16U << 10U;
// The events for a folder's entries, without writes: each `>/dev/null` would be an event of /dev.
constexpr std::uint32_t kNames = IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ATTRIB;
constexpr std::int64_t kNanoseconds = 1'000'000'000;

std::string proc_path(int fd) { return "/proc/self/fd/" + std::to_string(fd); }

/// Returns a link's target; empty when it cannot be read.
std::string target_of(int folder, const std::string& name) {
  std::array<char, PATH_MAX> text;
  const ssize_t length = ::readlinkat(folder, name.c_str(), text.data(), text.size());
  return length > 0 ? std::string(text.data(), static_cast<std::size_t>(length)) : std::string();
}

/// Adds the names of a path, the first one last.
void push_names(std::string_view path, std::vector<std::string>& pending) {
  std::size_t end = path.size();
  while (end > 0) {
    const std::size_t slash = path.rfind('/', end - 1);
    const std::size_t begin = slash == std::string_view::npos ? 0 : slash + 1;
    if (begin < end) pending.emplace_back(path.substr(begin, end - begin));
    end = slash == std::string_view::npos ? 0 : slash;
  }
}

}  // namespace

/// One walk along every path. First watches a folder, then looks for the next name in it, so that no change in between
/// is missed.
class FileWatch::Walk {
 public:
  Walk(const RootDir& root, int events) : root_(root), events_(events) {}

  /// @return the file at the end of the path; empty when it does not exist
  std::optional<FileIdentity> go(const std::string& path) {
    path_ = &path;
    stack_.clear();
    std::vector<std::string> pending;
    push_names(path, pending);
    int links = 0;
    for (std::size_t names = 0; !pending.empty(); ++names) {
      if (names == kMostNames) return std::nullopt;
      const std::string name = std::move(pending.back());
      pending.pop_back();
      if (name == ".") continue;
      if (name == "..") {
        if (!stack_.empty()) stack_.pop_back();
        continue;
      }
      watch_names(name, pending.empty());
      Fd next(::openat(folder(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
      struct stat status {};
      if (!next || ::fstat(next.get(), &status) != 0) return std::nullopt;
      if (S_ISLNK(status.st_mode)) {
        const std::string target = target_of(folder(), name);
        if (target.empty() || ++links > kMostLinksOnTheWay) return std::nullopt;
        if (target.front() == '/') stack_.clear();
        push_names(target, pending);
        continue;
      }
      if (pending.empty()) return end_at(next.get(), status);
      if (!S_ISDIR(status.st_mode)) return std::nullopt;
      stack_.push_back(std::move(next));
    }
    struct stat status {};  // the path ends with a folder that was already passed: "/", or a link to ".."
    if (::fstat(folder(), &status) != 0) return std::nullopt;
    return end_at(folder(), status);
  }

  std::map<int, Watched> take_watched() { return std::move(watched_); }
  const std::string& problem() const { return problem_; }

 private:
  int folder() const { return stack_.empty() ? root_.fd() : stack_.back().get(); }

  Watched* watch(int fd, std::uint32_t mask) {
    const int number = ::inotify_add_watch(events_, proc_path(fd).c_str(), mask | IN_MASK_ADD);
    if (number < 0) {
      if (problem_.empty()) problem_ = "cannot watch a part of " + *path_ + ": " + std::strerror(errno);
      return nullptr;
    }
    Watched& watched = watched_[number];
    watched.mask |= mask;
    return &watched;
  }

  void watch_names(const std::string& name, bool is_last) {
    if (Watched* const watched = watch(folder(), kNames)) (is_last ? watched->ends : watched->steps).insert(name);
  }

  std::optional<FileIdentity> end_at(int fd, const struct stat& status) {
    const bool has_content = S_ISREG(status.st_mode) || S_ISDIR(status.st_mode);
    const std::uint32_t mask = IN_ATTRIB | IN_CLOSE_WRITE | (S_ISDIR(status.st_mode) ? kNames : 0);
    if (Watched* const watched = has_content ? watch(fd, mask) : nullptr) watched->is_end = true;
    // A folder's times are those of its entries, which are reported separately.
    const std::int64_t changed =
        S_ISDIR(status.st_mode) ? 0 : status.st_ctim.tv_sec * kNanoseconds + status.st_ctim.tv_nsec;
    return FileIdentity{status.st_dev, status.st_ino, status.st_mode, changed};
  }

  const RootDir& root_;
  int events_;
  const std::string* path_ = nullptr;
  std::vector<Fd> stack_;
  std::map<int, Watched> watched_;
  std::string problem_;
};

Result<FileWatch> FileWatch::open(RootDir root, std::vector<std::string> paths) {
  Fd events(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  if (!events) return system_error("watch", root.folder(), errno);
  FileWatch watch(std::move(root), std::move(events));
  SLIPWAY_CHECK(watch.watch(std::move(paths)));
  return watch;
}

Status FileWatch::watch(std::vector<std::string> paths) {
  if (paths.size() > kMostPaths)
    return Error{
        .code = ErrorCode::invalid,
        .what = std::to_string(paths.size()) + " paths cannot be watched: the limit is " + std::to_string(kMostPaths),
        .where = {},
        .next = "watch the folder that they are in"};
  for (const std::string& path : paths)
    if (!path.starts_with('/') || path.size() >= PATH_MAX || path.find('\0') != std::string::npos)
      return Error{.code = ErrorCode::invalid, .what = "not an absolute path: '" + path + "'", .where = path};
  paths_ = std::move(paths);
  seen_.clear();
  walk();
  return {};
}

bool FileWatch::take() {
  const News news = drain();
  if (news == News::none) return false;
  return walk() || news == News::changed;
}

bool FileWatch::look() {
  const News news = drain();
  return walk() || news == News::changed;
}

FileWatch::News FileWatch::drain() {
  News newest = News::none;
  alignas(inotify_event) std::array<char, kReadBytes> bytes;
  for (int reads = 0; reads < kMostReads; ++reads) {
    const ssize_t got = ::read(events_.get(), bytes.data(), bytes.size());
    if (got <= 0) break;
    for (const char* at = bytes.data(); at < bytes.data() + got;) {
      const auto* const event = reinterpret_cast<const inotify_event*>(at);
      const std::string_view name(event->name, event->len == 0 ? 0 : ::strnlen(event->name, event->len));
      newest = std::max(newest, news_of(event->wd, event->mask, name));
      at += sizeof(inotify_event) + event->len;
    }
  }
  return newest;
}

FileWatch::News FileWatch::news_of(int number, std::uint32_t mask, std::string_view name) {
  if ((mask & IN_Q_OVERFLOW) != 0) return News::changed;
  const auto found = watched_.find(number);
  if (found == watched_.end()) return News::none;  // for a folder that is no longer on the way
  const Watched& watched = found->second;
  if (watched.is_end && (mask & (IN_IGNORED | IN_UNMOUNT)) == 0) return News::changed;
  if (watched.ends.contains(name)) return News::changed;
  return name.empty() || watched.steps.contains(name) ? News::moved : News::none;
}

/// Watches the present way to each path. @return true when a path leads to another file than before
bool FileWatch::walk() {
  Walk walk(root_, events_.get());
  std::vector<std::optional<FileIdentity>> seen;
  seen.reserve(paths_.size());
  for (const std::string& path : paths_) seen.push_back(walk.go(path));
  problem_ = walk.problem();
  std::map<int, Watched> watched = walk.take_watched();
  for (const auto& [number, former] : watched_)
    if (!watched.contains(number)) (void)::inotify_rm_watch(events_.get(), number);
  watched_ = std::move(watched);
  const bool differs = seen_.size() == seen.size() && seen_ != seen;
  seen_ = std::move(seen);
  return differs;
}

}  // namespace slipway
