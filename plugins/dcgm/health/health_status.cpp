// SPDX-License-Identifier: Apache-2.0
#include "dcgm/health/health_status.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "dcgm/counters/field.hpp"

namespace slipway::dcgm {
namespace {

namespace health = nvidia::health;

constexpr int kWarn = 10;
constexpr int kFail = 20;
constexpr std::string_view kOther = "ALL";
constexpr std::string_view kXid = "DCGM_FR_XID_ERROR";

constexpr std::array<std::string_view, 11> kWatches{"PCIE",    "NVLINK",  "PMU",   "MCU",    "MEM", "SM",
                                                    "INFOROM", "THERMAL", "POWER", "DRIVER", kOther};

/// The watch in which DCGM 4.6 has an XID or a field.
struct DcgmPlace {
  unsigned number;
  std::string_view watch;
  std::string_view error;
};

// DCGM puts 48, 74, 79, 94, 95, 119, 120 and 140 under ALL; so does slipway with XIDs that are not in this table.
constexpr std::array kXids{DcgmPlace{31, "MEM", kXid},
                           DcgmPlace{32, "MEM", kXid},
                           DcgmPlace{38, "PCIE", kXid},
                           DcgmPlace{39, "PCIE", kXid},
                           DcgmPlace{42, "PCIE", kXid},
                           DcgmPlace{43, "MEM", kXid},
                           DcgmPlace{54, "POWER", kXid},
                           DcgmPlace{56, "POWER", kXid},
                           DcgmPlace{57, "POWER", "DCGM_FR_CLOCK_THROTTLE_POWER"},
                           DcgmPlace{58, "POWER", kXid},
                           DcgmPlace{60, "THERMAL", "DCGM_FR_CLOCK_THROTTLE_THERMAL"},
                           DcgmPlace{61, "THERMAL", kXid},
                           DcgmPlace{62, "THERMAL", kXid},
                           DcgmPlace{63, "MEM", "DCGM_FR_PENDING_PAGE_RETIREMENTS"},
                           DcgmPlace{64, "MEM", "DCGM_FR_ROW_REMAP_FAILURE"},
                           DcgmPlace{67, "NVLINK", kXid},
                           DcgmPlace{73, "NVLINK", kXid},
                           DcgmPlace{78, "POWER", kXid},
                           DcgmPlace{79, kOther, "DCGM_FR_FALLEN_OFF_BUS"},
                           DcgmPlace{93, "INFOROM", "DCGM_FR_CORRUPT_INFOROM"},
                           DcgmPlace{94, kOther, "DCGM_FR_CONTAINED_ERROR"},
                           DcgmPlace{95, kOther, "DCGM_FR_UNCONTAINED_ERROR"},
                           DcgmPlace{121, "NVLINK", kXid},
                           DcgmPlace{137, "NVLINK", kXid}};

// By DCGM's numbers.
constexpr std::array kFieldsOfWatches{DcgmPlace{84, "INFOROM", "DCGM_FR_CORRUPT_INFOROM"},
                                      DcgmPlace{140, "THERMAL", "DCGM_FR_TEMP_VIOLATION"},
                                      DcgmPlace{150, "THERMAL", "DCGM_FR_TEMP_VIOLATION"},
                                      DcgmPlace{155, "POWER", "DCGM_FR_FIELD_VIOLATION"},
                                      DcgmPlace{202, "PCIE", "DCGM_FR_PCI_REPLAY_RATE"},
                                      DcgmPlace{240, "POWER", "DCGM_FR_CLOCK_THROTTLE_POWER"},
                                      DcgmPlace{241, "THERMAL", "DCGM_FR_CLOCK_THROTTLE_THERMAL"},
                                      DcgmPlace{243, "POWER", "DCGM_FR_CLOCK_THROTTLE_POWER"},
                                      DcgmPlace{310, "MEM", "DCGM_FR_VOLATILE_SBE_DETECTED"},
                                      DcgmPlace{311, "MEM", "DCGM_FR_VOLATILE_DBE_DETECTED"},
                                      DcgmPlace{312, "MEM", "DCGM_FR_SBE_VIOLATION"},
                                      DcgmPlace{313, "MEM", "DCGM_FR_DBE_VIOLATION"},
                                      DcgmPlace{346, "MEM", "DCGM_FR_SRAM_THRESHOLD"},
                                      DcgmPlace{390, "MEM", "DCGM_FR_RETIRED_PAGES_LIMIT"},
                                      DcgmPlace{391, "MEM", "DCGM_FR_RETIRED_PAGES_DBE_LIMIT"},
                                      DcgmPlace{392, "MEM", "DCGM_FR_PENDING_PAGE_RETIREMENTS"},
                                      DcgmPlace{393, "MEM", "DCGM_FR_UNCORRECTABLE_ROW_REMAP"},
                                      DcgmPlace{394, "MEM", "DCGM_FR_FIELD_VIOLATION"},
                                      DcgmPlace{395, "MEM", "DCGM_FR_ROW_REMAP_FAILURE"},
                                      DcgmPlace{396, "MEM", "DCGM_FR_PENDING_ROW_REMAP"},
                                      DcgmPlace{409, "NVLINK", "DCGM_FR_NVLINK_CRC_ERROR_THRESHOLD"},
                                      DcgmPlace{419, "NVLINK", "DCGM_FR_NVLINK_CRC_ERROR_THRESHOLD"},
                                      DcgmPlace{429, "NVLINK", "DCGM_FR_NVLINK_ERROR_THRESHOLD"},
                                      DcgmPlace{439, "NVLINK", "DCGM_FR_NVLINK_ERROR_CRITICAL"}};

template <class List>
DcgmPlace known_or(const List& list, std::optional<unsigned> number, std::string_view error) {
  const auto found = std::ranges::find_if(list, [&](const DcgmPlace& each) { return each.number == number; });
  return found == list.end() ? DcgmPlace{0, kOther, error} : *found;
}

/// The name of a rule may also begin with "xid-".
DcgmPlace place_of_reason(const Reason& reason, const health::Rules& rules) {
  if (const auto rule = rules.counters().find(reason.code); rule != rules.counters().end())
    return known_or(kFieldsOfWatches, field_number(rule->second.field), "DCGM_FR_FIELD_VIOLATION");
  constexpr std::string_view kXidPrefix = "xid-";
  unsigned number = 0;
  if (reason.code.starts_with(kXidPrefix))
    std::from_chars(reason.code.data() + kXidPrefix.size(), reason.code.data() + reason.code.size(), number);
  return known_or(kXids, number, kXid);
}

}  // namespace

std::vector<WatchStatus> watch_statuses(const std::vector<Reason>& reasons, const health::Rules& rules, bool answers) {
  std::vector<WatchStatus> all;
  for (const std::string_view watch : kWatches) all.push_back({.watch = watch});
  const auto raise = [&all](std::string_view watch, int value, std::string_view error) {
    const auto status = std::ranges::find(all, watch, &WatchStatus::watch);
    if (status->value >= value) return;
    status->value = value;
    status->error = error;
  };
  for (const Reason& reason : reasons) {
    const DcgmPlace place = place_of_reason(reason, rules);
    raise(place.watch, reason.severity == health::Severity::fatal ? kFail : kWarn, place.error);
  }
  if (!answers) raise("DRIVER", kFail, "DCGM_FR_NVML_API");
  return all;
}

}  // namespace slipway::dcgm
