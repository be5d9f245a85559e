// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/runtime/engine.hpp - the component runtime's data about a container engine, and its changes there.
//
// A handler that starts runc by another path, or crun, is changed to the runtime for GPUs, which searches runc and then
// crun in PATH unless its settings name a program.
#pragma once

#include <string>
#include <vector>

#include <slipway/facts.hpp>
#include <slipway/host.hpp>
#include <slipway/json.hpp>
#include <slipway/plan.hpp>
#include <slipway/result.hpp>

#include "toolkit/runtime/settings.hpp"

namespace slipway::toolkit {

/// The numbers of a version, "1.6.20~ds1-1" -> {1, 6, 20}; {0, 0, 0} when it is unknown.
struct EngineVersion {
  unsigned major = 0;
  unsigned minor = 0;
  unsigned patch = 0;
  auto operator<=>(const EngineVersion&) const = default;  // NOLINT(modernize-use-nullptr): clang-tidy 14's mistake
  bool known() const { return major != 0; }
};
/// The first versions that read CDI specs.
inline constexpr EngineVersion kContainerdWithCdi{1, 7};
inline constexpr EngineVersion kCrioWithCdi{1, 23};
inline constexpr EngineVersion kDockerWithCdi{25, 0};
inline constexpr EngineVersion kPodmanWithCdi{4, 1};

EngineVersion parse_engine_version(const std::string& text);

/// Returns the version of an installed program: runs it on a live host, else uses its package.
/// @param packages  its names in distributions
std::string read_engine_version(const Host& host, const std::string& program, const std::vector<std::string>& packages);

/// Returns the version of the first of the packages in dpkg's list; empty: none is installed.
std::string read_package_version(const Host& host, const std::vector<std::string>& packages);

/// Returns a program's path in the usual folders; empty when it is not installed.
std::string find_program(const Host& host, const std::string& name);

/// Returns the runtime program for handlers: the configured one, else an installed one that finds GPUs by itself;
/// empty: none, and the engine's own CDI support is used.
std::string find_runtime(const Host& host, const RuntimeSettings& settings);

/// True for a program that acts on NVIDIA_VISIBLE_DEVICES.
bool is_gpu_runtime(const std::string& program);

inline constexpr const char* kRuncType = "io.containerd.runc.v2";

/// Builds a handler's table from the one that it inherits from. @param binary  empty: that of the base
Json inherit_containerd_handler(const Json& base, const std::string& binary, bool version_1);

/// Returns the handler to inherit from: the default one, else crun, else runc; never one of `ours` or a runtime for
/// GPUs.
/// @param runtime  the table crio.runtime
Json crio_base_handler(const std::vector<std::string>& ours, const Json& runtime);

// For each engine: facts about it (an object; null: not installed), and the resulting actions.

/// @param name  "containerd", or a distribution that includes it: "k3s", "rke2", "k0s", "microk8s"
Result<Json> read_containerd(const std::string& name, const RuntimeSettings& settings, const Host& host);
Status plan_containerd(const RuntimeSettings& settings, const Json& facts, bool live, Plan& plan);
Result<Json> read_crio(const RuntimeSettings& settings, const Host& host);
Status plan_crio(const RuntimeSettings& settings, const Json& facts, bool live, Plan& plan);
Result<Json> read_docker(const RuntimeSettings& settings, const Host& host);
Status plan_docker(const RuntimeSettings& settings, const Json& facts, bool live, Plan& plan);
Result<Json> read_podman(const RuntimeSettings& settings, const Host& host);
Status plan_podman(const RuntimeSettings& settings, const Json& facts, bool live, Plan& plan);

// Identifies the daemon without reading its configuration: "kind", "title", "version", "program", "unit", "socket",
// "config"; null: not installed.
Json find_containerd(const std::string& name, const RuntimeSettings& settings, const Host& host);
Json find_crio(const RuntimeSettings& settings, const Host& host);

/// Returns CRI-O's merged configuration (crio/configuration.hpp), without slipway's own drop-in.
Result<Json> read_crio_configuration(const RuntimeSettings& settings, const Host& host);
/// Returns containers.conf(5) merged with its drop-ins, without slipway's own.
Result<Json> read_containers_conf(const Host& host);

// The same facts from files alone, without looking for a daemon: version, arguments and socket stay unknown, and it
// does not matter whether the engine is installed. Uses `settings.places`, else the usual files.

/// A configured program is run to get its version.
Result<Json> read_containerd_files(const RuntimeSettings& settings, const Host& host);
Result<Json> read_crio_files(const RuntimeSettings& settings, const Host& host);
Result<Json> read_docker_files(const RuntimeSettings& settings, const Host& host);

/// Returns a member of nested objects; null if one is missing.
Json at_path(const Json& value, const std::vector<std::string>& names);
/// Returns a text member of an object; empty if it is missing or has another type.
std::string text_of(const Json& object, const std::string& name);
/// Sets a member of nested objects, and creates missing ones on the way.
void set_path(Json& value, const std::vector<std::string>& names, Json member);

/// The error for an engine without CDI support if no runtime program is installed either.
Error needs_runtime(const std::string& engine, const std::string& version);

/// Returns the program that creates an engine's containers without a GPU: {"program": NAME or PATH, "hidden": the
/// default handler is a runtime for GPUs, so the program of the handler runc is used; "stated": it must be written to
/// the settings, because the handler runc has another one, which would be used once the default handler is one for
/// GPUs}. A runtime for GPUs is never that program: it would start itself.
/// @param of_default  the program of the default handler; empty: the engine's own choice
/// @param of_runc     the program of the handler runc, likewise
/// @param ours        the program that slipway's handlers start
Json low_level_of(const std::string& of_default, const std::string& of_runc, const std::string& ours);

/// Returns facts from those of the engines by name: {"runtimes": […]} or {"note": "…"}; null: nothing to do. Errors:
/// `invalid` when the settings' file is not TOML.
Result<Json> read_low_level_runtime(const Json& engines, const Host& host);
/// Writes these runtimes into the settings of the runtime for GPUs, together with the rules for device requests.
/// @param facts  from read_low_level_runtime()
void plan_low_level(const Json& facts, const RuntimeSettings& settings, Plan& plan);

}  // namespace slipway::toolkit
