// SPDX-License-Identifier: Apache-2.0
// plugins/dcgm/counters/field.hpp - the fields of DCGM that NVML can tell: their numbers, and what to ask for each.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::dcgm {

/// Which question to NVML has the value; what `function` and `argument` of a field are for.
enum class Source {
  number,              ///< function(gpu, unsigned*)
  large_number,        ///< function(gpu, unsigned long long*)
  two_numbers,         ///< function(gpu, unsigned* value, unsigned* another)
  selected_number,     ///< function(gpu, argument, unsigned*)
  system_number,       ///< function(unsigned*)
  compute_capability,  ///< the major number in bits 31 to 16, the minor one below
  confidential,        ///< 1: confidential computing is on
  text,                ///< function(gpu, char*, unsigned size)
  system_text,         ///< function(char*, unsigned size)
  inforom_version,     ///< argument: the object of the infoROM
  brand,               ///< a word for the number
  temperature,         ///< of the GPU's core
  memory_temperature,  ///< a field value that some drivers give with a wrong type
  field_value,         ///< argument: the number of NVML's field
  utilization,         ///< argument: 0 the GPU, 1 its memory
  framebuffer,         ///< argument: one of Framebuffer
  bar1,                ///< argument: one of Bar1
  memory_errors,       ///< of ECC; argument: memory_errors_argument()
  sram_threshold,      ///< 1: more errors of SRAM than its vendor allows
  row_histogram,       ///< argument: 0 banks with the most rows left, … 4 with none
  gpu_memory,          ///< the same of the whole GPU, in bytes; of a GPU in MIG mode too
  retired_pages,       ///< argument: the cause
  nvlink_rate,         ///< argument: the link, or kAllLinks
  nvlink_bytes,        ///< of all links; argument: 1 sent, 2 received, 3 both
  vgpu_license,        ///< 1: licensed
  xid,                 ///< the last one
  profiling,           ///< argument: the number of NVML's profiling metric (GPM)
  link_state,          ///< of an NVLink: 1, it is up
  link_errors,         ///< of an NVLink; argument: nvmlNvLinkErrorCounter_t
  processor_share,     ///< of a processor or core, from the kernel; argument: 0 all work, 1 user, 2 nice, 3 system, 4
                       ///< interrupts
};

/// What a field is of.
enum class FieldLevel {
  gpu,
  link,         ///< an NVLink of a GPU
  processor,    ///< or a core
  nv_switch,    ///< these two are told by an engine of DCGM's alone
  switch_link,  ///< a link of an NVSwitch
};

enum class Framebuffer : unsigned { total, free, used, reserved, used_share };
enum class Bar1 : unsigned { total, free, used };

/// The numbers are those of nvmlMemoryLocation_t, with those of nvmlMemoryErrorType_t and nvmlEccCounterType_t below.
enum class MemoryErrors : unsigned { dram = 2, sram = 7 };
constexpr unsigned memory_errors_argument(MemoryErrors location, bool aggregate, bool uncorrected) {
  return static_cast<unsigned>(location) << 2U | (aggregate ? 2U : 0U) | (uncorrected ? 1U : 0U);
}

/// Numbers of fields that DCGM does not have; no file of counters can name them.
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
  double factor = 1;        ///< from NVML's unit to DCGM's
  bool real = false;        ///< with a fraction
  bool whole_gpu = false;   ///< GPU instances do not have it
  FieldLevel level = FieldLevel::gpu;

  /// A GPU instance has a value of its own. XIDs, which NVML tells by events, are told apart as well.
  bool per_instance() const { return source == Source::framebuffer || source == Source::profiling; }
  /// It stays what it is for as long as the driver is loaded.
  bool is_constant() const;
  bool is_text() const {
    return source == Source::text || source == Source::system_text || source == Source::inforom_version ||
           source == Source::brand;
  }
};

/// Null: NVML does not tell it, or slipway does not ask.
const Field* find_field(unsigned number);

/// What a field is of, one that NVML does not tell included.
FieldLevel field_level(unsigned number);

/// Of any name that DCGM has or had for the field. Nothing: DCGM has no such field.
std::optional<unsigned> field_number(std::string_view name);
/// The name that dcgm-exporter's file has, or DCGM's newest; of kOwnFields on, words of our own.
std::string field_name(unsigned number);
/// Of all that can be selected, in order.
std::vector<unsigned> field_numbers();
/// All that can be selected as a table in Markdown, a row each.
std::string field_table();
/// All names, sorted.
std::vector<std::string> field_names();

}  // namespace slipway::dcgm
