// SPDX-License-Identifier: Apache-2.0
#include "core/engine/packages/compiled_cache.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <string_view>
#include <tuple>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <slipway/fd.hpp>
#include <slipway/regular_file.hpp>
#include <slipway/root_dir.hpp>
#include <slipway/trusted_owner.hpp>

#include "base/digest/digest.hpp"
#include "base/write/new_file.hpp"
#include "base/write/tree.hpp"
#include "core/action/store/store.hpp"
#include "core/engine/packages/compiled_key.hpp"
#include "core/host/files.hpp"

namespace slipway::core {
namespace {

constexpr const char* kRecord = "entry.json";
constexpr std::size_t kMostOfRecord = std::size_t{16} << 20U;
constexpr std::time_t kDay = 86'400;

bool is_ours(const struct stat& info) { return is_trusted_owner(info.st_uid) && (info.st_mode & 022U) == 0; }

Error not_ours(const std::string& path) {
  return Error{ErrorCode::denied,
               "users other than root and you may write to " + path,
               path,
               "remove it, or take write access away from other users (`chown`, `chmod go-w`)",
               {}};
}

/// Opens a folder that only this user and root can change. Errors: `not_found`, `denied`; `invalid` it is a link, or
/// not a folder.
Result<Fd> open_ours(int parent, const std::string& name, const std::string& path, int flags) {
  Fd folder(::openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | flags));
  if (!folder && (errno == ENOTDIR || errno == ELOOP))
    return Error{ErrorCode::invalid, path + " is a link, or not a folder", path, "remove it", {}};
  if (!folder) return system_error("open", path, errno);
  struct stat info {};
  if (::fstat(folder.get(), &info) != 0) return system_error("read", path, errno);
  if (!is_ours(info)) return not_ours(path);
  return folder;
}

/// Opens CACHE, which may be a link, and in it CACHE/compiled.
Result<Fd> open_compiled(const std::string& cache, const std::string& path, bool make) {
  SLIPWAY_TRY(above, open_ours(AT_FDCWD, cache, cache, 0));
  if (make && ::mkdirat(above.get(), "compiled", 0700) != 0 && errno != EEXIST)
    return system_error("make the folder", path, errno);
  return open_ours(above.get(), "compiled", path, O_NOFOLLOW);
}

/// Checks that a tree has files and folders only, all of them ours, and returns the size of its files.
Result<std::uint64_t> check_tree(int folder, const std::string& path) {
  std::uint64_t bytes = 0;
  const auto enter = [&](const base::TreeEntry& entry) -> Result<bool> {
    const std::string name = path + "/" + entry.path;
    if (!S_ISREG(entry.info.st_mode) && !S_ISDIR(entry.info.st_mode))
      return Error{ErrorCode::invalid, name + " is neither a file nor a folder", name, "remove it", {}};
    if (!is_ours(entry.info)) return not_ours(name);
    if (S_ISREG(entry.info.st_mode)) bytes += static_cast<std::uint64_t>(entry.info.st_size);
    return true;
  };
  SLIPWAY_CHECK(base::walk_tree(folder, path, {.enter = enter}));
  return bytes;
}

Error damaged(const std::string& path, const std::string& why) {
  return Error{ErrorCode::corrupt, "the compiled modules in " + path + " are damaged: " + why, path, {}, {}};
}

Result<Json> read_record(int folder, const std::string& path) {
  SLIPWAY_TRY(file, open_regular(folder, kRecord, path + "/" + kRecord, O_NOFOLLOW));
  SLIPWAY_TRY(text, read_all(file.get(), path + "/" + kRecord, kMostOfRecord));
  Json record = parse_foreign(text);
  const auto has_text = [&](const char* member) { return record.contains(member) && record[member].is_string(); };
  if (!record.is_object() || !has_text("name") || !has_text("list") || !record.contains("key") ||
      !record["key"].is_object())
    return damaged(path, std::string(kRecord) + " lacks a member that slipway writes");
  return record;
}

Status sync_all(int folder, const std::string& path) {
  const auto sync = [&](int parent, const std::string& name, int flags) -> Status {
    const Fd file(::openat(parent, name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | flags));
    if (!file || ::fsync(file.get()) != 0) return system_error("write", path + "/" + name, errno);
    return {};
  };
  SLIPWAY_CHECK(base::walk_tree(
      folder, path,
      {.enter = [&](const base::TreeEntry& entry) -> Result<bool> {
         if (S_ISREG(entry.info.st_mode)) SLIPWAY_CHECK(sync(entry.folder, entry.name, 0));
         return true;
       },
       .leave = [&](const base::TreeEntry& entry) { return sync(entry.folder, entry.name, O_DIRECTORY); }}));
  return ::fsync(folder) == 0 ? Status{} : Status(system_error("write", path, errno));
}

/// Gives a complete entry its name. Readers find the former entry, for a moment no entry, then this one.
Status put_in_place(int compiled, const std::string& fresh, const std::string& name, const std::string& path) {
  const auto rename = [&](const std::string& from, const std::string& to) {
    return ::renameat(compiled, from.c_str(), compiled, to.c_str()) == 0;
  };
  constexpr int kAttempts = 10;  // each of them lost to another process that keeps the same entry
  for (int i = 0; i < kAttempts; ++i) {
    if (rename(fresh, name)) {
      if (::fsync(compiled) != 0) return system_error("write", path, errno);
      return {};
    }
    if (errno != EEXIST && errno != ENOTEMPTY && errno != ENOTDIR) return system_error("rename", path, errno);
    const std::string former = base::unique_name(".old");
    if (!rename(name, former) && errno != ENOENT) return system_error("rename", path, errno);
    SLIPWAY_CHECK(base::remove_tree(compiled, former, path));
  }
  return Error{ErrorCode::busy, "other processes keep replacing " + path, path, "run the same command again", {}};
}

bool is_left_behind(std::string_view name) { return name.starts_with(".new-") || name.starts_with(".old-"); }

bool earlier(const CompiledEntry& a, const CompiledEntry& b) {
  return std::tie(a.used.tv_sec, a.used.tv_nsec, a.folder) < std::tie(b.used.tv_sec, b.used.tv_nsec, b.folder);
}

}  // namespace

