// SPDX-License-Identifier: Apache-2.0
// plugins/dcgm/selection/devices.hpp - the GPUs and GPU instances that have metrics: dcgm-exporter's --devices.
#pragma once

#include <set>
#include <string>

#include <slipway/result.hpp>

namespace slipway::dcgm {

struct DeviceSelection {
  enum class Kind {
    flexible,   ///< the GPU instances of a GPU that has some, else the GPU
    gpus,       ///< GPUs alone, by their index
    instances,  ///< GPU instances alone, by DCGM's number: eight for each GPU, in the order of their ids
  };
  static constexpr unsigned kInstancesOfAGpu = 8;
  Kind kind = Kind::flexible;
  std::set<unsigned> numbers;  ///< empty: all

  bool has_gpu(unsigned index) const;
  bool has_instance(unsigned index, unsigned place) const;
  /// For a selection of processors.
  bool has_core(unsigned core) const { return kind != Kind::gpus && (numbers.empty() || numbers.contains(core)); }
};

/// The NVSwitches and NVLinks that have metrics: dcgm-exporter's --switch-devices.
struct LinkSelection {
  static constexpr unsigned kMostLinks = 64;  ///< the number of links of a GPU that are checked; NVML has 18

  DeviceSelection::Kind kind = DeviceSelection::Kind::flexible;  ///< both, NVSwitches alone, or links alone
  std::set<unsigned> numbers = {};                               ///< as dcgm-exporter counts them; empty: all

  /// @param link  NVML's number of a GPU's link, from 0; dcgm-exporter counts from 1
  bool has(unsigned link) const { return has_switch_link(link + 1); }
  bool has_switch(unsigned number) const { return kind != DeviceSelection::Kind::instances && is_named(number); }
  /// @param link  DCGM's number of an NVSwitch's link, from 0, as dcgm-exporter has it
  bool has_switch_link(unsigned link) const { return kind != DeviceSelection::Kind::gpus && is_named(link); }

 private:
  bool is_named(unsigned number) const { return numbers.empty() || numbers.contains(number); }
};

/// Reads "f", "i", "i:1,3-4", "g", "g:0". Errors: `invalid` another form.
Result<LinkSelection> parse_links(const std::string& text, const std::string& where);
/// Reads a selection of processors and cores: like parse_devices(), with g for processors and i for cores.
Result<DeviceSelection> parse_processors(const std::string& text, const std::string& where);

/// Reads "f", "g", "g:0,2-3", "i", "i:8". Errors: `invalid` another form, numbers beyond 1023, numbers for f.
Result<DeviceSelection> parse_devices(const std::string& text, const std::string& where);

}  // namespace slipway::dcgm
