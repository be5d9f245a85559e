// SPDX-License-Identifier: Apache-2.0
#include "core/engine/root_lock.hpp"

#include <cerrno>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/journal/state_dir.hpp"

namespace slipway::core {
namespace {

constexpr const char* kLockFolder = "/run/slipway/lock";

Result<Fd> open_folder(const std::string& root) {
  Fd fd(::open(root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return fd ? Result<Fd>(std::move(fd)) : Result<Fd>(system_error("open", root, errno));
}

/// "root-2049-131.lock"
std::string lock_name(int folder) {
  struct stat info {};
  (void)::fstat(folder, &info);
  return "root-" + std::to_string(info.st_dev) + "-" + std::to_string(info.st_ino) + ".lock";
}

/// Returns the root whose /run contains the file.
Result<RootDir> place_of(const std::string& root, bool live) { return RootDir::open(live ? root : "/"); }

bool is_image_of_slash(const std::string& root, bool live) { return root == "/" && !live; }

/// True when the file cannot be created for a reason that only the machine's owner can have caused.
bool cannot_be_created(const Error& error) {
  return error.code == ErrorCode::denied || error.code == ErrorCode::read_only || error.code == ErrorCode::not_found;
}

Error busy(const std::string& root, std::vector<std::pair<std::string, std::string>> details) {
  return Error{ErrorCode::locked, "another slipway is changing this root", root,
               "wait until it has ended, then run the same command again", std::move(details)};
}

Status lock_folder(const Fd& folder, const std::string& root) {
  if (::flock(folder.get(), LOCK_EX | LOCK_NB) == 0) return {};
  if (errno != EWOULDBLOCK) return system_error("lock", root, errno);
  const std::string holder = base::flock_holder(folder.get());
  return busy(root, holder.empty() ? decltype(Error::details){} : decltype(Error::details){{"held", holder}});
}

/// Locks the root's state folder. Empty when there is none, or when other users may open it and so lock it.
Result<Fd> lock_state(const std::string& root) {
  SLIPWAY_TRY(inside, RootDir::open(root));
  auto folder = inside.open_at(kStateDir, O_RDONLY | O_DIRECTORY);
  struct stat info {};
  if (!folder || ::fstat(folder->get(), &info) != 0) return Fd();
  if (info.st_uid != ::geteuid() || (info.st_mode & 0077U) != 0) return Fd();
  SLIPWAY_CHECK(lock_folder(*folder, root));
  return folder;
}

}  // namespace

Result<RootLock> RootLock::take(const std::string& root, bool live) {
  SLIPWAY_TRY(folder, open_folder(root));
  RootLock lock;
  SLIPWAY_TRY(state, lock_state(root));
  lock.state_ = std::move(state);
  if (!is_image_of_slash(root, live)) {
    SLIPWAY_TRY(place, place_of(root, live));
    auto file = base::LockFile::take(place, kLockFolder, lock_name(folder.get()));
    if (file) {
      lock.file_.emplace(std::move(*file));
      return lock;
    }
    if (file.error().code == ErrorCode::locked) return busy(root, file.error().details);
    if (!cannot_be_created(file.error())) return std::move(file).error();
  }
  SLIPWAY_CHECK(lock_folder(folder, root));
  lock.folder_ = std::move(folder);
  return lock;
}

void RootLock::note(const std::string& line) const {
  if (file_) file_->note(line);
}

std::string RootLock::other_at_work(const std::string& root, bool live) {
  const std::string holder = other_holder(root, live);
  const auto folder = open_folder(root);
  const auto place = place_of(root, live);
  if (holder.empty() || !folder || !place) return holder;
  const std::string note = base::LockFile::noted(*place, kLockFolder, lock_name(folder->get()));
  return holder + (note.empty() ? "" : ", " + note);
}

std::string RootLock::other_holder(const std::string& root, bool live) {
  const auto folder = open_folder(root);
  const auto place = place_of(root, live);
  if (!folder || !place) return {};
  const std::string holder = base::LockFile::other_holder(*place, kLockFolder, lock_name(folder->get()));
  if (!holder.empty() || (::geteuid() == 0 && !is_image_of_slash(root, live))) return holder;
  // While no holder is named, the lock is not tested: taking the lock for a moment would fail an apply that starts
  // then.
  const std::string other = base::flock_holder(folder->get());
  return other.empty() || ::flock(folder->get(), LOCK_SH | LOCK_NB) == 0 ? std::string() : other;
}

}  // namespace slipway::core
