// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <ctime>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <slipway/write/lock_file.hpp>
#include <slipway/write/new_file.hpp>

namespace slipway {
namespace {

constexpr const char* kNew = ".slipway-new";
constexpr unsigned kPermissionBits = 07777;

std::int64_t now_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

Error not_replaceable(const std::string& path, const std::string& why, const std::string& next) {
  return Error{ErrorCode::conflict, path + " cannot be replaced: " + why, path, next, {}};
}

/// What the new file takes over of the former one.
Result<NewFile> like(int parent, const std::string& name, const std::string& path) {
  NewFile wanted{0644, ::geteuid(), ::getegid(), now_ns(), {}};
  struct stat former {};
  if (::fstatat(parent, name.c_str(), &former, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno == ENOENT) return wanted;
    return system_error("look at", path, errno);
  }
  if (!S_ISREG(former.st_mode)) return not_replaceable(path, "it is no regular file", "move it out of the way");
  wanted.mode = former.st_mode & kPermissionBits;
  wanted.uid = former.st_uid;
  wanted.gid = former.st_gid;
  wanted.attributes = read_attributes(parent, name);
  return wanted;
}

Status write_synced(int fd, std::string_view content, const std::string& path) {
  SLIPWAY_CHECK(write_all(fd, content, path));
  if (::fsync(fd) != 0) return system_error("write", path, errno);
  return {};
}

Status sync_folder(const RootDir& root, const std::string& path) {
  const auto slash = path.rfind('/');
  const std::string folder = slash == 0 || slash == std::string::npos ? "/" : path.substr(0, slash);
  SLIPWAY_TRY(fd, root.open_at(folder, O_RDONLY | O_DIRECTORY));
  if (::fsync(fd.get()) != 0) return system_error("write", folder, errno);
  return {};
}

}  // namespace

Status replace_file(const RootDir& root, const std::string& path, std::string_view content) {
  const std::string real = root.resolve(path).value_or(path);
  if (const auto slash = real.rfind('/'); slash != 0 && slash != std::string::npos)
    SLIPWAY_CHECK(make_folders(root, real.substr(0, slash)));
  SLIPWAY_TRY(place, root.parent_of(real));
  const auto& [parent, name] = place;
  SLIPWAY_TRY(wanted, like(parent.get(), name, real));
  const std::string fresh = name + kNew;
  const auto fill = [&](int fd) { return write_synced(fd, content, real); };
  SLIPWAY_CHECK(write_new_file(parent.get(), fresh, real, wanted, fill));
  if (::renameat(parent.get(), fresh.c_str(), parent.get(), name.c_str()) != 0) {
    const int number = errno;
    ::unlinkat(parent.get(), fresh.c_str(), 0);
    if (number == EBUSY)
      return not_replaceable(real, "something is mounted on it", "change it where it is mounted from");
    return system_error("replace", real, number);
  }
  return sync_folder(root, real);
}

}  // namespace slipway
