// SPDX-License-Identifier: Apache-2.0
// plugins/dcgm/selection/devices.hpp - which GPUs and GPU instances have metrics: dcgm-exporter's --devices.
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
};

/// "f", "g", "g:0,2-3", "i", "i:8". Errors: `invalid` another form, numbers beyond 1023, numbers for f.
Result<DeviceSelection> parse_devices(const std::string& text, const std::string& where);

}  // namespace slipway::dcgm
