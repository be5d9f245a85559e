// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/runtime/containerd/config.hpp - reads a file of containerd's configuration
// (docs/man/containerd-config.toml.5.md) in versions 1, 2 and 3, and the handlers in it.
#pragma once

#include <string>
#include <vector>

#include <slipway/host.hpp>
#include <slipway/json.hpp>
#include <slipway/result.hpp>

#include "toolkit/runtime/engine.hpp"

namespace slipway::toolkit {

using KeyPath = std::vector<std::string>;
KeyPath operator+(KeyPath path, const KeyPath& more);

inline constexpr EngineVersion kContainerdWithVersion3{2, 0};
/// Before this version, a file in `imports` that names a plugin replaces that plugin's whole table (containerd#5837,
/// #9982).
inline constexpr EngineVersion kContainerdMergesImports{2, 1};

/// Returns the place of the CRI plugin's runtime settings.
KeyPath cri_plugin(int config_version);

struct ConfigFile {
  std::string path;
  Json value;
};

/// Errors: `invalid` invalid TOML, or a version that is not a number, with the place. A missing file counts as empty.
Result<ConfigFile> read_config(const Host& host, const std::string& path);

/// Without `version` it is version 1; a missing or empty file has none yet: 0.
int config_version(const Json& value);

/// Returns the program that creates containers without a GPU (low_level_of()), by the handlers of a table.
/// @param ours  the program of slipway's handlers
Json containerd_low_level(const Json& containerd, const std::string& ours);

/// Returns the handler to inherit from: the default one, else runc, else crun; never one of another kind, such as
/// Kata's. If slipway's handler is the default already, it contains the inherited values.
Json base_handler(const std::vector<std::string>& names, const Json& containerd);

/// True when the default handler is a runtime for GPUs: one of `names`, or another handler that starts such a runtime.
bool default_acts(const std::vector<std::string>& names, const Json& containerd);

/// Returns the type of the handler runc, which must be in the file beside slipway's: before 2.1 containerd defines runc
/// only as long as no file names a handler, and without its default handler it does not load the CRI plugin. Empty if
/// the file has other handlers without runc.
std::string runc_type(const std::vector<std::string>& names, const Json& containerd);

}  // namespace slipway::toolkit
