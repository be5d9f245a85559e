// SPDX-License-Identifier: Apache-2.0
#include "validator/service/status_files.hpp"

#include <array>
#include <cerrno>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <slipway/regular_file.hpp>

namespace slipway::validator {
namespace {

/// Pods write in that folder as well, so that by the time of reading something else may have the name.
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
  const std::string next = name + ".slipway-new";
  ::unlinkat(folder, next.c_str(), 0);
  const Fd file(::openat(folder, next.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file) return system_error("write", next, errno);
  const bool written = ::write(file.get(), wanted.content.data(), wanted.content.size()) ==
                           static_cast<ssize_t>(wanted.content.size()) &&
                       ::fchmod(file.get(), wanted.mode) == 0;
  if (written && ::renameat(folder, next.c_str(), folder, name.c_str()) == 0) return {};
  const int problem = errno;
  ::unlinkat(folder, next.c_str(), 0);
  return system_error("write", name, problem);
}

}  // namespace

/// Makes what is missing of its path.
Result<Fd> StatusFiles::open_folder() const {
  for (std::size_t slash = folder_.find('/', 1);; slash = folder_.find('/', slash + 1)) {
    const std::string part = folder_.substr(0, slash);
    SLIPWAY_TRY(parent, root_.parent_of(part));
    if (::mkdirat(parent.first.get(), parent.second.c_str(), 0755) != 0 && errno != EEXIST)
      return system_error("make", part, errno);
    if (slash == std::string::npos) break;
  }
  return root_.open_at(folder_, O_RDONLY | O_DIRECTORY);
}

Status StatusFiles::show(const std::map<std::string, StatusFile>& wanted,
                         const std::vector<std::string>& looked_after) {
  SLIPWAY_TRY(folder, open_folder());
  for (const std::string& name : looked_after)
    if (!wanted.contains(name) && ::unlinkat(folder.get(), name.c_str(), 0) != 0 && errno != ENOENT)
      return system_error("remove", folder_ + "/" + name, errno);
  for (const auto& [name, file] : wanted)
    if (!is_right(folder.get(), name, file)) SLIPWAY_CHECK(write(folder.get(), name, file));
  return {};
}

}  // namespace slipway::validator
