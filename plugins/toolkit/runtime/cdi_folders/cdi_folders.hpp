// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/runtime/cdi_folders/cdi_folders.hpp - the folders in which the installed engines look for CDI specs.
#pragma once

#include <string>
#include <vector>

#include <slipway/host.hpp>
#include <slipway/result.hpp>

namespace slipway::toolkit {

struct EngineFolders {
  std::string engine;  ///< the engine's usual name
  std::string place;   ///< the file or unit line that sets it; empty: it is the engine's default
  std::vector<std::string> folders;

  /// /var/run is the same as /run.
  bool has(const std::string& folder) const;
};

/// Reads files only. An engine with an unreadable configuration is left out: the component runtime reports it.
std::vector<EngineFolders> read_engine_folders(const Host& host);

/// Returns "containerd reads CDI specs from /etc/cdi alone (FILE), so its containers do not find those in /run/cdi".
std::string to_text(const EngineFolders& engine, const std::string& folder);
/// Returns the remedy for that.
std::string remedy_for(const EngineFolders& engine, const std::string& folder);

}  // namespace slipway::toolkit
