// SPDX-License-Identifier: Apache-2.0
// The fields that can be selected, as a table for people: `slipway dcgm fields`, docs/components/dcgm-fields.md.
#include "dcgm/counters/field.hpp"

namespace slipway::dcgm {
namespace {

std::string question_of(const Field& field) {
  const std::string argument = std::to_string(field.argument);
  switch (field.source) {
    case Source::field_value:
    case Source::memory_temperature:
      return "field value " + argument;
    case Source::profiling:
      return "profiling metric " + argument;
    case Source::link_state:
      return "nvmlDeviceGetNvLinkState, of each NVLink";
    case Source::link_errors:
      return "nvmlDeviceGetNvLinkErrorCounter, " + argument + ", of each NVLink";
    case Source::processor_share:
      return "the kernel, of each processor and core";
    case Source::nvlink_rate:
      return std::string("field values ") +
             (field.directions == 1   ? "138"
              : field.directions == 2 ? "139"
                                      : "138, 139") +
             (field.level == FieldLevel::link ? " of each NVLink"
              : field.argument == kAllLinks   ? " of all links"
                                              : " of link " + argument) +
             ", as a rate";
    case Source::framebuffer:
      return "nvmlDeviceGetMemoryInfo";
    case Source::bar1:
      return "nvmlDeviceGetBAR1MemoryInfo";
    case Source::memory_errors:
      return "nvmlDeviceGetMemoryErrorCounter";
    case Source::sram_threshold:
      return "nvmlDeviceGetSramEccErrorStatus";
    case Source::row_histogram:
      return "nvmlDeviceGetRowRemapperHistogram";
    case Source::retired_pages:
      return "nvmlDeviceGetRetiredPages";
    case Source::utilization:
      return "nvmlDeviceGetUtilizationRates";
    case Source::temperature:
      return "nvmlDeviceGetTemperature";
    case Source::inforom_version:
      return "nvmlDeviceGetInforomVersion";
    case Source::brand:
      return "nvmlDeviceGetBrand";
    case Source::vgpu_license:
      return "nvmlDeviceGetGridLicensableFeatures";
    case Source::xid:
      return "events";
    case Source::selected_number:
      return std::string(field.function) + ", " + argument;
    default:
      return field.function == nullptr ? "" : field.function;
  }
}

const char* form_of(const Field& field) {
  if (field.is_text()) return "text, for a label";
  return field.real ? "number with a fraction" : "whole number";
}

}  // namespace

std::string field_table() {
  std::string table = "| number | name | value | NVML function |\n|---|---|---|---|\n";
  for (const unsigned number : field_numbers()) {
    const Field& field = *find_field(number);
    table += "| " + std::to_string(number) + " | `" + field_name(number) + "` | " + form_of(field) + " | " +
             question_of(field) + " |\n";
  }
  return table;
}

}  // namespace slipway::dcgm
