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
/// Before, a file among `imports` that names a plugin replaces that plugin's whole table (containerd#5837, #9982).
inline constexpr EngineVersion kContainerdMergesImports{2, 1};

/// Where the CRI plugin's runtime settings are.
KeyPath cri_plugin(int config_version);

struct ConfigFile {
  std::string path;
  Json value;
};

/// Errors: `invalid` no TOML, or a version that is not a number, with the place. A file that is missing counts as
/// empty.
Result<ConfigFile> read_config(const Host& host, const std::string& path);

/// No `version` is version 1; a file that is not there or empty has none yet: 0.
int config_version(const Json& value);

/// The program that makes containers without a GPU (low_level_of()), by the handlers of a table.
/// @param ours  the program that our handlers start
Json containerd_low_level(const Json& containerd, const std::string& ours);

/// The handler to inherit from: the default one, else runc, else crun; none of another kind, such as Kata's. Where ours
/// is the default already, what was inherited then stands in it.
Json base_handler(const std::vector<std::string>& names, const Json& containerd);

/// The default handler is a runtime for GPUs: one of `names`, which start one, or another that does.
bool default_acts(const std::vector<std::string>& names, const Json& containerd);

/// The type of the handler runc, which has to be in the file beside ours: before 2.1 containerd knows runc by itself
/// only as long as no file names a handler, and without its default handler it loads no CRI plugin. Empty where other
/// handlers are there and runc is not.
std::string runc_type(const std::vector<std::string>& names, const Json& containerd);

}  // namespace slipway::toolkit
