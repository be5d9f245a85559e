// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/config/settings.hpp - NVIDIA's config v1: what is offered to kubelet, and how.
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

/// Names the resource of the GPUs (by product) or MIG devices (by profile) that fit; `*` stands for any letters.
struct NamePattern {
  std::string pattern;
  std::string name;  ///< full: "nvidia.com/gpu"
};

/// Which devices of a resource an entry of `sharing` is about.
struct DeviceChoice {
  bool all = true;
  std::optional<unsigned> count;      ///< the first so many, in index order
  std::vector<std::string> list;      ///< indexes "0", "0:1", or UUIDs
  std::vector<std::string> products;  ///< patterns on the GPU's product name (not known to NVIDIA's plugin)
};

struct SharedResource {
  std::string name;  ///< full name of the resource; empty: every resource (`replicas` right below timeSlicing)
  std::string rename;
  unsigned replicas = 0;
  DeviceChoice devices;
  std::string where;
  bool may_exist = true;  ///< false: nothing on any machine has that name, and a warning says so
};

inline constexpr unsigned kWholeShare = 100;  ///< percent

/// Of a resource on a node: kubelet takes 4 MiB at once, and a device is up to 65 bytes there.
inline constexpr unsigned kMostReplicas = 60'000;

struct Sharing {
  SharingKind kind = SharingKind::none;
  bool rename_by_default = false;
  bool fail_requests_greater_than_one = false;
  bool strict_spread = false;  ///< a request gets replicas of different GPUs or nothing (not known to NVIDIA's plugin)
  /// With MPS: how much of its share of a GPU's memory a client may have (not known to NVIDIA's plugin).
  unsigned mps_memory_percent = kWholeShare;
  std::vector<SharedResource> resources;
};

struct Settings {
  MigStrategy mig_strategy = MigStrategy::none;
  std::string driver_root = "/";  ///< as the host sees it
  std::string dev_root;           ///< empty: driver_root
  std::string mps_root = "/run/nvidia/mps";
  bool pass_device_specs = false;
  std::set<ListStrategy> list_strategies{ListStrategy::envvar};
  bool list_strategies_given = false;  ///< by the config or a variable; else who uses them may choose
  std::string fallback;                ///< why the strategy that was chosen for them does not count
  IdStrategy id_strategy = IdStrategy::uuid;
  AllocationPolicy policy = AllocationPolicy::distributed;
  std::string cdi_annotation_prefix = "cdi.k8s.io/";
  bool gdrcopy = false;
  bool gds = false;
  bool mofed = false;
  std::vector<unsigned> imex_channels;
  bool imex_required = false;
  std::vector<NamePattern> gpu_names;  ///< first fit counts; a GPU that none fits is nvidia.com/gpu
  std::vector<NamePattern> mig_names;
  Sharing sharing;
  bool fail_on_init_error = false;         ///< the service ends where it finds no driver at its start
  bool use_node_feature_api = false;       ///< flags.useNodeFeatureAPI, which only GPU Feature Discovery has
  Node gfd;                                ///< flags.gfd, which only GPU Feature Discovery reads
  std::string health_checks_off;           ///< DP_DISABLE_HEALTHCHECKS
  std::string health_checks_on;            ///< DP_ENABLE_HEALTHCHECKS
  std::vector<std::string> warnings;       ///< keys that are not known, choices that do nothing
  bool operator==(const Settings&) const;  ///< by what is in force, not by warnings

  /// Where the host's /dev is, for the paths that kubelet gets.
  std::string host_dev_root() const { return dev_root.empty() ? driver_root : dev_root; }
  bool any_cdi() const;
  bool only_cdi() const;
};

/// Canonical text of all that counts: what `slipway deviceplugin resources` shows, and what tells two settings apart.
Json to_json(const Settings& settings);

/// The names that the config gives to resources, other than those that they have by themselves.
std::set<std::string> given_names(const Settings& settings);

/// Takes over a config file (version v1) on top of `settings`. Unknown keys become warnings.
/// Errors: `invalid`, with the place.
Status take_config(const Node& root, Settings& settings);

/// The environment variables of NVIDIA's flags: they win over the file.
/// @param get       std::getenv, or a test's
/// @param place_of  where a variable that is set stands, for errors
/// Errors: `usage`, with the place.
Status take_environment(const std::function<const char*(const char* name)>& get,
                        const std::function<std::string(const char* name)>& place_of, Settings& settings);

/// Errors: `invalid`, naming the three.
Result<MigStrategy> parse_mig_strategy(const std::string& text, const std::string& where);

/// The rules between keys. Errors: `invalid`.
Status check_settings(const Settings& settings);

/// A list such as that of DP_DISABLE_HEALTHCHECKS has the word "all", in any case of letters.
bool names_all(std::string_view list);

/// The words of such a list that are neither a number nor "all" nor "xids".
std::vector<std::string> not_xids(std::string_view list);

/// "gpu" -> "nvidia.com/gpu". Errors: `invalid`: longer than 63 letters, or no DNS subdomain behind the slash.
Result<std::string> full_resource_name(const std::string& name, const Node& node);

/// `*` is any text, everything else is itself; the whole of `text` must fit.
bool fits(std::string_view pattern, std::string_view text);

/// The name that the first fitting pattern gives to a product or profile.
std::string first_fit(const std::vector<NamePattern>& names, const std::string& text, const std::string& otherwise);

}  // namespace slipway::nvidia::config