bool CompiledCache::absent() const {
  struct stat info {};
  return ::lstat(path_.c_str(), &info) != 0;
}

bool CompiledCache::has(const Json& key) const {
  const std::string name = compiled_name(key);
  const auto compiled = open_compiled(cache_, path_, false);
  if (!compiled) return false;
  const auto folder = open_ours(compiled->get(), name, path_ + "/" + name, O_NOFOLLOW);
  if (!folder) return false;
  const auto record = read_record(folder->get(), path_ + "/" + name);
  return record && (*record)["key"] == key;
}

Result<bool> CompiledCache::take(const Json& key, const std::string& into) const {
  const std::string name = compiled_name(key);
  const std::string path = path_ + "/" + name;
  const auto compiled = open_compiled(cache_, path_, false);
  if (!compiled && compiled.error().code == ErrorCode::not_found) return false;
  if (!compiled) return compiled.error();
  const auto folder = open_ours(compiled->get(), name, path, O_NOFOLLOW);
  if (!folder && folder.error().code == ErrorCode::not_found) return false;
  if (!folder) return folder.error();
  SLIPWAY_TRY(size, check_tree(folder->get(), path));
  (void)size;
  SLIPWAY_TRY(record, read_record(folder->get(), path));
  if (record["key"] != key) return damaged(path, std::string(kRecord) + " describes other modules");
  const auto copy = [&]() -> Status {
    SLIPWAY_CHECK(copy_tree(path + "/files", into));
    SLIPWAY_TRY(tree, RootDir::open(into));
    SLIPWAY_TRY(list, list_tree(tree));  // of the copy: what is used is what was compared
    const std::vector<std::string> problems = compare_lists(record["list"].get<std::string>(), list);
    return problems.empty() ? Status{} : Status(damaged(path, problems.front()));
  };
  if (const Status copied = copy(); !copied) {
    (void)base::remove_tree(into).ok();
    return copied.error();
  }
  const timespec now_twice[] = {{0, UTIME_NOW}, {0, UTIME_NOW}};
  (void)::futimens(folder->get(), now_twice);
  return true;
}

