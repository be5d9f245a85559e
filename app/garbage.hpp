// SPDX-License-Identifier: Apache-2.0
// app/garbage.hpp - finds and removes data that no generation needs any more, for `slipway gc`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <slipway/fd.hpp>

#include "core/engine/packages/compiled_cache.hpp"
#include "core/engine/session.hpp"

namespace slipway::app {

/// The number of generations to keep for `slipway rollback`; the active one is always kept.
inline constexpr std::size_t kGenerationsKept = 5;

struct Garbage {
  std::vector<int> generations;
  std::vector<std::string> paths;             ///< layers, sets and originals, inside the root
  std::vector<std::string> cache;             ///< downloads that no kept generation refers to; files of this machine
  Fd downloads;                               ///< the folder of these downloads, opened when they were found
  std::vector<core::CompiledEntry> compiled;  ///< compiled modules that are unused or beyond the limit
  std::uint64_t bytes = 0;                    ///< total size of the files
};

/// Finds garbage; changes nothing. Includes the cache when it is this machine's own, or named by --cache: roots may
/// share one, so downloads and compiled modules of the last day are kept. For the holder of the root's lock. Errors:
/// `conflict` when an apply was interrupted: the data for undoing it must stay; `denied` other users may write to the
/// cache; `invalid` it is a package layout, or has links instead of folders.
Result<Garbage> find_garbage(core::Session& session);

/// Removes it.
Status remove_garbage(core::Session& session, const Garbage& garbage);

}  // namespace slipway::app
