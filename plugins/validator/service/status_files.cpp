// SPDX-License-Identifier: Apache-2.0
#include "validator/service/status_files.hpp"

#include <cerrno>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <slipway/regular_file.hpp>

#include "base/write/lock_file.hpp"
#include "base/write/new_file.hpp"

namespace slipway::validator {
namespace {

/// Pods write in that folder too, so that the name may belong to another file at the time of reading.
bool is_right(int folder, const std::string& name, const StatusFile& wanted) {
  struct stat info {};
  if (::fstatat(folder, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) return false;
  if (!S_ISREG(info.st_mode) || (info.st_mode & 07777U) != wanted.mode) return false;
  if (static_cast<std::size_t>(info.st_size) != wanted.content.size()) return false;
  if (wanted.content.empty()) return true;
  const auto file = open_regular(folder, name, name, O_NOFOLLOW);
  return file && read_all(file->get(), name, wanted.content.size()).value_or("") == wanted.content;
}

Status write(int folder, const std::string& name, const StatusFile& wanted) {
  return base::write_and_rename(folder, name + base::kNewSuffix, name, name, base::NewFile::ours(wanted.mode),
                                [&](int fd) { return base::write_all(fd, wanted.content, name); });
}

}  // namespace

Status StatusFiles::show(const std::map<std::string, StatusFile>& wanted,
                         const std::vector<std::string>& looked_after) {
  SLIPWAY_CHECK(base::make_folders(root_, folder_));
  SLIPWAY_TRY(folder, root_.open_at(folder_, O_RDONLY | O_DIRECTORY));
  for (const std::string& name : looked_after)
    if (!wanted.contains(name) && ::unlinkat(folder.get(), name.c_str(), 0) != 0 && errno != ENOENT)
      return system_error("remove", folder_ + "/" + name, errno);
  for (const auto& [name, file] : wanted)
    if (!is_right(folder.get(), name, file)) SLIPWAY_CHECK(write(folder.get(), name, file));
  return {};
}

}  // namespace slipway::validator
