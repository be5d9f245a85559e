// SPDX-License-Identifier: Apache-2.0
// plugins/validator/container/engine.hpp - which container engine of this host can start a container of a folder's
// files with the GPUs, and by which commands.
//
// The programs are asked for by fixed paths, and run only where nobody besides root could have put them there: the
// checks run as root.
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

/// The container that is wanted.
struct Wanted {
  std::string device;  ///< of CDI, "nvidia.com/gpu=all"; empty: no CDI spec has a GPU
  std::string number;  ///< of the check
};

/// How an engine starts that container. Its root is Place::root(), with the program /probe.
struct Engine {
  std::string name;
  std::string given;  ///< what brings the GPUs: "nvidia.com/gpu=all", "the runtime nvidia"
  Place place;
  std::vector<Words> before;  ///< commands that have to end well first
  Words start;                ///< ends with the container, with the exit status of its program
  Removals removals;
  std::string by_hand;  ///< the same for an administrator who has an image
  std::string unit;     ///< of systemd, whose journal is the engine's; empty: there is no daemon
};

/// An engine's answer. Neither: it is not here.
struct Offer {
  std::optional<Engine> engine;
  std::string why_not;  ///< a sentence without its full stop
};

/// The first engine that can, and in `why_not` the reasons of those before it that are here. In this order: podman;
/// Docker, before the containerd that it brings along; containerd; those of the Kubernetes distributions.
Offer choose_engine(const Runner& runner, const Wanted& wanted);
inline constexpr const char* kPodman = "podman";
inline constexpr const char* kDocker = "docker";

/// @param wanted  with a device
Offer ask_podman(const Runner& runner, const Wanted& wanted);
/// dockerd is asked only while it runs: where systemd holds its socket, a connection would start it.
Offer ask_docker(const Runner& runner, const Wanted& wanted);
Offer ask_containerds(const Runner& runner, const Wanted& wanted);
struct Program {
  std::string path;     ///< empty: none is installed, or none that may be run
  std::string why_not;  ///< it is installed, but others than root could exchange it
};
/// The first of the paths at which a program is that nobody besides root could have put there.
Program find_program(const Host& host, std::span<const char* const> paths);

/// How a container gets the GPUs.
struct Gift {
  std::string shown;  ///< "nvidia.com/gpu=all", "the runtime nvidia"
  Words options;      ///< of the engine's client
};

/// What asks slipway-runtime and NVIDIA's runtimes for all GPUs.
inline constexpr const char* kAllGpus = "NVIDIA_VISIBLE_DEVICES=all";
/// Why those runtimes would not heed that variable of an unprivileged container; empty: they do.
std::string why_no_variable(const Host& host);

using EngineVersion = std::pair<unsigned, unsigned>;  ///< {20, 10} of "20.10.24"; {0, 0}: nobody knows
/// The last word: "ctr github.com/containerd/containerd/v2 v2.1.9", "podman version 4.3.1", "20.10.24+dfsg1".
EngineVersion parse_engine_version(std::string_view text);
/// What a program says of its version.
struct SaidVersion {
  std::string text;  ///< "4.3.1"
  EngineVersion numbers;
  std::string why_not;  ///< it said none that can be read, or did not run
};
/// What `PROGRAM WORDS --version` says.
SaidVersion version_of_program(const Runner& runner, Words program);

}  // namespace slipway::validator
