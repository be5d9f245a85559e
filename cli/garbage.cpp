// SPDX-License-Identifier: Apache-2.0
#include "cli/garbage.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <set>

#include <slipway/regular_file.hpp>

#include "core/action/action_kind.hpp"
#include "core/action/store/store.hpp"
#include "core/engine/apply/recovery.hpp"
#include "core/engine/plan/lockfile.hpp"
#include "core/host/originals.hpp"

namespace slipway::core {
namespace {

std::uint64_t bytes_below(const RootDir& root, const std::string& path) {
  const std::filesystem::path top = (root.folder() == "/" ? "" : root.folder()) + path;
  std::error_code problem;
  if (std::filesystem::is_symlink(top, problem)) return 0;
  if (std::filesystem::is_regular_file(top, problem)) return std::filesystem::file_size(top, problem);
  std::uint64_t bytes = 0;
  for (std::filesystem::recursive_directory_iterator entry(top, problem), end; !problem && entry != end;
       entry.increment(problem))
    if (entry->is_regular_file(problem) && !entry->is_symlink(problem)) bytes += entry->file_size(problem);
  return bytes;
}

Status check_nothing_is_open(Session& session) {
  if (!journal_exists(session)) return {};
  return Error{ErrorCode::conflict,
               "an apply of this root was cut off; what it may need to be undone stays",
               std::string(kStateDir),
               "`slipway apply` finishes or undoes it, then run `slipway gc` again",
               {}};
}

Result<std::vector<int>> old_generations(StateDir& state) {
  SLIPWAY_TRY(current, state.current());
  SLIPWAY_TRY(numbers, state.generations());
  std::vector<int> old;
  for (std::size_t i = 0; i + kGenerationsKept < numbers.size(); ++i)
    if (!current || numbers[i] != current->number) old.push_back(numbers[i]);
  return old;
}

/// Every digest in a lock's text, as the file names of blobs.
void collect_blobs(const std::string& text, std::set<std::string>& names) {
  constexpr std::string_view kPrefix = "sha256:";
  constexpr std::size_t kDigits = 64;
  for (std::size_t at = text.find(kPrefix); at != std::string::npos; at = text.find(kPrefix, at + 1))
    names.insert(text.substr(at + kPrefix.size(), kDigits));
}

/// Downloads below the cache (artifact/registry/cache.hpp) that nothing names, and that came more than a day ago.
void find_downloads(const Session& session, const std::set<std::string>& needed, Garbage& garbage) {
  namespace fs = std::filesystem;
  const auto newest = fs::file_time_type::clock::now() - std::chrono::hours(24);
  std::error_code problem;
  for (fs::directory_iterator entry(session.cache() + "/blobs/sha256", problem), end; !problem && entry != end;
       entry.increment(problem)) {
    const std::string name = entry->path().stem().string();  // of what is on its way: HEX.partial
    std::error_code unknown;
    const auto changed = entry->last_write_time(unknown);
    if (needed.contains(name) || !entry->is_regular_file(unknown) || unknown || changed > newest) continue;
    garbage.cache.push_back(entry->path().string());
    garbage.bytes += entry->file_size(unknown);
  }
  std::ranges::sort(garbage.cache);
}

/// What the generations that stay, and the lock of the root, may want to unpack again.
Status find_in_cache(Session& session, Garbage& garbage) {
  constexpr const char* kLock = "/etc/slipway/slipway.lock";
  const SessionOptions& options = session.options();
  if (options.cache.empty() && (session.host_config().root != "/" || !session.host_config().live)) return {};
  std::set<std::string> needed;
  SLIPWAY_TRY(numbers, session.state().generations());
  for (const int number : numbers) {
    if (std::ranges::count(garbage.generations, number) != 0) continue;
    SLIPWAY_TRY(generation, session.state().generation(number));
    collect_blobs(canonical(to_json(generation)), needed);
  }
  collect_blobs(read_regular(session.root().root(), kLock, Lock::kMostBytes).value_or(""), needed);
  find_downloads(session, needed, garbage);
  return {};
}

}  // namespace

Result<Garbage> find_garbage(Session& session) {
  StateDir& state = session.state();
  SLIPWAY_CHECK(state.check_whole());
  SLIPWAY_CHECK(check_nothing_is_open(session));
  Garbage garbage;
  SLIPWAY_TRY(generations, old_generations(state));
  garbage.generations = std::move(generations);
  SLIPWAY_TRY(owned, state.ownerships());
  std::set<std::string> stores;
  std::set<std::string> digests;
  for (const auto& [name, ownership] : owned)
    for (const Owned& item : ownership.items) {
      if (const auto kind = action_kind(item.action.kind()); kind) stores.insert((*kind)->store(item.action));
      collect_digests(item.original, digests);
      collect_digests(item.replaced, digests);
    }
  stores.erase("");  // of kinds that fill none
  for (const std::string& store : stores) {
    SLIPWAY_TRY(layers, unused_layers(session.root(), store));
    garbage.paths.insert(garbage.paths.end(), layers.begin(), layers.end());
  }
  SLIPWAY_TRY(originals, Originals(session.root()).unused(digests));
  garbage.paths.insert(garbage.paths.end(), originals.begin(), originals.end());
  SLIPWAY_CHECK(find_in_cache(session, garbage));
  for (const std::string& path : garbage.paths) garbage.bytes += bytes_below(session.root().root(), path);
  return garbage;
}

Status remove_garbage(Session& session, const Garbage& garbage) {
  StateDir& state = session.state();
  for (const int number : garbage.generations) SLIPWAY_CHECK(state.forget_generation(number));
  for (const std::string& path : garbage.paths) SLIPWAY_CHECK(session.root().remove_tree(path));
  std::error_code problem;
  for (const std::string& file : garbage.cache)
    if (!std::filesystem::remove(file, problem) && problem) return system_error("remove", file, problem.value());
  SLIPWAY_CHECK(state.tidy());
  return state.leave();
}

}  // namespace slipway::core
