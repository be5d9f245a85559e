// SPDX-License-Identifier: Apache-2.0
// plugins/dcgm/sampler/details.hpp - details of a GPU for people, whatever the counters are: its load, its MIG
// instances, and the processes on it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "nvidia/nvml/nvml.hpp"

namespace slipway::dcgm {

class FieldReader;
struct MigLayout;

/// A GPU instance, on the memory slices from `start` on.
struct InstanceDetails {
  unsigned id = 0;
  std::string profile;  ///< "1g.10gb"
  unsigned start = 0;
  unsigned size = 1;
  std::uint64_t memory_used = 0;   ///< bytes
  std::uint64_t memory_total = 0;  ///< bytes; 0: not known, it has no compute instance
  std::optional<double> active;    ///< per cent of the time that it computes
};

struct ProcessDetails {
  unsigned pid = 0;
  std::string name;  ///< from the kernel, else from the executable; at most kLongestName bytes; not trusted
  std::optional<std::uint64_t> memory;  ///< bytes
  std::optional<unsigned> instance;     ///< the GPU instance that it uses
};

/// Empty members: the GPU does not report the value. Memory is in bytes, `power` in watts, temperatures in °C, clocks
/// in MHz.
struct GpuDetails {
  static constexpr std::size_t kMostProcesses = 24;
  static constexpr std::size_t kLongestName = 48;

  std::optional<double> utilization;  ///< per cent; never with MIG enabled
  std::optional<double> temperature;
  std::optional<double> power;
  std::optional<double> power_limit;
  std::optional<double> clock;
  std::optional<double> clock_most;
  std::uint64_t memory_used = 0;
  std::uint64_t memory_total = 0;
  bool mig_enabled = false;
  bool mig_pending = false;  ///< the mode changes with the next reset
  unsigned slices = 1;       ///< of memory, where MIG is enabled
  std::vector<InstanceDetails> instances;
  std::vector<ProcessDetails> processes;  ///< those with the most memory first, at most kMostProcesses
  std::size_t more_processes = 0;         ///< number of processes that were left out
};

/// Called inside one call of NVML (Nvml::ask_together). Values that the GPU does not report stay empty. Never null.
/// @param proc    the folder /proc of the host
/// @param reader  of the sample in progress: values that the counters have read are not read again
std::shared_ptr<const GpuDetails> read_details(nvidia::nvml::Nvml& nvml, nvmlDevice_t gpu, const std::string& proc,
                                               FieldReader& reader, const MigLayout& layout);

/// Returns the name of a program without its folder, shortened if it is too long: "/usr/bin/python3" -> "python3".
std::string short_name_of(const std::string& program);

}  // namespace slipway::dcgm