Status CompiledCache::keep(const Json& key, const std::string& name, const std::string& made) const {
  SLIPWAY_TRY(compiled, open_compiled(cache_, path_, true));
  const std::string fresh = base::unique_name(".new");
  const std::string path = path_ + "/" + fresh;
  if (::mkdirat(compiled.get(), fresh.c_str(), 0700) != 0) return system_error("make the folder", path, errno);
  bool too_large = false;
  const auto fill = [&]() -> Status {
    SLIPWAY_TRY(folder, open_ours(compiled.get(), fresh, path, O_NOFOLLOW));
    SLIPWAY_CHECK(copy_tree(made, path + "/files"));
    SLIPWAY_TRY(bytes, check_tree(folder.get(), path));
    too_large = bytes > most_bytes_;
    if (too_large) return {};
    SLIPWAY_TRY(tree, RootDir::open(path + "/files"));
    SLIPWAY_TRY(list, list_tree(tree));
    const Json record{{"key", key}, {"name", name}, {"list", list}};
    SLIPWAY_CHECK(base::put_file(path + "/" + kRecord, pretty(record), base::NewFile::ours(0600)));
    SLIPWAY_CHECK(sync_all(folder.get(), path));
    return put_in_place(compiled.get(), fresh, compiled_name(key), path_ + "/" + compiled_name(key));
  };
  const Status filled = fill();
  if (!filled || too_large) (void)base::remove_tree(compiled.get(), fresh, path).ok();
  if (!filled || too_large) return filled;
  return make_room(compiled_name(key));
}

Result<std::vector<CompiledEntry>> CompiledCache::entries() const {
  std::vector<CompiledEntry> found;
  const auto compiled = open_compiled(cache_, path_, false);
  if (!compiled && compiled.error().code == ErrorCode::not_found) return found;
  if (!compiled) return compiled.error();
  SLIPWAY_TRY(names, folder_names(compiled->get(), path_));
  for (const std::string& name : names) {
    if (!is_left_behind(name) && base::digest_hex("sha256:" + name).empty()) continue;
    CompiledEntry entry{name, {}, {}, 0, {}};
    const std::string path = path_ + "/" + name;
    const auto folder = open_ours(compiled->get(), name, path, O_NOFOLLOW);
    struct stat info {};
    if (!folder || ::fstat(folder->get(), &info) != 0) continue;
    entry.used = info.st_mtim;
    const auto bytes = check_tree(folder->get(), path);
    entry.bytes = bytes.value_or(0);
    const auto record = read_record(folder->get(), path);
    if (bytes && record && !is_left_behind(name)) {
      entry.name = (*record)["name"].get<std::string>();
      const Json source = (*record)["key"].value("source", Json());
      entry.source = source.is_string() ? base::digest_hex(source.get<std::string>()) : "";
    }
    found.push_back(std::move(entry));
  }
  std::ranges::sort(found, earlier);
  return found;
}

Result<std::vector<CompiledEntry>> CompiledCache::unneeded(const std::set<std::string>& needed, std::time_t now) const {
  SLIPWAY_TRY(all, entries());
  std::vector<CompiledEntry> unneeded;
  std::vector<CompiledEntry> rest;
  std::uint64_t bytes = 0;
  for (CompiledEntry& entry : all) {
    const bool old = entry.used.tv_sec < now - kDay;
    const bool damaged = entry.source.empty() && !is_left_behind(entry.folder);
    const bool goes = damaged || (old && !needed.contains(entry.source));
    if (!goes) bytes += entry.bytes;
    (goes ? unneeded : rest).push_back(std::move(entry));
  }
  for (CompiledEntry& entry : rest) {
    if (bytes <= most_bytes_) break;
    if (is_left_behind(entry.folder)) continue;  // another process may be writing it
    bytes -= entry.bytes;
    unneeded.push_back(std::move(entry));
  }
  return unneeded;
}

Status CompiledCache::remove(const CompiledEntry& entry) const {
  SLIPWAY_TRY(compiled, open_compiled(cache_, path_, false));
  return base::remove_tree(compiled.get(), entry.folder, path_of(entry));
}

Status CompiledCache::make_room(const std::string& keeps) const {
  SLIPWAY_TRY(all, entries());
  std::uint64_t bytes = 0;
  for (const CompiledEntry& entry : all) bytes += entry.bytes;
  for (const CompiledEntry& entry : all) {
    if (bytes <= most_bytes_) break;
    if (entry.folder == keeps || is_left_behind(entry.folder)) continue;
    SLIPWAY_CHECK(remove(entry));
    bytes -= entry.bytes;
  }
  return {};
}

}  // namespace slipway::core
