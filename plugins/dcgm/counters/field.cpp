// SPDX-License-Identifier: Apache-2.0
#include "dcgm/counters/field.hpp"

#include <algorithm>
#include <array>

namespace slipway::dcgm {
namespace {

constexpr double kMilli = 0.001;
constexpr double kPercent = 0.01;
constexpr double kMib = 1048576;

constexpr Field number(unsigned dcgm, const char* function, double factor = 1) {
  return {.number = dcgm, .source = Source::number, .function = function, .factor = factor, .real = factor != 1};
}
constexpr Field text(unsigned dcgm, const char* function) {
  return {.number = dcgm, .source = Source::text, .function = function};
}
constexpr Field by(Source source, unsigned dcgm, unsigned argument = 0) {
  return {.number = dcgm, .source = source, .argument = argument};
}
constexpr Field value(unsigned dcgm, unsigned nvml, double factor = 1) {
  return {.number = dcgm, .source = Source::field_value, .argument = nvml, .factor = factor, .real = factor != 1};
}
constexpr Field framebuffer(unsigned dcgm, Framebuffer part) {
  return {.number = dcgm,
          .source = Source::framebuffer,
          .argument = static_cast<unsigned>(part),
          .real = part == Framebuffer::used_share};
}
constexpr Field ratio(unsigned dcgm, unsigned metric) {
  return {.number = dcgm, .source = Source::profiling, .argument = metric, .factor = kPercent, .real = true};
}
constexpr Field rate(unsigned dcgm, unsigned metric) {
  return {.number = dcgm, .source = Source::profiling, .argument = metric, .factor = kMib, .whole_gpu = true};
}

// By number. The second number is NVML's: of a field value, a clock's domain, a profiling metric.
constexpr std::array kFields{
    Field{.number = 1, .source = Source::system_text, .function = "nvmlSystemGetDriverVersion"},
    Field{.number = 2, .source = Source::system_text, .function = "nvmlSystemGetNVMLVersion"},
    text(50, "nvmlDeviceGetName"),
    by(Source::brand, 51),
    number(52, "nvmlDeviceGetIndex"),
    text(53, "nvmlDeviceGetSerial"),
    text(54, "nvmlDeviceGetUUID"),
    number(55, "nvmlDeviceGetMinorNumber"),
    by(Source::inforom_version, 56, 0),
    by(Source::inforom_version, 80, 1),
    by(Source::inforom_version, 81, 2),
    text(82, "nvmlDeviceGetInforomImageVersion"),
    text(85, "nvmlDeviceGetVbiosVersion"),
    by(Source::clock, 100, 1),
    by(Source::clock, 101, 2),
    Field{.number = 112, .source = Source::large_number, .function = "nvmlDeviceGetCurrentClocksThrottleReasons"},
    by(Source::memory_temperature, 140, 82),
    by(Source::temperature, 150),
    number(155, "nvmlDeviceGetPowerUsage", kMilli),
    value(156, 83),
    value(157, 186, kMilli),
    number(160, "nvmlDeviceGetPowerManagementLimit", kMilli),
    number(164, "nvmlDeviceGetEnforcedPowerLimit", kMilli),
    number(190, "nvmlDeviceGetPerformanceState"),
    number(191, "nvmlDeviceGetFanSpeed"),
    number(202, "nvmlDeviceGetPcieReplayCounter"),
    by(Source::utilization, 203, 0),
    by(Source::utilization, 204, 1),
    Field{.number = 206, .source = Source::media_utilization, .function = "nvmlDeviceGetEncoderUtilization"},
    Field{.number = 207, .source = Source::media_utilization, .function = "nvmlDeviceGetDecoderUtilization"},
    by(Source::xid, 230),
    number(235, "nvmlDeviceGetMaxPcieLinkGeneration"),
    number(236, "nvmlDeviceGetMaxPcieLinkWidth"),
    number(237, "nvmlDeviceGetCurrPcieLinkGeneration"),
    number(238, "nvmlDeviceGetCurrPcieLinkWidth"),
    value(240, 74),
    value(241, 75),
    value(242, 76),
    value(243, 77),
    value(244, 78),
    value(245, 79),
    framebuffer(250, Framebuffer::total),
    framebuffer(251, Framebuffer::free),
    framebuffer(252, Framebuffer::used),
    framebuffer(253, Framebuffer::reserved),
    framebuffer(254, Framebuffer::used_share),
    value(310, 3),
    value(311, 4),
    value(312, 5),
    value(313, 6),
    by(Source::retired_pages, 390, 0),
    value(391, 30),
    value(392, 31),
    value(393, 143),
    value(394, 142),
    value(395, 145),
    value(396, 144),
    value(409, 38),
    value(419, 45),
    value(429, 52),
    value(439, 59),
    by(Source::nvlink_rate, 440, 0),
    by(Source::nvlink_rate, 441, 1),
    by(Source::nvlink_rate, 442, 2),
    by(Source::nvlink_rate, 443, 3),
    by(Source::nvlink_rate, 444, 4),
    by(Source::nvlink_rate, 445, 5),
    by(Source::nvlink_rate, 449, kAllLinks),
    by(Source::vgpu_license, 526),
    ratio(1001, 1),
    ratio(1002, 2),
    ratio(1003, 3),
    ratio(1004, 5),
    ratio(1005, 10),
    ratio(1006, 11),
    ratio(1007, 12),
    ratio(1008, 13),
    rate(1009, 20),
    rate(1010, 21),
    rate(1011, 61),
    rate(1012, 60),
    ratio(1013, 9),
    ratio(1014, 7),
    ratio(1015, 6),
    ratio(1016, 4),
};
static_assert(std::ranges::is_sorted(kFields, {}, &Field::number));

}  // namespace

const Field* find_field(unsigned number) {
  const auto* const found = std::ranges::lower_bound(kFields, number, {}, &Field::number);
  return found != kFields.end() && found->number == number ? found : nullptr;
}

}  // namespace slipway::dcgm
