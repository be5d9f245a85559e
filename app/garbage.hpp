// SPDX-License-Identifier: Apache-2.0
// app/garbage.hpp - what no generation needs any more, for `slipway gc`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <slipway/fd.hpp>

#include "core/engine/session.hpp"

namespace slipway::core {

/// How many generations stay, for `slipway rollback`; the one in force always does.
inline constexpr std::size_t kGenerationsKept = 5;

struct Garbage {
  std::vector<int> generations;
  std::vector<std::string> paths;  ///< layers, sets and originals, inside the root
  std::vector<std::string> cache;  ///< downloads that no kept generation names; files of this machine
  Fd downloads;                    ///< the folder that these are in, as it was looked at
  std::uint64_t bytes = 0;         ///< in files below these
};

/// Looks for it; changes nothing. The cache counts where it is this machine's own, or named by --cache: roots may share
/// one, so what came within a day stays. For the holder of the root's lock. Errors: `conflict` when an apply was cut
/// off: what it needs to be undone must stay; `denied` others may write to the cache; `invalid` it is a package layout,
/// or has links instead of folders.
Result<Garbage> find_garbage(Session& session);

/// Removes it.
Status remove_garbage(Session& session, const Garbage& garbage);

}  // namespace slipway::core
