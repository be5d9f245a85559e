// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/service/mps/settings.hpp - the settings that the MPS control daemon of a resource needs.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "deviceplugin/devices/resources.hpp"

namespace slipway::deviceplugin {

/// One control daemon serves the GPUs of one resource.
struct MpsSettings {
  struct Limit {
    unsigned index = 0;            ///< of the GPU: daemons do not accept a UUID here
    std::uint64_t memory_mib = 0;  ///< for each client process; 0: the GPU does not report its memory
    bool operator==(const Limit&) const = default;
  };
  std::vector<std::string> gpus;  ///< UUIDs
  std::vector<Limit> limits;
  unsigned thread_percentage = 100;  ///< of each client
  bool operator==(const MpsSettings&) const = default;
};

/// Returns the settings by resource; empty when no resource is shared by MPS. A GPU's memory and threads are divided by
/// its replicas.
/// @param memory_percent  percentage of its share that a client may use, at most all of the GPU's memory (sharing.mps
///   of the
///                        settings)
std::map<std::string, MpsSettings> mps_settings(const Resources& resources, const std::vector<Gpu>& gpus,
                                                unsigned memory_percent = kWholeShare);

/// Return a command for the daemon's standard input.
std::string memory_command(const MpsSettings::Limit& limit);
std::string threads_command(unsigned percentage);

}  // namespace slipway::deviceplugin
