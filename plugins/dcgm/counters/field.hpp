// SPDX-License-Identifier: Apache-2.0
// plugins/dcgm/counters/field.hpp - the DCGM fields that NVML can provide: their numbers, and the NVML question for
// each.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::dcgm {

/// The NVML call that returns the value; each value says how a field's `function` and `argument` are used.
enum class Source {
  number,              ///< function(gpu, unsigned*)
  large_number,        ///< function(gpu, unsigned long long*)
  two_numbers,         ///< function(gpu, unsigned* value, unsigned* ignored)
  selected_number,     ///< function(gpu, argument, unsigned*)
  system_number,       ///< function(unsigned*)
  compute_capability,  ///< the major number in bits 31 to 16, the minor one below
  confidential,        ///< 1: confidential computing is on
  text,                ///< function(gpu, char*, unsigned size)
  system_text,         ///< function(char*, unsigned size)
  inforom_version,     ///< argument: the object of the infoROM
  brand,               ///< a word for the number
  temperature,         ///< of the GPU's core
  memory_temperature,  ///< a field value that some drivers return with a wrong type
  field_value,         ///< argument: the number of NVML's field
  utilization,         ///< argument: 0 the GPU, 1 its memory
  framebuffer,         ///< argument: one of Framebuffer
  bar1,                ///< argument: one of Bar1
  memory_errors,       ///< of ECC; argument: memory_errors_argument()
  sram_threshold,      ///< 1: more SRAM errors than the vendor allows
  row_histogram,       ///< argument: 0 banks with the most rows left, … 4 with none
  gpu_memory,          ///< the same for the whole GPU, in bytes; also on a GPU in MIG mode
  retired_pages,       ///< argument: the cause
  nvlink_rate,         ///< argument: the link, or kAllLinks
  nvlink_bytes,        ///< of all links; argument: 1 sent, 2 received, 3 both
  vgpu_license,        ///< 1: licensed
  xid,                 ///< the last one
  profiling,           ///< argument: the number of NVML's profiling metric (GPM)
  link_state,          ///< of an NVLink; 1: it is up
  link_errors,         ///< of an NVLink; argument: nvmlNvLinkErrorCounter_t
  processor_share,     ///< of a processor or core, from the kernel; argument: 0 all work, 1 user, 2 nice, 3 system, 4
                       ///< interrupts
};

/// The kind of entity that a field describes.
enum class FieldLevel {
  gpu,
  link,         ///< an NVLink of a GPU
  processor,    ///< or a core
  nv_switch,    ///< only DCGM's engine has values for this kind and the next
  switch_link,  ///< a link of an NVSwitch
};

enum class Framebuffer : unsigned { total, free, used, reserved, used_share };
enum class Bar1 : unsigned { total, free, used };

/// The numbers are those of nvmlMemoryLocation_t, with those of nvmlMemoryErrorType_t and nvmlEccCounterType_t below.
enum class MemoryErrors : unsigned { dram = 2, sram = 7 };
constexpr unsigned memory_errors_argument(MemoryErrors location, bool aggregate, bool uncorrected) {
  return static_cast<unsigned>(location) << 2U | (aggregate ? 2U : 0U) | (uncorrected ? 1U : 0U);
}

/// Field numbers of slipway's own, which DCGM does not have; a file of counters cannot name them.
inline constexpr unsigned kOwnFields = 1000000;
inline constexpr unsigned kMemoryTotalBytes = kOwnFields;
inline constexpr unsigned kMemoryFreeBytes = kOwnFields + 1;
inline constexpr unsigned kMemoryUsedBytes = kOwnFields + 2;
inline constexpr unsigned kMemoryReservedBytes = kOwnFields + 3;
inline constexpr unsigned kGpuMemoryTotalBytes = kOwnFields + 4;
inline constexpr unsigned kGpuMemoryUsedBytes = kOwnFields + 5;
inline constexpr unsigned kNvlinkSentBytes = kOwnFields + 6;
inline constexpr unsigned kNvlinkReceivedBytes = kOwnFields + 7;
inline constexpr unsigned kNvlinkBytes = kOwnFields + 8;

inline constexpr unsigned kAllLinks = 0xffffffffU;
inline constexpr unsigned kUtilizationField = 203;
inline constexpr unsigned kMemoryUsedField = 252;
inline constexpr unsigned kClockReasonsField = 112;  ///< bits: why clocks are slow

struct Field {
  unsigned number = 0;  ///< DCGM's
  Source source = Source::number;
  const char* function = nullptr;
  unsigned argument = 0;
  unsigned directions = 3;  ///< of traffic: 1 sent, 2 received, 3 both
  double factor = 1;        ///< converts NVML's unit to DCGM's
  bool real = false;        ///< with a fraction
  bool whole_gpu = false;   ///< GPU instances do not have the field
  FieldLevel level = FieldLevel::gpu;

  /// True when a GPU instance has its own value. XIDs, which come from NVML's events, also count per instance.
  bool per_instance() const { return source == Source::framebuffer || source == Source::profiling; }
  /// True when the value cannot change while the driver is loaded.
  bool is_constant() const;
  bool is_text() const {
    return source == Source::text || source == Source::system_text || source == Source::inforom_version ||
           source == Source::brand;
  }
};

/// Returns null when NVML does not have the field, or slipway does not read it.
const Field* find_field(unsigned number);

/// Returns the kind of entity that a field describes, also for fields that NVML does not have.
FieldLevel field_level(unsigned number);

/// Finds a field by any name that DCGM has or had for it. Empty: DCGM has no such field.
std::optional<unsigned> field_number(std::string_view name);
/// Returns the name in dcgm-exporter's file, or else DCGM's newest name; from kOwnFields on, a description by slipway.
std::string field_name(unsigned number);
/// Returns the numbers of all fields that can be selected, in order.
std::vector<unsigned> field_numbers();
/// Returns a Markdown table of all fields that can be selected, one row each.
std::string field_table();
/// All names, sorted.
std::vector<std::string> field_names();

}  // namespace slipway::dcgm
