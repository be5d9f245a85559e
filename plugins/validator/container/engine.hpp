// SPDX-License-Identifier: Apache-2.0
// plugins/validator/container/engine.hpp - the container engine of this host that can start a container of a folder's
// files with the GPUs, and its commands.
//
// The programs are found by fixed paths, and run only if no user besides root could have put them there: the checks run
// as root.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "validator/container/removal.hpp"
#include "validator/container/runner.hpp"
#include "validator/container/scratch.hpp"

namespace slipway::validator {

/// The container to start.
struct Wanted {
  std::string device;  ///< CDI device, "nvidia.com/gpu=all"; empty: no CDI spec has a GPU
  std::string number;  ///< of the check
};

/// The commands with which an engine starts that container. Its root is Place::root(), with the program /probe.
struct Engine {
  std::string name;
  std::string given;  ///< the source of the GPUs: "nvidia.com/gpu=all", "the runtime nvidia"
  Place place;
  std::vector<Words> before;  ///< commands that must succeed first
  Words start;                ///< runs until the container ends, with the exit status of its program
  Removals removals;
  std::string by_hand;  ///< the same command for an administrator with an image
  std::string unit;     ///< systemd unit of the engine, for its journal; empty: there is no daemon
};

/// An engine's answer. If both are empty, it is not installed.
struct Offer {
  std::optional<Engine> engine;
  std::string why_not;  ///< a sentence without its full stop
};

/// Returns the first suitable engine, and in `why_not` the reasons of the installed ones before it. In this order:
/// podman; Docker, before the containerd that it includes; containerd; those of the Kubernetes distributions.
Offer choose_engine(const Runner& runner, const Wanted& wanted);
inline constexpr const char* kPodman = "podman";
inline constexpr const char* kDocker = "docker";

/// @param wanted  with a device
Offer ask_podman(const Runner& runner, const Wanted& wanted);
/// Asks dockerd only while it runs: if systemd holds its socket, a connection would start it.
Offer ask_docker(const Runner& runner, const Wanted& wanted);
Offer ask_containerds(const Runner& runner, const Wanted& wanted);
struct Program {
  std::string path;     ///< empty: no program is installed, or none of them may be run
  std::string why_not;  ///< it is installed, but users other than root could replace it
};
/// Returns the first of the paths with a program that only root could have put there.
Program find_program(const Host& host, std::span<const char* const> paths);

/// The way in which a container gets the GPUs.
struct GpuAccess {
  std::string shown;  ///< "nvidia.com/gpu=all", "the runtime nvidia"
  Words options;      ///< options of the engine's client
};

/// The variable that asks slipway-runtime and NVIDIA's runtimes for all GPUs.
inline constexpr const char* kAllGpus = "NVIDIA_VISIBLE_DEVICES=all";
/// Says why those runtimes would ignore that variable of an unprivileged container; empty: they use it.
std::string why_no_variable(const Host& host);

using EngineVersion = std::pair<unsigned, unsigned>;  ///< {20, 10} for "20.10.24"; {0, 0}: unknown
/// Reads the last word of "ctr github.com/containerd/containerd/v2 v2.1.9", "podman version 4.3.1", "20.10.24+dfsg1".
EngineVersion parse_engine_version(std::string_view text);
/// A program's version.
struct ProgramVersion {
  std::string text;  ///< "4.3.1"
  EngineVersion numbers;
  std::string why_not;  ///< it printed no valid version, or did not run
};
/// Runs `PROGRAM WORDS --version`.
ProgramVersion version_of_program(const Runner& runner, Words program);

}  // namespace slipway::validator
