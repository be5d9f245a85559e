// SPDX-License-Identifier: Apache-2.0
#include "deviceplugin/service/grpc/file_id.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

namespace slipway::deviceplugin {
namespace {

std::optional<FileId> id_of(int folder, const char* name, int flags) {
  struct statx status {};
  if (::statx(folder, name, flags, STATX_INO | STATX_BTIME | STATX_CTIME, &status) != 0) return std::nullopt;
  constexpr std::int64_t kNanoseconds = 1'000'000'000;
  const statx_timestamp& made = (status.stx_mask & STATX_BTIME) != 0 ? status.stx_btime : status.stx_ctime;
  return FileId{::makedev(status.stx_dev_major, status.stx_dev_minor), status.stx_ino,
                made.tv_sec * kNanoseconds + made.tv_nsec};
}

}  // namespace

std::optional<FileId> file_id(const RootDir& root, const std::string& path) {
  const auto file = root.open_at(path, O_PATH);
  if (!file) return std::nullopt;
  return id_of(file->get(), "", AT_EMPTY_PATH);
}

std::optional<FileId> file_id_at(int folder, const std::string& name) {
  return id_of(folder, name.c_str(), AT_SYMLINK_NOFOLLOW);
}

}  // namespace slipway::deviceplugin
