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

#include <slipway/host.hpp>

namespace slipway::validator {

using Words = std::vector<std::string>;

/// The container that is wanted.
struct Wanted {
  std::string device;   ///< of CDI, "nvidia.com/gpu=all"; empty: no CDI spec has a GPU
  std::string folder;   ///< its root, with the program /probe
  std::string archive;  ///< a path at which a tar of that folder may be made
  std::string name;     ///< of the container, and of its image where it needs one
};

/// How an engine starts that container.
struct Engine {
  std::string name;
  std::string given;              ///< what brings the GPUs: "nvidia.com/gpu=all", "the runtime nvidia"
  std::vector<Words> before;      ///< commands that have to end well first
  Words start;                    ///< ends with the container, with the exit status of its program
  std::vector<Words> when_stuck;  ///< remove the container when its start did not end well
  std::vector<Words> afterwards;  ///< always, whatever became of the others
  std::string by_hand;            ///< the same for an administrator who has an image
  std::string unit;               ///< of systemd, whose journal is the engine's; empty: there is no daemon
};

/// An engine's answer. Neither: it is not here.
struct Offer {
  std::optional<Engine> engine;
  std::string why_not;  ///< a sentence without its full stop
};

/// The first engine that can; else the reasons of those that are here. In this order: podman; Docker, before the
/// containerd that it brings along; containerd; those of the Kubernetes distributions.
Offer choose_engine(const Host& host, const Wanted& wanted);

/// @param wanted  with a device
Offer ask_podman(const Host& host, const Wanted& wanted);
/// dockerd is asked only while it runs: where systemd holds its socket, a connection would start it.
Offer ask_docker(const Host& host, const Wanted& wanted);
Offer ask_containerds(const Host& host, const Wanted& wanted);

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

using EngineVersion = std::pair<unsigned, unsigned>;  ///< {20, 10} of "20.10.24"
/// The last word: "ctr github.com/containerd/containerd/v2 v2.1.9", "podman version 4.3.1", "20.10.24+dfsg1".
EngineVersion parse_engine_version(std::string_view text);
/// What `PROGRAM WORDS --version` says; empty where it does not run.
std::string version_of_program(const Host& host, Words program);

}  // namespace slipway::validator
