// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/runtime/docker/daemon_json.hpp - Docker's configuration (daemon.json and dockerd's flags): what it
// says, and which keys the file must not have.
#pragma once

#include <string>
#include <vector>

#include <slipway/host.hpp>
#include <slipway/json.hpp>
#include <slipway/result.hpp>

#include "toolkit/runtime/daemon.hpp"

namespace slipway::toolkit {

/// The file's object; an empty one where the file is missing or empty.
/// Errors: `invalid` no JSON object, or not UTF-8, with the place.
Result<Json> read_daemon_json(const Host& host, const std::string& path);

/// What dockerd's flags set: dockerd does not start when its file sets the same. Members: "default-runtime" (a text),
/// "runtimes" (an object: name to path), "cdi" (true or false, by --feature), "cdi-spec-dirs" (a list), each only where
/// a flag sets it; "place" of the command.
Json docker_flags(const Daemon& daemon);

/// The program that makes containers without a GPU (low_level_of()).
Json docker_low_level(const Json& file, const Json& flags, const std::string& ours);

/// What is to be written into the file.
struct DockerChange {
  std::vector<std::string> names;  ///< of runtimes
  std::string program;             ///< that they start; empty: none are written
  bool as_default = false;         ///< the first is the default runtime
  bool cdi = false;
};

/// dockerd would start with that in its file.
/// Errors: `unsupported`, with the file or the unit's line that is in the way.
Status check_docker_change(const DockerChange& change, const Json& file, const std::string& file_path,
                           const Json& flags);

}  // namespace slipway::toolkit
