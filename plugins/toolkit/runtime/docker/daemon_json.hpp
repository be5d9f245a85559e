// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/runtime/docker/daemon_json.hpp - Docker's configuration (daemon.json and dockerd's flags): its
// settings, and the keys that the file must not have.
#pragma once

#include <string>
#include <vector>

#include <slipway/host.hpp>
#include <slipway/json.hpp>
#include <slipway/result.hpp>

#include "toolkit/runtime/daemon.hpp"

namespace slipway::toolkit {

/// Returns the file's object; an empty one if the file is missing or empty. Errors: `invalid` not a JSON object, or not
/// UTF-8, with the place.
Result<Json> read_daemon_json(const Host& host, const std::string& path);

/// Returns the settings of dockerd's flags: dockerd does not start when its file also sets them. Members:
/// "default-runtime" (a text), "runtimes" (an object: name to path), "cdi" (true or false, by --feature),
/// "cdi-spec-dirs" (a list), each only if a flag sets it; "place" of the command.
Json docker_flags(const Daemon& daemon);

/// Returns the program that creates containers without a GPU (low_level_of()).
Json docker_low_level(const Json& file, const Json& flags, const std::string& ours);

/// The settings to write into the file.
struct DockerChange {
  std::vector<std::string> names;  ///< of runtimes
  std::string program;             ///< the runtimes' program; empty: none are written
  bool as_default = false;         ///< the first is the default runtime
  bool cdi = false;
};

/// Checks that dockerd would start with these settings in its file. Errors: `unsupported`, with the conflicting file or
/// unit line.
Status check_docker_change(const DockerChange& change, const Json& file, const std::string& file_path,
                           const Json& flags);

}  // namespace slipway::toolkit
