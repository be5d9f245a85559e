// SPDX-License-Identifier: Apache-2.0
#include "app/garbage.hpp"

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <set>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <slipway/regular_file.hpp>
#include <slipway/trusted_owner.hpp>

#include "base/digest/digest.hpp"
#include "base/write/tree.hpp"
#include "core/action/action_kind.hpp"
#include "core/action/store/store.hpp"
#include "core/engine/model/lockfile.hpp"
#include "core/engine/records/unfinished_work.hpp"
#include "core/engine/records/unproven_change.hpp"
#include "core/host/files.hpp"
#include "core/host/originals.hpp"

namespace slipway::app {
namespace {

/// Counts bytes in the regular files that RootFs::remove_tree() would remove under this name: it follows no link, and
/// enters no other mount. Skips trees that are nested too deep for a walk.
std::uint64_t bytes_below(const RootDir& root, const std::string& path) {
  const auto place = root.parent_of(path);
  struct stat above {};
  struct stat info {};
  if (!place || ::fstat(place->first.get(), &above) != 0 ||
      ::fstatat(place->first.get(), place->second.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0)
    return 0;
  if (S_ISREG(info.st_mode)) return static_cast<std::uint64_t>(info.st_size);
  const Fd folder(::openat(place->first.get(), place->second.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder || info.st_dev != above.st_dev) return 0;
  std::uint64_t bytes = 0;
  (void)base::walk_tree(folder.get(), path, {.enter = [&](const base::TreeEntry& entry) -> Result<bool> {
                          if (S_ISREG(entry.info.st_mode)) bytes += static_cast<std::uint64_t>(entry.info.st_size);
                          return entry.info.st_dev == above.st_dev;
                        }})
      .ok();
  return bytes;
}

Status check_nothing_is_open(core::Session& session) {
  if (!core::journal_exists(session)) return {};
  return Error{ErrorCode::conflict,
               "an apply of this root was cut off, so nothing is deleted: undoing that apply may need the old data",
               std::string(core::kStateDir),
               "run `slipway apply`, which finishes or undoes that apply; then run `slipway gc` again",
               {}};
}

Result<std::vector<int>> old_generations(core::StateDir& state) {
  SLIPWAY_TRY(current, state.current());
  SLIPWAY_TRY(numbers, state.generations());
  SLIPWAY_TRY(unproven, state.unproven());
  std::vector<int> old;
  for (std::size_t i = 0; i + kGenerationsKept < numbers.size(); ++i)
    if ((!current || numbers[i] != current->number) && !(unproven.waits() && numbers[i] == unproven.before))
      old.push_back(numbers[i]);
  return old;
}

/// Collects every digest in a lock's text, as the file names of blobs.
void collect_blobs(const std::string& text, std::set<std::string>& names) {
  constexpr std::string_view kPrefix = "sha256:";
  constexpr std::size_t kDigits = 64;
  for (std::size_t at = text.find(kPrefix); at != std::string::npos; at = text.find(kPrefix, at + 1))
    names.insert(text.substr(at + kPrefix.size(), kDigits));
}

/// The blobs of a package layout have the same names as downloads: a layout named by mistake would lose them.
Status expect_no_layout(const RootDir& cache) {
  for (const std::string file : {"oci-layout", "index.json"})
    if (cache.open_at(file, O_PATH | O_NOFOLLOW))
      return Error{ErrorCode::invalid,
                   cache.folder() + " is a package layout, not a cache: it has the file " + file +
                       ", so nothing in it is removed",
                   cache.folder(),
                   "name the folder of the downloads with `slipway gc --cache DIR`; without --cache, gc uses this "
                   "machine's own cache",
                   {}};
  return {};
}

/// Any user who may write to the cache decides what is removed there.
Status expect_only_ours(const RootDir& cache) {
  const Status ours = check_only_ours(cache, "/blobs/sha256");
  if (ours || ours.error().code != ErrorCode::denied) return ours;
  const std::string& place = ours.error().where;
  return Error{
      ErrorCode::denied,
      "users other than root and you may write to " + place + ", so nothing in the cache " + cache.folder() +
          " is removed",
      place,
      "see who owns the files there (`ls -la " + place +
          "`); take write access away from other users (`chown`, `chmod go-w`), or run `slipway gc` as their owner",
      {}};
}

/// Opens the folder of downloads (artifact/registry/cache.hpp) without following a link below the cache; empty when
/// nothing was downloaded yet.
Result<Fd> open_downloads(const std::string& folder) {
  const auto cache = RootDir::open(folder);
  if (!cache) return cache.error().code == ErrorCode::not_found ? Result<Fd>(Fd()) : cache.error();
  SLIPWAY_CHECK(expect_no_layout(*cache));
  SLIPWAY_CHECK(expect_only_ours(*cache));
  Fd opened;
  std::string path = folder;
  for (const std::string name : {"blobs", "sha256"}) {
    path += "/" + name;
    const int above = opened ? opened.get() : cache->fd();
    Fd next(::openat(above, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!next && errno == ENOENT) return Fd();
    if (!next && (errno == ENOTDIR || errno == ELOOP))
      return Error{ErrorCode::invalid,
                   path + " is a link, or not a folder, so nothing in the cache is removed",
                   path,
                   "find out who made that link or file, and remove it; to keep the cache elsewhere, make " + folder +
                       " itself a link",
                   {}};
    if (!next) return system_error("open", path, errno);
    opened = std::move(next);
  }
  return opened;
}

/// Returns the hex digits of a download's digest, from its name: HEX, or HEX.partial while it is incomplete. Empty for
/// any other name.
std::string hex_of_download(std::string_view name) {
  constexpr std::string_view kPartial = ".partial";
  if (name.ends_with(kPartial)) name.remove_suffix(kPartial.size());
  return base::digest_hex("sha256:" + std::string(name));
}

/// Finds downloads that nothing refers to, that are more than a day old, and that belong to no other user.
Status find_downloads(const core::Session& session, const std::set<std::string>& needed, Garbage& garbage) {
  constexpr std::time_t kDay = 86'400;
  const std::string path = session.cache() + "/blobs/sha256";
  SLIPWAY_TRY(folder, open_downloads(session.cache()));
  if (!folder) return {};
  SLIPWAY_TRY(names, core::folder_names(folder.get(), path));
  const std::time_t newest = std::time(nullptr) - kDay;
  for (const std::string& name : names) {
    const std::string hex = hex_of_download(name);
    if (hex.empty() || needed.contains(hex)) continue;
    struct stat info {};
    if (::fstatat(folder.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(info.st_mode)) continue;
    if (info.st_mtim.tv_sec > newest || !is_trusted_owner(info.st_uid)) continue;
    garbage.cache.push_back(path + "/" + name);
    garbage.bytes += static_cast<std::uint64_t>(info.st_size);
  }
  garbage.downloads = std::move(folder);
  return {};
}

/// Finds compiled modules whose source nothing refers to, and the least recently used ones beyond the limit.
Status find_compiled(const core::Session& session, const std::set<std::string>& needed, Garbage& garbage) {
  SLIPWAY_TRY(compiled, core::CompiledCache(session.cache()).unneeded(needed, std::time(nullptr)));
  for (const core::CompiledEntry& entry : compiled) garbage.bytes += entry.bytes;
  garbage.compiled = std::move(compiled);
  return {};
}

/// Finds what is in the cache except what the remaining generations and the root's lock may need again.
Status find_in_cache(core::Session& session, Garbage& garbage) {
  constexpr const char* kLock = "/etc/slipway/slipway.lock";
  const core::SessionOptions& options = session.options();
  if (options.cache.empty() && (session.host_config().root != "/" || !session.host_config().live)) return {};
  std::set<std::string> needed;
  SLIPWAY_TRY(numbers, session.state().generations());
  for (const int number : numbers) {
    if (std::ranges::count(garbage.generations, number) != 0) continue;
    SLIPWAY_TRY(generation, session.state().generation(number));
    collect_blobs(canonical(core::to_json(generation)), needed);
  }
  collect_blobs(read_regular(session.root().root(), kLock, core::Lock::kMostBytes).value_or(""), needed);
  SLIPWAY_CHECK(find_downloads(session, needed, garbage));
  return find_compiled(session, needed, garbage);
}

}  // namespace

Result<Garbage> find_garbage(core::Session& session) {
  core::StateDir& state = session.state();
  SLIPWAY_CHECK(state.check_whole());
  SLIPWAY_CHECK(check_nothing_is_open(session));
  Garbage garbage;
  SLIPWAY_TRY(generations, old_generations(state));
  garbage.generations = std::move(generations);
  SLIPWAY_TRY(owned, state.ownerships());
  std::set<std::string> stores;
  std::set<std::string> digests;
  for (const auto& [name, ownership] : owned)
    for (const core::Owned& item : ownership.items) {
      if (const auto kind = core::action_kind(item.action.kind()); kind) stores.insert((*kind)->store(item.action));
      core::collect_digests(item.original, digests);
      core::collect_digests(item.replaced, digests);
    }
  stores.erase("");  // from kinds that have no store
  for (const std::string& store : stores) {
    SLIPWAY_TRY(kept, core::kept_sets(state, store));
    SLIPWAY_TRY(layers, core::unused_layers(session.root(), store, kept));
    garbage.paths.insert(garbage.paths.end(), layers.begin(), layers.end());
  }
  SLIPWAY_TRY(originals, core::Originals(session.root()).unused(digests));
  garbage.paths.insert(garbage.paths.end(), originals.begin(), originals.end());
  SLIPWAY_CHECK(find_in_cache(session, garbage));
  for (const std::string& path : garbage.paths) garbage.bytes += bytes_below(session.root().root(), path);
  return garbage;
}

Status remove_garbage(core::Session& session, const Garbage& garbage) {
  core::StateDir& state = session.state();
  for (const int number : garbage.generations) SLIPWAY_CHECK(state.forget_generation(number));
  for (const std::string& path : garbage.paths) SLIPWAY_CHECK(session.root().remove_tree(path));
  SLIPWAY_CHECK(core::drop_verified(session));
  for (const std::string& file : garbage.cache) {
    const std::string name = file.substr(file.rfind('/') + 1);
    if (::unlinkat(garbage.downloads.get(), name.c_str(), 0) != 0 && errno != ENOENT)
      return system_error("remove", file, errno);
  }
  const core::CompiledCache compiled(session.cache());
  for (const core::CompiledEntry& entry : garbage.compiled) SLIPWAY_CHECK(compiled.remove(entry));
  SLIPWAY_CHECK(state.tidy());
  return state.leave();
}

}  // namespace slipway::app
