// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/config/settings.hpp - NVIDIA's config v1: the offer to kubelet.
//
// Keys, defaults and rules are those of NVIDIA's k8s-device-plugin (docs/components/deviceplugin.md says what is
// added).
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <slipway/result.hpp>

#include "nvidia/config/node.hpp"

namespace slipway::nvidia::config {

enum class MigStrategy { none, single, mixed };
enum class ListStrategy { envvar, volume_mounts, cdi_annotations, cdi_cri };
enum class IdStrategy { uuid, index };
enum class AllocationPolicy { distributed, packed };
enum class SharingKind { none, time_slicing, mps };

std::string_view to_string(MigStrategy strategy);
std::string_view to_string(ListStrategy strategy);
std::string_view to_string(SharingKind kind);

/// Names the resource of matching GPUs (by product) or MIG devices (by profile); `*` matches any text.
struct NamePattern {
  std::string pattern;
  std::string name;  ///< full: "nvidia.com/gpu"
};

/// The devices of a resource that an entry of `sharing` applies to.
struct DeviceChoice {
  bool all = true;
  std::optional<unsigned> count;      ///< the first devices in index order, that many
  std::vector<std::string> list;      ///< indexes "0", "0:1", or UUIDs
  std::vector<std::string> products;  ///< patterns for the GPU's product name (unknown to NVIDIA's plugin)
};

struct SharedResource {
  std::string name;  ///< full name of the resource; empty: every resource (`replicas` directly below timeSlicing)
  std::string rename;
  unsigned replicas = 0;
  DeviceChoice devices;
  std::string where;
  bool may_exist = true;  ///< false: no machine has such a resource, and a warning says so
};

inline constexpr unsigned kWholeShare = 100;  ///< percent

/// Limit for a resource on a node: kubelet accepts messages of 4 MiB, and a device takes up to 65 bytes.
inline constexpr unsigned kMostReplicas = 60'000;

struct Sharing {
  SharingKind kind = SharingKind::none;
  bool rename_by_default = false;
  bool fail_requests_greater_than_one = false;
  bool strict_spread = false;  ///< a request gets replicas of different GPUs or fails (unknown to NVIDIA's plugin)
  /// For MPS: the percentage of its share of a GPU's memory that a client may use (unknown to NVIDIA's plugin).
  unsigned mps_memory_percent = kWholeShare;
  std::vector<SharedResource> resources;
};

struct Settings {
  MigStrategy mig_strategy = MigStrategy::none;
  std::string driver_root = "/";  ///< path on the host
  std::string dev_root;           ///< empty: driver_root
  std::string mps_root = "/run/nvidia/mps";
  bool pass_device_specs = false;
  std::set<ListStrategy> list_strategies{ListStrategy::envvar};
  bool list_strategies_given = false;  ///< set by the config or a variable; else the component may choose
  std::string fallback;                ///< why the chosen strategy does not apply
  IdStrategy id_strategy = IdStrategy::uuid;
  AllocationPolicy policy = AllocationPolicy::distributed;
  std::string cdi_annotation_prefix = "cdi.k8s.io/";
  bool gdrcopy = false;
  bool gds = false;
  bool mofed = false;
  std::vector<unsigned> imex_channels;
  bool imex_required = false;
  std::vector<NamePattern> gpu_names;  ///< the first match counts; GPUs without a match are nvidia.com/gpu
  std::vector<NamePattern> mig_names;
  Sharing sharing;
  bool fail_on_init_error = false;         ///< the service exits if it finds no driver at its start
  bool use_node_feature_api = false;       ///< flags.useNodeFeatureAPI, which only GPU Feature Discovery has
  Node gfd;                                ///< flags.gfd, which only GPU Feature Discovery reads
  std::string health_checks_off;           ///< DP_DISABLE_HEALTHCHECKS
  std::string health_checks_on;            ///< DP_ENABLE_HEALTHCHECKS
  std::vector<std::string> warnings;       ///< unknown keys, choices without effect
  bool operator==(const Settings&) const;  ///< compares the effective values, not the warnings

  /// Returns the root of the host's /dev, for the paths that kubelet gets.
  std::string host_dev_root() const { return dev_root.empty() ? driver_root : dev_root; }
  bool any_cdi() const;
  bool only_cdi() const;
};

/// Returns canonical text of all effective values: shown by `slipway deviceplugin resources`, and used to compare
/// settings.
Json to_json(const Settings& settings);

/// Returns the resource names that the config sets, other than the default ones.
std::set<std::string> given_names(const Settings& settings);

/// Applies a config file (version v1) to `settings`. Unknown keys become warnings. Errors: `invalid`, with the place.
Status take_config(const Node& root, Settings& settings);

/// Applies the environment variables of NVIDIA's flags, which override the file.
/// @param get       std::getenv, or a test's function
/// @param place_of  returns the place of a variable, for errors
/// Errors: `usage`, with the place.
Status take_environment(const std::function<const char*(const char* name)>& get,
                        const std::function<std::string(const char* name)>& place_of, Settings& settings);

/// Errors: `invalid`, with the three valid words.
Result<MigStrategy> parse_mig_strategy(const std::string& text, const std::string& where);

/// Checks rules between keys. Errors: `invalid`.
Status check_settings(const Settings& settings);

/// True when a list such as that of DP_DISABLE_HEALTHCHECKS has the word "all", in any letter case.
bool names_all(std::string_view list);

/// Returns the words of such a list that are neither a number nor "all" nor "xids".
std::vector<std::string> words_that_are_not_xids(std::string_view list);

/// Returns "nvidia.com/gpu" for "gpu". Errors: `invalid`: longer than 63 letters, or not a DNS subdomain behind the
/// slash.
Result<std::string> full_resource_name(const std::string& name, const Node& node);

/// `*` matches any text, everything else itself; the whole of `text` must match.
bool fits(std::string_view pattern, std::string_view text);

/// Returns the name that the first matching pattern gives to a product or profile.
std::string first_fit(const std::vector<NamePattern>& names, const std::string& text, const std::string& otherwise);

}  // namespace slipway::nvidia::config
