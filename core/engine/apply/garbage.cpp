// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <set>

#include "core/action/action_kind.hpp"
#include "core/action/store/store.hpp"
#include "core/engine/apply/generations.hpp"
#include "core/engine/apply/recovery.hpp"
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

}  // namespace

Result<Garbage> find_garbage(Session& session) {
  StateDir& state = session.state();
  SLIPWAY_CHECK(state.check_format());
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
  for (const std::string& path : garbage.paths) garbage.bytes += bytes_below(session.root().root(), path);
  return garbage;
}

Status remove_garbage(Session& session, const Garbage& garbage) {
  StateDir& state = session.state();
  for (const int number : garbage.generations) SLIPWAY_CHECK(state.forget_generation(number));
  for (const std::string& path : garbage.paths) SLIPWAY_CHECK(session.root().remove_tree(path));
  SLIPWAY_CHECK(state.tidy());
  return state.leave();
}

}  // namespace slipway::core
