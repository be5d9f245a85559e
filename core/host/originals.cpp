// SPDX-License-Identifier: Apache-2.0
#include "core/host/originals.hpp"

#include <cerrno>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <slipway/trusted_owner.hpp>

#include "base/digest/digest.hpp"
#include "base/write/new_file.hpp"
#include "core/host/files.hpp"
#include "core/host/root_fs.hpp"

namespace slipway::core {
namespace {

constexpr unsigned kFolderMode = 0700;
constexpr unsigned kFileMode = 0600;

std::string path_of(const std::string& hex) { return std::string(Originals::kFolder) + "/" + hex; }

/// Slipway stores no larger originals, so a larger file need not be read to its end.
bool is_too_large(const Fd& file) {
  struct stat info {};
  return ::fstat(file.get(), &info) == 0 && info.st_size > Originals::kLargest;
}

}  // namespace

Result<std::string> Originals::keep(int fd, std::string_view name) {
  const off_t start = ::lseek(fd, 0, SEEK_CUR);
  SLIPWAY_TRY(digest, base::digest_of_file(fd, name));
  const std::string path = path_of(base::digest_hex(digest));
  if (open(digest)) return digest;
  if (::lseek(fd, start, SEEK_SET) < 0) return system_error("read", name, errno);

  SLIPWAY_CHECK(root_.make_directory(kFolder, kFolderMode));
  SLIPWAY_TRY(place, root_.root().parent_of(path));
  const base::NewFile wanted{kFileMode, ::geteuid(), ::getegid(), root_.now_ns(), {}};
  SLIPWAY_CHECK(base::write_and_rename(place.first.get(), place.second + base::kNewSuffix, place.second, path, wanted,
                                       [&](int to) { return copy_all(fd, to, name); }));
  root_.note_changed(kFolder);
  return digest;
}

Result<Fd> Originals::open(const std::string& digest) const {
  const std::string path = path_of(base::digest_hex(digest));
  SLIPWAY_CHECK(check_only_ours(root_.root(), path));
  auto file = open_regular(root_.root(), path, O_NOFOLLOW);
  if (!file && file.error().code != ErrorCode::not_found && file.error().code != ErrorCode::invalid) return file;
  const bool is_likely = file && !is_too_large(*file);
  const auto found = is_likely ? base::digest_of_file(file->get(), path) : Result<std::string>(std::string());
  if (found && *found == digest && ::lseek(file->get(), 0, SEEK_SET) == 0) return file;
  return Error{
      ErrorCode::corrupt,
      "the copy of the original, " + path + ", is " + (file ? "damaged" : "gone") + ", so the file cannot be restored",
      path,
      "run `slipway repair`: it names the file, and a later removal skips it",
      {}};
}

Result<std::vector<std::string>> Originals::unused(const std::set<std::string>& digests_in_use) const {
  std::vector<std::string> paths;
  auto folder = root_.root().open_at(kFolder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);  // never a folder behind a link
  if (!folder && folder.error().code == ErrorCode::not_found) return paths;
  if (!folder) return folder.error();
  SLIPWAY_TRY(names, folder_names(folder->get(), kFolder));
  for (const std::string& name : names)
    if (!digests_in_use.contains("sha256:" + name)) paths.push_back(path_of(name));
  return paths;
}

Status Originals::drop_unused(const std::set<std::string>& digests_in_use) {
  SLIPWAY_TRY(paths, unused(digests_in_use));
  for (const std::string& path : paths) SLIPWAY_CHECK(root_.remove(path));
  const auto folder = root_.root().open_at(kFolder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (!folder) return folder.error().code == ErrorCode::not_found ? Status{} : Status(folder.error());
  SLIPWAY_TRY(left, folder_names(folder->get(), kFolder));
  return left.empty() ? root_.remove(kFolder) : Status{};
}

void collect_digests(const Json& value, std::set<std::string>& digests) {
  if (value.is_string() && !base::digest_hex(value.get<std::string>()).empty())
    digests.insert(value.get<std::string>());
  if (!value.is_structured()) return;
  for (const Json& member : value) collect_digests(member, digests);
}

}  // namespace slipway::core
