// SPDX-License-Identifier: Apache-2.0
// plugins/mig/layout/gpu.hpp - a GPU as far as MIG is concerned: its profiles, the possible places of their instances,
// and its instances.
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
  unsigned id = 0;               ///< the id for creating and listing; not the selector
  unsigned max = 0;              ///< maximum number at once, according to the driver
  unsigned size = 0;             ///< memory slices of an instance
  std::vector<unsigned> starts;  ///< memory slices at which an instance may begin; sorted

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
  unsigned index = 0;   ///< NVML's index: in bus order
  std::string address;  ///< "0000:65:00.0"
  std::string uuid;
  std::string name;
  DeviceId id;
  bool lost = false;     ///< the driver counts it but cannot reach it: at most index and address are known
  bool hangs = false;    ///< `lost` because calls about it hang
  bool capable = false;  ///< of MIG
  bool enabled = false;
  bool pending = false;      ///< the mode after the next reset
  bool needs_reset = false;  ///< a change of the mode resets the GPU: before the Hopper generation
  /// The program that manages it and rules out a config's layout: "dra", "vfio"; empty: none.
  std::string manager;
  std::vector<InstanceProfile> profiles;  ///< also empty if the driver does not report them while MIG is disabled
  Instances instances;

  bool operator==(const Gpu&) const = default;

  const InstanceProfile* find(unsigned profile_id) const;
  /// Finds a profile by its canonical name, with C = G.
  const InstanceProfile* find(const Profile& profile) const;
  /// Returns "GPU 3 (0000:65:00.0)", or "GPU 3" if the address is unknown.
  std::string text() const;
  /// The same for a lost GPU; the text says so when it hangs.
  std::string lost_text() const { return text() + (hangs ? std::string(kHangs) : ""); }
  static constexpr std::string_view kHangs = ", which does not answer";
};

/// Returns the layout of the instances. GPU instances without a compute instance are not devices.
Layout layout_of(const Gpu& gpu);
Layout layout_of(const Gpu& gpu, bool enabled, const Instances& instances);
/// Returns "3g.40gb at 4" or "3g.40gb at 0 with 1c, 2c", for messages.
std::string to_text(const Gpu& gpu, const GpuInstance& instance);

Json to_json(const Gpu& gpu);
/// Errors: `plugin_defect` when the value does not have the form of to_json().
Result<Gpu> gpu_from_json(const Json& value);
Json to_json(const Instances& instances);
Result<Instances> instances_from_json(const Json& value);

}  // namespace slipway::mig
