// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/runtime/crio/configuration.hpp - CRI-O's configuration as CRI-O puts it together: its file, the files
// of its drop-in folder, the flags and variables that it is started with (crio(8), crio.conf(5), crio.conf.d(5);
// CRI-O 1.36).
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <slipway/host.hpp>
#include <slipway/json.hpp>
#include <slipway/result.hpp>

#include "toolkit/runtime/daemon.hpp"

namespace slipway::toolkit {

/// The files that CRI-O reads. Empty `config`: it is configured to read no such file.
struct CrioPlaces {
  std::string config;
  std::string folder;
};

/// Returns the places from flags and variables, else the usual ones. @param daemon  empty: CRI-O's command is unknown
CrioPlaces crio_places(const std::optional<Daemon>& daemon);

/// One source of settings: a file, or the command that CRI-O is started with.
struct CrioSource {
  std::string place;  ///< a path, "FILE:LINE" of a unit's command, or "the command of crio"
  Json table;         ///< the file's table; flags in the form of a file
};

class CrioConfiguration {
 public:
  /// Missing files are not an error, as for CRI-O. Errors: `invalid` a file that is not TOML, or a drop-in folder
  /// beyond the limits for depth or number of files.
  /// @param drop_in  slipway's own file, which is ignored
  static Result<CrioConfiguration> read(const Host& host, const CrioPlaces& places, const std::string& drop_in,
                                        const std::optional<Daemon>& daemon);

  /// Merges all sources: a later one overrides, and a later handler replaces an earlier one completely.
  Json table() const;

  /// Returns the last source after slipway's own file that sets a member of the table crio.runtime; null: none does.
  const CrioSource* later_with(const std::vector<std::string>& path) const;

 private:
  std::vector<CrioSource> sources_;  ///< in the order of their application
  std::size_t own_ = 0;              ///< number of sources before slipway's own file
};

}  // namespace slipway::toolkit
