// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/requests/config.hpp - the shim's settings, in the file and under the names of NVIDIA's container
// toolkit.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <slipway/json.hpp>
#include <slipway/result.hpp>

#include "toolkit/requests/report.hpp"
#include "toolkit/runtime/request_rules.hpp"

namespace slipway::shim {

/// See docs/slipway-runtime.md for what each key means; keys of other programs are ignored.
struct Config {
  bool accept_env_when_unprivileged = true;  ///< accept-nvidia-visible-devices-envvar-when-unprivileged
  bool accept_mounts = false;                ///< accept-nvidia-visible-devices-as-volume-mounts
  std::vector<std::string> swarm_resources;  ///< swarm-resource, split at commas
  std::string debug_log;                     ///< nvidia-container-runtime.debug; empty: none
  std::string mode = "auto";
  std::string driver_root;                      ///< nvidia-container-cli.root, for jit-cdi; empty: /
  std::vector<std::string> jit_features;        ///< nvidia-container-runtime.modes.jit-cdi.nvcdi-feature-flags
  std::vector<std::string> jit_disabled_hooks;  ///< nvidia-container-runtime.modes.jit-cdi.nvcdi-disable-hooks
  std::vector<std::string> runtimes{"runc", "crun"};
  std::vector<std::string> spec_folders{"/etc/cdi", "/var/run/cdi"};
  std::string default_kind = "nvidia.com/gpu";
  std::vector<std::string> annotation_prefixes{"cdi.k8s.io/"};
  bool disable_require = false;       ///< disable-require
  bool no_cgroups = false;            ///< nvidia-container-cli.no-cgroups
  bool no_cuda_compat = false;        ///< features.disable-cuda-compat-lib-hook
  Level log_level = Level::info;      ///< nvidia-container-runtime.log-level; less important lines are not logged
  bool ignore_imex_channels = false;  ///< features.ignore-imex-channel-requests
  bool no_device_groups = false;      ///< features.no-additional-gids-for-device-nodes
  toolkit::RequestRules requests;     ///< slipway.requests
};

/// Parses the values that NVIDIA's runtime accepts for `log-level`, in any case; others mean info, as there.
Level level_of(std::string word);

/// Returns NVIDIA_CTK_CONFIG_FILE_PATH, or else a path below XDG_CONFIG_HOME, or else below /etc.
std::string config_path();

/// Reads the file's tables. @param path  path of the file, for errors Errors: `invalid` a known key with a value of
/// another type, an unknown mode.
Result<Config> config_of(const Json& file, const std::string& path);

/// Errors: `invalid` with the place: invalid TOML, a known key with a value of another type, an unknown mode.
Result<Config> parse_config(std::string_view text, const std::string& path);

/// Returns the file's settings; the defaults if there is no file.
Result<Config> read_config(const std::string& path);

}  // namespace slipway::shim
