// SPDX-License-Identifier: Apache-2.0
// plugins/mig/layout/gpu.hpp - a GPU as far as MIG is concerned: its profiles, where instances of them may lie, and the
// instances that it has.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <slipway/json.hpp>
#include <slipway/result.hpp>

#include "mig/model/config.hpp"
#include "mig/model/device_id.hpp"
#include "mig/profile/profile.hpp"

namespace slipway::mig {

/// A profile of GPU instances.
struct InstanceProfile {
  Profile profile;
  unsigned selector = 0;         ///< NVML_GPU_INSTANCE_PROFILE_…
  unsigned id = 0;               ///< what creating and listing take: not the selector
  unsigned max = 0;              ///< how many there may be at once, as the driver says
  unsigned size = 0;             ///< memory slices of one
  std::vector<unsigned> starts;  ///< memory slices that one may begin at; sorted

  bool operator==(const InstanceProfile&) const = default;
};

/// A part of a GPU instance, which programs see as a MIG device.
struct ComputeInstance {
  unsigned start = 0;  ///< compute slices
  unsigned slices = 0;

  auto operator<=>(const ComputeInstance&) const =
      default;  // NOLINT(modernize-use-nullptr): clang-tidy 14 takes it for 0
};

struct GpuInstance {
  unsigned start = 0;                    ///< memory slices
  unsigned profile_id = 0;               ///< InstanceProfile::id
  std::vector<ComputeInstance> compute;  ///< sorted

  auto operator<=>(const GpuInstance&) const = default;  // NOLINT(modernize-use-nullptr): clang-tidy 14 takes it for 0
};

/// Sorted by start.
using Instances = std::vector<GpuInstance>;

struct Gpu {
  unsigned index = 0;   ///< NVML's: in the order of the bus
  std::string address;  ///< "0000:65:00.0"
  std::string uuid;
  std::string name;
  DeviceId id;
  bool lost = false;     ///< the driver counts it and cannot reach it: only index and address are known, if that
  bool hangs = false;    ///< `lost`, since calls about it do not come back
  bool capable = false;  ///< of MIG
  bool enabled = false;
  bool pending = false;      ///< the mode after the next reset
  bool needs_reset = false;  ///< a change of the mode resets it: before the Hopper generation
  /// Who hands it out, where that leaves no room for a config's layout: "dra", "vfio"; empty: nobody such.
  std::string manager;
  std::vector<InstanceProfile> profiles;  ///< empty also where the driver does not tell them while MIG is disabled
  Instances instances;

  bool operator==(const Gpu&) const = default;

  const InstanceProfile* find(unsigned profile_id) const;
  /// By its canonical name, with C = G.
  const InstanceProfile* find(const Profile& profile) const;
  /// "GPU 3 (0000:65:00.0)"; "GPU 3" where the address is not known.
  std::string text() const;
  /// The same of a lost one, which says so when it hangs.
  std::string lost_text() const { return text() + (hangs ? std::string(kHangs) : ""); }
  static constexpr std::string_view kHangs = ", which does not answer";
};

/// What the instances come to, by meaning. GPU instances without a compute instance are no devices.
Layout layout_of(const Gpu& gpu);
Layout layout_of(const Gpu& gpu, bool enabled, const Instances& instances);
/// "3g.40gb at 4", "3g.40gb at 0 with 1c, 2c": for messages.
std::string to_text(const Gpu& gpu, const GpuInstance& instance);

Json to_json(const Gpu& gpu);
/// Errors: `plugin_defect` when the value has not the form of to_json().
Result<Gpu> gpu_from_json(const Json& value);
Json to_json(const Instances& instances);
Result<Instances> instances_from_json(const Json& value);

}  // namespace slipway::mig
