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
  media_utilization,   ///< function(gpu, unsigned* percent, unsigned* period)
  text,                ///< function(gpu, char*, unsigned size)
  system_text,         ///< function(char*, unsigned size)
  inforom_version,     ///< argument: the object of the infoROM
  brand,               ///< a word for the number
  clock,               ///< argument: the domain
  temperature,         ///< of the GPU's core
  memory_temperature,  ///< a field value that some drivers give with a wrong type
  field_value,         ///< argument: the number of NVML's field
  utilization,         ///< argument: 0 the GPU, 1 its memory
  framebuffer,         ///< argument: one of Framebuffer
  retired_pages,       ///< argument: the cause
  nvlink_rate,         ///< argument: the link, or kAllLinks
  vgpu_license,        ///< 1: licensed
  xid,                 ///< the last one
  profiling,           ///< argument: the number of NVML's profiling metric (GPM)
};

enum class Framebuffer : unsigned { total, free, used, reserved, used_share };
inline constexpr unsigned kAllLinks = 0xffffffffU;

struct Field {
  unsigned number = 0;  ///< DCGM's
  Source source = Source::number;
  const char* function = nullptr;
  unsigned argument = 0;
  double factor = 1;       ///< from NVML's unit to DCGM's
  bool real = false;       ///< with a fraction
  bool whole_gpu = false;  ///< GPU instances do not have it

  /// A GPU instance has a value of its own. XIDs, which NVML tells by events, are told apart as well.
  bool per_instance() const { return source == Source::framebuffer || source == Source::profiling; }
  bool is_text() const {
    return source == Source::text || source == Source::system_text || source == Source::inforom_version ||
           source == Source::brand;
  }
};

/// Null: NVML does not tell it, or slipway does not ask.
const Field* find_field(unsigned number);

/// Of any name that DCGM has or had for the field. Nothing: DCGM has no such field.
std::optional<unsigned> field_number(std::string_view name);
/// All names, sorted.
std::vector<std::string> field_names();

}  // namespace slipway::dcgm
