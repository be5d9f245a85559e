// SPDX-License-Identifier: Apache-2.0
#include <cerrno>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <slipway/regular_file.hpp>

#include "base/write/lock_file.hpp"
#include "base/write/new_file.hpp"
#include "gfd/service.hpp"

namespace slipway::gfd {
namespace {

constexpr mode_t kMode = 0644;

std::string name_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

bool holds(const RootDir& root, const std::string& path, const std::string& text) {
  const auto existing = read_regular(root, path, text.size(), O_NOFOLLOW);
  return existing && *existing == text;
}

/// Writes a new file in the folder `above` and gives it the name `path`. @return EXDEV: the two are on different file
/// systems
Result<int> write_and_rename(const RootDir& root, const std::string& above, const std::string& path,
                             const std::string& text) {
  SLIPWAY_TRY(from, root.open_at(above, O_PATH | O_DIRECTORY));
  SLIPWAY_TRY(to, root.parent_of(path));
  const std::string fresh = "." + to.second + ".slipway-" + std::to_string(::getpid());
  SLIPWAY_CHECK(base::write_new_file(from.get(), fresh, path, base::NewFile::ours(kMode),
                                     [&](int file) { return base::write_synced(file, text, path); }));
  if (::renameat(from.get(), fresh.c_str(), to.first.get(), to.second.c_str()) == 0) return 0;
  const int number = errno;
  ::unlinkat(from.get(), fresh.c_str(), 0);
  if (number == EXDEV) return EXDEV;
  return system_error("replace", path, number);
}

}  // namespace

Result<bool> write_feature_file(const RootDir& root, const std::string& path, const std::string& text) {
  if (holds(root, path, text)) return false;
  const std::string folder = base::folder_of(path);
  if (folder != "/") SLIPWAY_CHECK(base::make_folders(root, folder));
  // Uses the parent of the folder that links lead to, not the parent of a link.
  SLIPWAY_TRY(real, root.resolve(folder));
  const std::string file = (real == "/" ? "" : real) + "/" + name_of(path);
  // features.d may be a mount of its own in a container: then a hidden file inside it is used, which readers ignore.
  auto done = write_and_rename(root, base::folder_of(real), file, text);
  if (!done || *done == EXDEV) done = write_and_rename(root, real, file, text);
  if (!done) return done.error();
  if (const auto changed = root.open_at(real, O_RDONLY | O_DIRECTORY)) (void)::fsync(changed->get());
  return true;
}

}  // namespace slipway::gfd
