// SPDX-License-Identifier: Apache-2.0
// plugins/dcgm/sampler/processors.hpp - the load of the machine's processors, read from the kernel without DCGM.
#pragma once

#include <array>
#include <map>
#include <string_view>
#include <vector>

#include <slipway/host.hpp>

#include "dcgm/counters/counters.hpp"
#include "dcgm/sampler/sample.hpp"
#include "dcgm/selection/devices.hpp"

namespace slipway::dcgm {

/// Ticks of a core since the boot, in the order of /proc/stat: user, nice, system, idle, iowait, irq, softirq, steal.
using CoreTicks = std::array<std::uint64_t, 8>;
/// Returns the ticks by core number. @param text  of /proc/stat
std::map<unsigned, CoreTicks> core_ticks(std::string_view text);

/// Shares of the time since the previous look, of each processor (socket) and core. Used by one thread.
class Processors {
 public:
  /// @param host  borrowed
  Processors(const Host& host, DeviceSelection selection) : host_(host), selection_(std::move(selection)) {}
  /// True when the next check has nothing to compare with for the counters in the file.
  bool is_new_to(const Counters& counters) const { return !counters.processors.empty() && before_.empty(); }
  /// Returns nothing at the first check, or if the file of counters asks for no processors.
  std::vector<ProcessorEntity> look(const Counters& counters);

 private:
  unsigned processor_of(unsigned core);

  const Host& host_;
  DeviceSelection selection_;
  std::map<unsigned, CoreTicks> before_;
  std::map<unsigned, unsigned> processors_;  ///< of the cores
};

}  // namespace slipway::dcgm
