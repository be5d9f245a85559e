// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/runtime/cdi_folders/cdi_folders.hpp - the folders in which the installed engines look for CDI specs.
#pragma once

#include <string>
#include <vector>

#include <slipway/host.hpp>
#include <slipway/result.hpp>

namespace slipway::toolkit {

struct EngineFolders {
  std::string engine;  ///< what people call it
  std::string place;   ///< the file or the unit's line that says so; empty: it is the engine's default
  std::vector<std::string> folders;

  /// /var/run is the same as /run.
  bool has(const std::string& folder) const;
};

/// From files alone. An engine whose configuration cannot be read is left out: the component runtime reports it.
std::vector<EngineFolders> read_engine_folders(const Host& host);

/// "containerd reads CDI specs from /etc/cdi alone (FILE), so its containers do not find those in /run/cdi".
std::string to_text(const EngineFolders& engine, const std::string& folder);
/// What helps against it.
std::string remedy_for(const EngineFolders& engine, const std::string& folder);

}  // namespace slipway::toolkit
