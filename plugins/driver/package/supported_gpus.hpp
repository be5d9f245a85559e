// SPDX-License-Identifier: Apache-2.0
// plugins/driver/package/supported_gpus.hpp - a driver version's own list of supported devices (annotation kGpus), and
// what it says about a GPU.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include <slipway/json.hpp>
#include <slipway/result.hpp>

#include "nvidia/gpu.hpp"

namespace slipway::driver {

/// What a list says about one kind of modules. A device that neither set names is not known to the list.
struct ModulesSupport {
  std::set<std::uint16_t> supports;
  std::set<std::uint16_t> lacks;

  bool operator==(const ModulesSupport&) const = default;
};

struct SupportedGpus {
  ModulesSupport open;
  ModulesSupport proprietary;
  std::map<std::uint16_t, unsigned>
      last_branch;  ///< devices that this version no longer supports, with the last branch

  bool empty() const { return *this == SupportedGpus{}; }
  /// Adds what another list of the same version says.
  void add(const SupportedGpus& other);
  /// Returns the GPU with what the list says about it instead of the table; unchanged if the list does not name it.
  nvidia::Gpu judged(nvidia::Gpu gpu, unsigned branch) const;

  bool operator==(const SupportedGpus&) const = default;
};

/// {"open": {"supports": "1e02 1e04-1e07"}, "proprietary": {"lacks": "2342"}, "legacy": {"470": "0ff3"}}; parts that
/// are empty are left out.
Json to_json(const SupportedGpus& list);
/// Errors: `corrupt`.
Result<SupportedGpus> supported_gpus_from_json(const Json& value);

}  // namespace slipway::driver
