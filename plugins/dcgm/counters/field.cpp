// SPDX-License-Identifier: Apache-2.0
#include "dcgm/counters/field.hpp"

#include <algorithm>
#include <iterator>

namespace slipway::dcgm {
namespace {

constexpr double kMilli = 0.001;
constexpr double kPercent = 0.01;
constexpr double kMib = 1048576;
constexpr double kHertz = 1e6;

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
constexpr Field selected(unsigned dcgm, const char* function, unsigned which, double factor = 1) {
  return {.number = dcgm, .source = Source::selected_number, .function = function, .argument = which, .factor = factor};
}
constexpr Field named(Source source, unsigned dcgm, const char* function) {
  return {.number = dcgm, .source = source, .function = function};
}
constexpr Field first_of_two(unsigned dcgm, const char* function) {
  return {.number = dcgm, .source = Source::two_numbers, .function = function};
}
constexpr Field bar1(unsigned dcgm, Bar1 part, double factor = 1 / kMib) {
  return {.number = dcgm, .source = Source::bar1, .argument = static_cast<unsigned>(part), .factor = factor};
}
constexpr Field errors_of(unsigned dcgm, MemoryErrors location, bool aggregate, bool uncorrected) {
  return by(Source::memory_errors, dcgm, memory_errors_argument(location, aggregate, uncorrected));
}
/// @param directions  1 sent, 2 received, 3 both
constexpr Field link_rate(unsigned dcgm, unsigned link, unsigned directions) {
  return {.number = dcgm, .source = Source::nvlink_rate, .argument = link, .directions = directions};
}
constexpr Field framebuffer(unsigned dcgm, Framebuffer part, double factor = 1 / kMib) {
  return {.number = dcgm,
          .source = Source::framebuffer,
          .argument = static_cast<unsigned>(part),
          .factor = factor,
          .real = part == Framebuffer::used_share};
}
constexpr Field ratio(unsigned dcgm, unsigned metric) {
  return {.number = dcgm, .source = Source::profiling, .argument = metric, .factor = kPercent, .real = true};
}
constexpr Field rate(unsigned dcgm, unsigned metric) {
  return {.number = dcgm, .source = Source::profiling, .argument = metric, .factor = kMib, .whole_gpu = true};
}

constexpr Field of_link(unsigned dcgm, Source source, unsigned argument = 0, unsigned directions = 3) {
  return {.number = dcgm, .source = source, .argument = argument, .directions = directions, .level = FieldLevel::link};
}
constexpr Field of_processor(unsigned dcgm, unsigned part) {
  return {.number = dcgm,
          .source = Source::processor_share,
          .argument = part,
          .real = true,
          .level = FieldLevel::processor};
}

// Sorted by number. The second number is NVML's: a field value, a clock domain, a threshold or a profiling metric.
constexpr Field kFields[]{
    // no std::array: clang cannot deduce the size of one this long
    Field{.number = 1, .source = Source::system_text, .function = "nvmlSystemGetDriverVersion"},
    Field{.number = 2, .source = Source::system_text, .function = "nvmlSystemGetNVMLVersion"},
    named(Source::system_number, 4, "nvmlDeviceGetCount_v2"),
    named(Source::system_number, 5, "nvmlSystemGetCudaDriverVersion"),
    text(50, "nvmlDeviceGetName"),
    by(Source::brand, 51),
    number(52, "nvmlDeviceGetIndex"),
    text(53, "nvmlDeviceGetSerial"),
    text(54, "nvmlDeviceGetUUID"),
    number(55, "nvmlDeviceGetMinorNumber"),
    by(Source::inforom_version, 56, 0),
    named(Source::compute_capability, 63, "nvmlDeviceGetCudaComputeCapability"),
    number(65, "nvmlDeviceGetComputeMode"),
    number(66, "nvmlDeviceGetPersistenceMode"),
    first_of_two(67, "nvmlDeviceGetMigMode"),
    named(Source::confidential, 74, "nvmlSystemGetConfComputeState"),
    by(Source::inforom_version, 80, 1),
    by(Source::inforom_version, 81, 2),
    text(82, "nvmlDeviceGetInforomImageVersion"),
    number(83, "nvmlDeviceGetInforomConfigurationChecksum"),
    text(85, "nvmlDeviceGetVbiosVersion"),
    bar1(90, Bar1::total),
    bar1(92, Bar1::used),
    bar1(93, Bar1::free),
    selected(100, "nvmlDeviceGetClockInfo", 1),
    selected(101, "nvmlDeviceGetClockInfo", 2),
    selected(102, "nvmlDeviceGetClockInfo", 3),
    selected(110, "nvmlDeviceGetApplicationsClock", 1),
    selected(111, "nvmlDeviceGetApplicationsClock", 2),
    Field{.number = 112, .source = Source::large_number, .function = "nvmlDeviceGetCurrentClocksThrottleReasons"},
    selected(113, "nvmlDeviceGetMaxClockInfo", 1),
    selected(114, "nvmlDeviceGetMaxClockInfo", 2),
    selected(115, "nvmlDeviceGetMaxClockInfo", 3),
    first_of_two(120, "nvmlDeviceGetAutoBoostedClocksEnabled"),
    by(Source::memory_temperature, 140, 82),
    by(Source::temperature, 150),
    selected(151, "nvmlDeviceGetTemperatureThreshold", 2),
    selected(152, "nvmlDeviceGetTemperatureThreshold", 3),
    number(155, "nvmlDeviceGetPowerUsage", kMilli),
    value(156, 83),
    value(157, 186, kMilli),
    selected(158, "nvmlDeviceGetTemperatureThreshold", 1),
    selected(159, "nvmlDeviceGetTemperatureThreshold", 0),
    number(160, "nvmlDeviceGetPowerManagementLimit", kMilli),
    value(161, 187, kMilli),
    value(162, 188, kMilli),
    number(163, "nvmlDeviceGetPowerManagementDefaultLimit", kMilli),
    number(164, "nvmlDeviceGetEnforcedPowerLimit", kMilli),
    number(190, "nvmlDeviceGetPerformanceState"),
    number(191, "nvmlDeviceGetFanSpeed"),
    selected(200, "nvmlDeviceGetPcieThroughput", 0),
    selected(201, "nvmlDeviceGetPcieThroughput", 1),
    number(202, "nvmlDeviceGetPcieReplayCounter"),
    by(Source::utilization, 203, 0),
    by(Source::utilization, 204, 1),
    Field{.number = 206, .source = Source::two_numbers, .function = "nvmlDeviceGetEncoderUtilization"},
    Field{.number = 207, .source = Source::two_numbers, .function = "nvmlDeviceGetDecoderUtilization"},
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
    value(246, 80),
    value(247, 81),
    framebuffer(250, Framebuffer::total),
    framebuffer(251, Framebuffer::free),
    framebuffer(252, Framebuffer::used),
    framebuffer(253, Framebuffer::reserved),
    framebuffer(254, Framebuffer::used_share),
    value(285, 170),
    value(286, 171),
    value(287, 172),
    value(300, 1),
    value(301, 2),
    value(310, 3),
    value(311, 4),
    value(312, 5),
    value(313, 6),
    value(314, 7),
    value(315, 8),
    value(316, 9),
    value(317, 10),
    errors_of(318, MemoryErrors::dram, false, false),
    errors_of(319, MemoryErrors::dram, false, true),
    value(320, 13),
    value(321, 14),
    value(322, 15),
    value(323, 16),
    value(324, 18),
    value(325, 19),
    value(326, 20),
    value(327, 21),
    errors_of(328, MemoryErrors::dram, true, false),
    errors_of(329, MemoryErrors::dram, true, true),
    value(330, 24),
    value(331, 25),
    value(332, 26),
    value(333, 27),
    value(337, 17),
    value(341, 28),
    errors_of(342, MemoryErrors::sram, false, false),
    errors_of(343, MemoryErrors::sram, false, true),
    errors_of(344, MemoryErrors::sram, true, false),
    errors_of(345, MemoryErrors::sram, true, true),
    by(Source::sram_threshold, 346),
    by(Source::row_histogram, 385, 0),
    by(Source::row_histogram, 386, 1),
    by(Source::row_histogram, 387, 2),
    by(Source::row_histogram, 388, 3),
    by(Source::row_histogram, 389, 4),
    by(Source::retired_pages, 390, 0),
    value(391, 30),
    value(392, 31),
    value(393, 143),
    value(394, 142),
    value(395, 145),
    value(396, 144),
    value(400, 32),
    value(401, 33),
    value(402, 34),
    value(403, 35),
    value(404, 36),
    value(405, 37),
    value(409, 38),
    value(410, 39),
    value(411, 40),
    value(412, 41),
    value(413, 42),
    value(414, 43),
    value(415, 44),
    value(419, 45),
    value(420, 46),
    value(421, 47),
    value(422, 48),
    value(423, 49),
    value(424, 50),
    value(425, 51),
    value(429, 52),
    value(430, 53),
    value(431, 54),
    value(432, 55),
    value(433, 56),
    value(434, 57),
    value(435, 58),
    value(439, 59),
    link_rate(440, 0, 3),
    link_rate(441, 1, 3),
    link_rate(442, 2, 3),
    link_rate(443, 3, 3),
    link_rate(444, 4, 3),
    link_rate(445, 5, 3),
    link_rate(446, 12, 3),
    link_rate(447, 13, 3),
    link_rate(448, 14, 3),
    link_rate(449, kAllLinks, 3),
    value(451, 96),
    value(452, 97),
    value(453, 98),
    value(454, 99),
    value(455, 100),
    value(456, 101),
    value(457, 102),
    value(458, 103),
    value(459, 104),
    value(460, 105),
    value(461, 106),
    value(462, 107),
    value(463, 108),
    value(464, 109),
    value(465, 110),
    value(466, 111),
    value(467, 112),
    value(468, 113),
    value(469, 114),
    value(470, 115),
    value(471, 116),
    value(472, 117),
    value(473, 118),
    value(474, 119),
    link_rate(475, 6, 3),
    link_rate(476, 7, 3),
    link_rate(477, 8, 3),
    link_rate(478, 9, 3),
    link_rate(479, 10, 3),
    link_rate(480, 11, 3),
    link_rate(494, 15, 3),
    link_rate(495, 16, 3),
    link_rate(496, 17, 3),
    number(500, "nvmlDeviceGetVirtualizationMode"),
    by(Source::vgpu_license, 526),
    link_rate(825, 0, 1),
    link_rate(826, 1, 1),
    link_rate(827, 2, 1),
    link_rate(828, 3, 1),
    link_rate(829, 4, 1),
    link_rate(830, 5, 1),
    link_rate(831, 6, 1),
    link_rate(832, 7, 1),
    link_rate(833, 8, 1),
    link_rate(834, 9, 1),
    link_rate(835, 10, 1),
    link_rate(836, 11, 1),
    link_rate(837, 12, 1),
    link_rate(838, 13, 1),
    link_rate(839, 14, 1),
    link_rate(840, 15, 1),
    link_rate(841, 16, 1),
    link_rate(842, 17, 1),
    link_rate(843, kAllLinks, 1),
    link_rate(879, 0, 2),
    link_rate(880, 1, 2),
    link_rate(881, 2, 2),
    link_rate(882, 3, 2),
    link_rate(883, 4, 2),
    link_rate(884, 5, 2),
    link_rate(885, 6, 2),
    link_rate(886, 7, 2),
    link_rate(887, 8, 2),
    link_rate(888, 9, 2),
    link_rate(889, 10, 2),
    link_rate(890, 11, 2),
    link_rate(891, 12, 2),
    link_rate(892, 13, 2),
    link_rate(893, 14, 2),
    link_rate(894, 15, 2),
    link_rate(895, 16, 2),
    link_rate(896, 17, 2),
    link_rate(897, kAllLinks, 2),
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
    ratio(1017, 30),
    ratio(1018, 31),
    ratio(1019, 32),
    ratio(1020, 33),
    ratio(1021, 34),
    ratio(1022, 35),
    ratio(1023, 36),
    ratio(1024, 37),
    ratio(1025, 40),
    ratio(1026, 41),
    ratio(1027, 42),
    ratio(1028, 43),
    ratio(1029, 44),
    ratio(1030, 45),
    ratio(1031, 46),
    ratio(1032, 47),
    ratio(1033, 50),
    ratio(1034, 51),
    rate(1040, 63),
    rate(1041, 62),
    rate(1042, 65),
    rate(1043, 64),
    rate(1044, 67),
    rate(1045, 66),
    rate(1046, 69),
    rate(1047, 68),
    rate(1048, 71),
    rate(1049, 70),
    rate(1050, 73),
    rate(1051, 72),
    rate(1052, 75),
    rate(1053, 74),
    rate(1054, 77),
    rate(1055, 76),
    rate(1056, 79),
    rate(1057, 78),
    rate(1058, 81),
    rate(1059, 80),
    rate(1060, 83),
    rate(1061, 82),
    rate(1062, 85),
    rate(1063, 84),
    rate(1064, 87),
    rate(1065, 86),
    rate(1066, 89),
    rate(1067, 88),
    rate(1068, 91),
    rate(1069, 90),
    rate(1070, 93),
    rate(1071, 92),
    rate(1072, 95),
    rate(1073, 94),
    rate(1074, 97),
    rate(1075, 96),
    rate(1076, 100),
    rate(1077, 102),
    rate(1078, 101),
    rate(1079, 103),
    of_processor(1100, 0),
    of_processor(1101, 1),
    of_processor(1102, 2),
    of_processor(1103, 3),
    of_processor(1104, 4),
    value(1200, 201),
    value(1201, 202),
    value(1202, 203),
    value(1203, 204),
    value(1204, 206),
    value(1205, 207),
    value(1206, 208),
    value(1207, 209),
    value(1208, 210),
    value(1209, 211),
    value(1210, 212),
    value(1211, 213),
    value(1212, 214),
    value(1213, 215),
    value(1214, 221),
    value(1219, 219),
    value(1400, 231),
    value(1401, 232),
    value(1402, 233),
    value(1403, 234),
    value(1420, 74),
    value(1421, 76),
    value(1422, 269),
    value(1423, 270),
    value(1424, 271),
    value(1501, 173),
    of_link(1508, Source::link_state),
    value(1523, 230),
    of_link(1525, Source::link_errors, 2),
    of_link(1526, Source::link_errors, 3),
    of_link(1527, Source::link_errors, 0),
    of_link(1528, Source::link_errors, 1),
    of_link(1529, Source::nvlink_rate, 0, 3),
    of_link(1530, Source::nvlink_rate, 0, 1),
    of_link(1531, Source::nvlink_rate, 0, 2),
    bar1(1600, Bar1::total, 1),
    bar1(1601, Bar1::used, 1),
    bar1(1602, Bar1::free, 1),
    selected(1603, "nvmlDeviceGetClockInfo", 1, kHertz),
    selected(1604, "nvmlDeviceGetClockInfo", 2, kHertz),
    selected(1605, "nvmlDeviceGetClockInfo", 3, kHertz),
    selected(1606, "nvmlDeviceGetApplicationsClock", 1, kHertz),
    selected(1607, "nvmlDeviceGetApplicationsClock", 2, kHertz),
    selected(1608, "nvmlDeviceGetMaxClockInfo", 1, kHertz),
    selected(1609, "nvmlDeviceGetMaxClockInfo", 2, kHertz),
    selected(1610, "nvmlDeviceGetMaxClockInfo", 3, kHertz),
    value(1611, 83, kMilli),
    number(1612, "nvmlDeviceGetFanSpeed", kPercent),
    framebuffer(kMemoryTotalBytes, Framebuffer::total, 1),
    framebuffer(kMemoryFreeBytes, Framebuffer::free, 1),
    framebuffer(kMemoryUsedBytes, Framebuffer::used, 1),
    framebuffer(kMemoryReservedBytes, Framebuffer::reserved, 1),
    by(Source::gpu_memory, kGpuMemoryTotalBytes, static_cast<unsigned>(Framebuffer::total)),
    by(Source::gpu_memory, kGpuMemoryUsedBytes, static_cast<unsigned>(Framebuffer::used)),
    by(Source::nvlink_bytes, kNvlinkSentBytes, 1),
    by(Source::nvlink_bytes, kNvlinkReceivedBytes, 2),
    by(Source::nvlink_bytes, kNvlinkBytes, 3),
};
static_assert(std::ranges::is_sorted(kFields, {}, &Field::number));

/// Fixed properties of the GPU or its board: limits, not settings.
constexpr std::string_view kConstants[]{"nvmlDeviceGetBrand",
                                        "nvmlDeviceGetInforomConfigurationChecksum",
                                        "nvmlDeviceGetMaxClockInfo",
                                        "nvmlDeviceGetMaxPcieLinkGeneration",
                                        "nvmlDeviceGetMaxPcieLinkWidth",
                                        "nvmlDeviceGetMinorNumber",
                                        "nvmlDeviceGetPowerManagementDefaultLimit",
                                        "nvmlDeviceGetTemperatureThreshold"};

}  // namespace

bool Field::is_constant() const {
  return is_text() || (function != nullptr && std::ranges::find(kConstants, function) != std::end(kConstants));
}

const Field* find_field(unsigned number) {
  const auto* const found = std::ranges::lower_bound(kFields, number, {}, &Field::number);
  return found != std::end(kFields) && found->number == number ? found : nullptr;
}

FieldLevel field_level(unsigned number) {
  const auto is_in = [number](unsigned first, unsigned last) { return number >= first && number <= last; };
  if (const Field* const field = find_field(number)) return field->level;
  if (is_in(1105, 1141)) return FieldLevel::processor;
  if (is_in(701, 707) || is_in(856, 864) || is_in(866, 869) || number == 1524) return FieldLevel::nv_switch;
  if (is_in(780, 824) || number == 865 || is_in(870, 878)) return FieldLevel::switch_link;
  if (is_in(580, 592) || number == 1509 || is_in(1532, 1533)) return FieldLevel::link;
  return FieldLevel::gpu;
}

std::vector<unsigned> field_numbers() {
  std::vector<unsigned> numbers;
  for (const Field& field : kFields)
    if (field.number < kOwnFields) numbers.push_back(field.number);
  return numbers;
}

}  // namespace slipway::dcgm
