// SPDX-License-Identifier: Apache-2.0
#include "base/write/lock_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <sstream>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <slipway/regular_file.hpp>
#include <slipway/trusted_owner.hpp>

namespace slipway::base {
namespace {

constexpr mode_t kFoldersMode = 0755;
constexpr mode_t kLockMode = 0600;
constexpr mode_t kOthersWrite = 0022;
constexpr std::size_t kMostLeft = 4096;
const std::string kNote = "note ";  // no absolute path begins with this word
constexpr std::size_t kLongestNote = 1024;
constexpr int kTries = 100;  // an attempt only fails when the holder removes the file or its folder at that moment

std::string joined_path(const std::string& folder, const std::string& name) { return folder + "/" + name; }

bool same_file(const struct stat& left, const struct stat& right) {
  return left.st_dev == right.st_dev && left.st_ino == right.st_ino;
}

Status expect_own_folder(int folder, const std::string& path) {
  struct stat info {};
  if (::fstat(folder, &info) != 0) return system_error("look at", path, errno);
  if (is_trusted_owner(info.st_uid) && (info.st_mode & kOthersWrite) == 0) return {};
  return Error{ErrorCode::conflict,
               "other users can write to the folder for locks, and could lock slipway out",
               path,
               "remove it, or give it to root with mode 0755",
               {}};
}

}  // namespace

Status make_folders(const RootDir& root, const std::string& path, std::vector<std::string>* made) {
  for (auto end = path.find('/', 1);; end = path.find('/', end + 1)) {
    const std::string folder = path.substr(0, end);
    if (!root.open_at(folder, O_PATH | O_DIRECTORY)) {
      SLIPWAY_TRY(place, root.parent_of(folder));
      if (::mkdirat(place.first.get(), place.second.c_str(), kFoldersMode) == 0) {
        if (made != nullptr) made->push_back(folder);
      } else if (errno != EEXIST) {
        return system_error("make the folder", (root.folder() == "/" ? "" : root.folder()) + folder, errno);
      }
    }
    if (end == std::string::npos) return {};
  }
}

std::string flock_holder(int fd) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) return {};
  char device[32];
  std::snprintf(device, sizeof device, "%02x:%02x:", major(info.st_dev), minor(info.st_dev));
  const std::string inode = std::to_string(info.st_ino);
  std::string holder;
  std::ifstream locks("/proc/locks");
  for (std::string line; std::getline(locks, line);) {
    std::istringstream words(line);
    std::string number, type, advisory, access, pid, place;
    words >> number >> type >> advisory >> access >> pid >> place;
    if (type != "FLOCK" || !place.ends_with(":" + inode) || pid == std::to_string(::getpid())) continue;
    // Several file systems may have such an inode; for btrfs and overlayfs the device here differs from that of stat().
    const bool is_this_device = place == device + inode;
    if (!holder.empty() && !is_this_device) continue;
    std::ifstream comm("/proc/" + pid + "/comm");
    std::string name;
    std::getline(comm, name);
    holder = name + " (pid " + pid + ")";
    if (is_this_device) break;
  }
  return holder;
}

/// Checks that the file is locked now and still has its name; false: try again.
Result<bool> LockFile::try_once() {
  SLIPWAY_CHECK(make_folders(root_, folder_, &made_));
  auto folder = root_.open_at(folder_, O_RDONLY | O_DIRECTORY);
  if (!folder && folder.error().code == ErrorCode::not_found) return false;
  if (!folder) return folder.error();
  SLIPWAY_CHECK(expect_own_folder(folder->get(), folder_));
  Fd file(::openat(folder->get(), name_.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, kLockMode));
  if (!file && errno == ENOENT) return false;
  if (!file) return system_error("open", joined_path(folder_, name_), errno);
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return system_error("lock", joined_path(folder_, name_), errno);
    Error error{ErrorCode::locked, joined_path(folder_, name_) + " is locked", joined_path(folder_, name_), {}, {}};
    if (const std::string holder = flock_holder(file.get()); !holder.empty())
      error.details.emplace_back("held", holder);
    return error;
  }
  struct stat locked {};
  struct stat named {};
  if (::fstat(file.get(), &locked) != 0) return system_error("look at", joined_path(folder_, name_), errno);
  if (::fstatat(folder->get(), name_.c_str(), &named, AT_SYMLINK_NOFOLLOW) != 0 || !same_file(locked, named))
    return false;  // its former holder has removed it meanwhile
  place_ = std::move(*folder);
  file_ = std::move(file);
  take_over_made();
  return true;
}

/// A killed holder left the file with a list of the folders that it had made: they are removed with this one.
void LockFile::take_over_made() {
  std::string left(kMostLeft, '\0');
  const ssize_t got = ::pread(file_.get(), left.data(), left.size(), 0);
  left.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  std::istringstream lines(left);
  for (std::string line; std::getline(lines, line);)
    if ((folder_ + "/").starts_with(line + "/") && !line.empty()) made_.push_back(line);
  std::ranges::sort(made_, {}, &std::string::size);  // outermost first
  (void)write_down({});                              // on failure they are left behind
}

/// Writes the folders that were made, a line each, and the note.
bool LockFile::write_down(const std::string& note) const {
  std::string text;
  for (const std::string& folder : made_) text += folder + "\n";
  if (!note.empty()) text += kNote + note.substr(0, std::min(note.find('\n'), kLongestNote)) + "\n";
  return ::ftruncate(file_.get(), 0) == 0 && ::pwrite(file_.get(), text.data(), text.size(), 0) >= 0;
}

void LockFile::note(const std::string& line) const { (void)write_down(line); }

std::string LockFile::noted(const RootDir& root, const std::string& folder, const std::string& name) {
  const auto text = read_regular(root, joined_path(folder, name), kMostLeft);
  std::istringstream lines(text ? *text : std::string());
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(kNote)) return line.substr(kNote.size());
  return {};
}

Result<LockFile> LockFile::take(const RootDir& root, const std::string& folder, const std::string& name) {
  LockFile lock(root, folder, name);
  for (int i = 0; i < kTries; ++i) {
    const auto taken = lock.try_once();
    if (taken && *taken) return lock;
    if (taken) continue;
    lock.remove_made();
    return taken.error();
  }
  const std::string path = joined_path(folder, name);
  return Error{ErrorCode::locked,
               path + " is repeatedly created and removed by other processes",
               path,
               "wait until no other process runs slipway on this machine, then run the same command again",
               {}};
}

void LockFile::remove_made() const {
  for (std::size_t left = made_.size(); left > 0; --left)  // innermost first
    if (const auto parent = root_.parent_of(made_[left - 1]))
      (void)::unlinkat(parent->first.get(), parent->second.c_str(), AT_REMOVEDIR);
}

LockFile::~LockFile() {
  if (!file_) return;
  (void)::unlinkat(place_.get(), name_.c_str(), 0);
  remove_made();
}

std::string LockFile::other_holder(const RootDir& root, const std::string& folder, const std::string& name) {
  const auto found = root.open_at(joined_path(folder, name), O_PATH | O_NOFOLLOW);
  if (!found) return {};
  const std::string holder = flock_holder(found->get());
  if (holder.empty()) return {};
  // The list has inode numbers, which another file system may use as well: where the file can be opened, test the lock.
  const auto file = root.open_at(joined_path(folder, name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  return file && ::flock(file->get(), LOCK_SH | LOCK_NB) == 0 ? std::string() : holder;
}

}  // namespace slipway::base
