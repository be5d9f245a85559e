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

/// Where CRI-O reads from. Empty `config`: it was told to read no such file.
struct CrioPlaces {
  std::string config;
  std::string folder;
};

/// What flags and variables say, else the usual places. @param daemon  nothing: it is not known how CRI-O is started
CrioPlaces crio_places(const std::optional<Daemon>& daemon);

/// One source of settings: a file, or the command that CRI-O is started with.
struct CrioSource {
  std::string place;  ///< a path, "FILE:LINE" of a unit's command, or "the command of crio"
  Json table;         ///< as the file has it; flags in the form of a file
};

class CrioConfiguration {
 public:
  /// Files that do not exist are no error, as for CRI-O.
  /// Errors: `invalid` a file that is not TOML, or a drop-in folder that is deeper or has more files than is
  /// believable.
  /// @param drop_in  slipway's own file, which does not count
  static Result<CrioConfiguration> read(const Host& host, const CrioPlaces& places, const std::string& drop_in,
                                        const std::optional<Daemon>& daemon);

  /// All sources together: a later one counts, and a handler of a later one replaces that of an earlier one whole.
  Json table() const;

  /// The source behind slipway's own file that has a member of the table crio.runtime, the last one; null: none has it.
  const CrioSource* later_with(const std::vector<std::string>& path) const;

 private:
  std::vector<CrioSource> sources_;  ///< in the order in which they are applied
  std::size_t own_ = 0;              ///< how many sources come before slipway's own file
};

}  // namespace slipway::toolkit
