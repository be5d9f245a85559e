// SPDX-License-Identifier: Apache-2.0
#include "driver/build/kept_build.hpp"

#include <cerrno>
#include <filesystem>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <slipway/regular_file.hpp>

#include "base/write/new_file.hpp"

namespace slipway::driver {
namespace {

namespace fs = std::filesystem;

constexpr const char* kIdentity = "/made-from.json";
constexpr std::size_t kMostOfIdentity = std::size_t{16} << 20U;

}  // namespace

Result<KeptBuild> KeptBuild::open(const std::string& parent, const std::string& name) {
  const std::string folder = parent + "/" + name;
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return system_error("make", folder, errno);
  Fd lock(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat info {};
  const bool ours = lock && ::fstat(lock.get(), &info) == 0 && info.st_uid == ::geteuid() && (info.st_mode & 022) == 0;
  if (!ours)
    return Error{ErrorCode::denied,
                 "compiled modules would be kept in this folder, but other users may write to it",
                 folder,
                 "remove this folder, or name another folder for temporary files: --scratch DIR",
                 {}};
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0)
    return Error{ErrorCode::locked,
                 "another build of the same modules is under way",
                 folder,
                 "wait until that build has ended, or name another folder for temporary files: --scratch DIR",
                 {}};
  return KeptBuild(folder, std::move(lock));
}

KeptBuild::~KeptBuild() {
  if (lock_) (void)::rmdir(folder_.c_str());
}

bool KeptBuild::holds(const Json& identity) const {
  const auto text = read_regular(folder_ + kIdentity, kMostOfIdentity);
  return text && Json::parse(*text, nullptr, false) == identity && fs::is_directory(modules());
}

Status KeptBuild::complete(const Json& identity) const { return base::put_file(folder_ + kIdentity, pretty(identity)); }

void KeptBuild::discard() const {
  std::error_code ignored;
  fs::remove(folder_ + kIdentity, ignored);
  fs::remove_all(modules(), ignored);
}

void KeptBuild::remove() const {
  discard();
  std::error_code ignored;
  fs::remove(log(), ignored);
}

}  // namespace slipway::driver
