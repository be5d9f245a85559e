// SPDX-License-Identifier: Apache-2.0
// core/engine/packages/compiled_cache.hpp - compiled kernel modules kept in the cache, so that a rollback, a second
// root or a repeated apply compiles nothing again.
//
//   CACHE/compiled/HEX/entry.json   {"key", "name", "list"}: compiled_key(), what was compiled, and list_tree() of
//   files/ CACHE/compiled/HEX/files/       the layer; HEX is compiled_name() CACHE/compiled/.new-…, .old-…   not
//   complete yet, or replaced; left behind by a killed process
//
// An entry appears under its name when it is complete and on the disk. Several processes may use one cache: of two that
// keep the same entry the later one replaces it, and a reader whose entry is removed meanwhile compiles. Only root and
// this user may own the folders and write to them, and no link is followed below CACHE.
#pragma once

#include <cstdint>
#include <ctime>
#include <set>
#include <string>
#include <vector>

#include <slipway/json.hpp>
#include <slipway/result.hpp>

namespace slipway::core {

/// The limit of all entries together. The modules of one driver and kernel have 5 to 100 MiB.
inline constexpr std::uint64_t kCompiledBytes = std::uint64_t{1} << 30U;

struct CompiledEntry {
  std::string folder;  ///< its name in CACHE/compiled
  std::string name;  ///< of what was compiled: "acme 535.261.03 for 6.1.0-50-amd64"; empty: it is damaged or incomplete
  std::string source;  ///< the 64 hex digits of the source's digest; empty with `name`
  std::uint64_t bytes = 0;
  timespec used{};  ///< when it was last taken, or kept
};

class CompiledCache {
 public:
  /// @param most_bytes  when all entries together have more, the least recently used ones go
  explicit CompiledCache(const std::string& cache, std::uint64_t most_bytes = kCompiledBytes)
      : cache_(cache), path_(cache + "/compiled"), most_bytes_(most_bytes) {}

  /// True when the cache cannot have any entry, which is known without a key.
  bool absent() const;
  /// True when there is an entry for this key. take() may still find the entry damaged.
  bool has(const Json& key) const;
  /// Copies the entry's files into the new folder `into`, and compares each file with its digest. Returns false when
  /// there is no entry. Errors: `corrupt` it is damaged; `denied` another user owns it or may write to it; `invalid` a
  /// link is in its place; those of copying. After an error `into` does not exist.
  Result<bool> take(const Json& key, const std::string& into) const;
  /// Keeps a copy of the folder `made`, in place of an older one. Removes least recently used entries beyond the limit;
  /// a layer that is larger than the limit is not kept. Errors: as of take(); `no_space`, `io`.
  Status keep(const Json& key, const std::string& name, const std::string& made) const;

  /// Returns the entries that can go: damaged ones, those of sources that are not `needed` and, least recently used
  /// first, those beyond the limit. Whatever was used or begun less than a day before `now` stays, except beyond the
  /// limit: another root may share the cache. Skips what belongs to other users. Errors: as of take().
  /// @param needed  the hex digits of digests
  Result<std::vector<CompiledEntry>> unneeded(const std::set<std::string>& needed, std::time_t now) const;
  Status remove(const CompiledEntry& entry) const;
  std::string path_of(const CompiledEntry& entry) const { return path_ + "/" + entry.folder; }

 private:
  Result<std::vector<CompiledEntry>> entries() const;
  Status make_room(const std::string& keeps) const;

  std::string cache_;
  std::string path_;
  std::uint64_t most_bytes_;
};

}  // namespace slipway::core
