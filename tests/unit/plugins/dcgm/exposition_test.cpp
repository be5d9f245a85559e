// SPDX-License-Identifier: Apache-2.0
#include "dcgm/exposition/exposition.hpp"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace slipway::dcgm {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

Counters counters_from(const std::string& text) { return parse_counters(text, "c.csv").value_or({}); }

GpuIdentity gpu(unsigned index) {
  return {index, "GPU-" + std::to_string(index), "00000000:0" + std::to_string(index) + ":00.0", "NVIDIA H200"};
}

TEST(Values, HaveTheFormsOfDcgmExporter) {
  EXPECT_EQ(value_text(std::int64_t{9223372036854775807}), "9223372036854775807");
  EXPECT_EQ(value_text(std::int64_t{-1}), "-1");
  EXPECT_EQ(value_text(71.5), "71.500000");
  EXPECT_EQ(value_text(0.0), "0.000000");
  EXPECT_EQ(value_text(1.0 / 3), "0.333333");
  EXPECT_EQ(value_text(std::numeric_limits<double>::quiet_NaN()), "");
  EXPECT_EQ(value_text(Value()), "");
  EXPECT_EQ(value_text(std::string("570.86.15")), "570.86.15");
}

TEST(Exposition, HasTheLabelsOfDcgmExporterInItsOrder) {
  const Counters counters =
      counters_from("DCGM_FI_DEV_GPU_TEMP, gauge, GPU temperature (in C).\nDCGM_FI_DRIVER_VERSION, label, v\n");
  Sample sample;
  sample.entities.push_back({.gpu = gpu(0), .series = {std::int64_t{41}}, .labels = {std::string("570.86.15")}});
  sample.entities.push_back(
      {.gpu = gpu(1), .instance = 7, .profile = "1g.18gb", .series = {std::int64_t{42}}, .labels = {Value()}});
  EXPECT_THAT(
      exposition_text(sample, counters, {.host_name = "node1"}),
      StartsWith("# HELP DCGM_FI_DEV_GPU_TEMP GPU temperature (in C).\n"
                 "# TYPE DCGM_FI_DEV_GPU_TEMP gauge\n"
                 "DCGM_FI_DEV_GPU_TEMP{gpu=\"0\",UUID=\"GPU-0\",pci_bus_id=\"00000000:00:00.0\",device=\"nvidia0\","
                 "modelName=\"NVIDIA H200\",Hostname=\"node1\",DCGM_FI_DRIVER_VERSION=\"570.86.15\"} 41\n"
                 "DCGM_FI_DEV_GPU_TEMP{gpu=\"1\",UUID=\"GPU-1\",pci_bus_id=\"00000000:01:00.0\",device=\"nvidia1\","
                 "modelName=\"NVIDIA H200\",GPU_I_PROFILE=\"1g.18gb\",GPU_I_ID=\"7\",Hostname=\"node1\"} 42\n"));
}

TEST(Exposition, LeavesOutUnsupportedValues) {
  const Counters counters = counters_from("DCGM_FI_DEV_GPU_TEMP, gauge, a\nDCGM_FI_DEV_FB_USED, gauge, b\n");
  Sample sample;
  sample.entities.push_back({.gpu = gpu(0), .series = {Value(), Value()}, .labels = {}});
  sample.entities.push_back({.gpu = gpu(1), .series = {Value(), std::int64_t{3}}, .labels = {}});
  const std::string text = exposition_text(sample, counters, {});
  EXPECT_THAT(text, Not(HasSubstr("DCGM_FI_DEV_GPU_TEMP"))) << "a family without a series is missing";
  EXPECT_THAT(text, HasSubstr("DCGM_FI_DEV_FB_USED{gpu=\"1\""));
  EXPECT_THAT(text, Not(HasSubstr("DCGM_FI_DEV_FB_USED{gpu=\"0\"")));
}

// Before the fix, dcgm-exporter's page could not be parsed when a name had a quote.
TEST(Exposition, EscapesLabelsAndHelp) {
  const Counters counters = counters_from("DCGM_FI_DEV_GPU_TEMP, gauge,\"a \\ b\"\n");
  Sample sample;
  sample.entities.push_back({.gpu = {0, "GPU-0", "", "a \"b\"\nc"}, .series = {std::int64_t{1}}, .labels = {}});
  const std::string text = exposition_text(sample, counters, {});
  EXPECT_THAT(text, HasSubstr("modelName=\"a \\\"b\\\"\\nc\""));
  EXPECT_THAT(text, HasSubstr("# HELP DCGM_FI_DEV_GPU_TEMP a \\\\ b\n"));
}

TEST(Exposition, ReportsWhatTheLastXidMeans) {
  const Counters counters = counters_from("DCGM_FI_DEV_XID_ERRORS, gauge, a\n");
  Sample sample;
  sample.entities.push_back({.gpu = gpu(0), .series = {std::int64_t{0}}, .labels = {}});
  sample.entities.push_back({.gpu = gpu(1), .series = {std::int64_t{79}}, .labels = {}});
  sample.entities.push_back({.gpu = gpu(2), .series = {std::int64_t{4000}}, .labels = {}});
  const std::string text = exposition_text(sample, counters, {});
  EXPECT_THAT(text, HasSubstr("err_code=\"0\",err_msg=\"No Error\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("err_code=\"79\",err_msg=\"GPU has fallen off the bus\"} 79\n"));
  EXPECT_THAT(text, HasSubstr("err_code=\"4000\",err_msg=\"Unknown Error\"} 4000\n"));
}

TEST(Exposition, ReportsMissingGpus) {
  Sample sample{.problem = "not loaded", .outages = 2, .read_errors = {{"DCGM_FI_DEV_GPU_TEMP", 3}}};
  sample.gpus.push_back({gpu(3), "the GPU is lost"});
  const std::string text = exposition_text(sample, Counters(), {.host_name = "n"});
  EXPECT_THAT(text, HasSubstr("\nslipway_dcgm_driver_up 0\n"));
  EXPECT_THAT(text, HasSubstr("\nslipway_dcgm_driver_outages_total 2\n"));
  EXPECT_THAT(text, HasSubstr("slipway_dcgm_gpu_up{gpu=\"3\",UUID=\"GPU-3\""));
  EXPECT_THAT(text, HasSubstr("Hostname=\"n\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("slipway_dcgm_read_errors_total{field=\"DCGM_FI_DEV_GPU_TEMP\"} 3\n"));
  sample.problem.clear();
  EXPECT_THAT(exposition_text(sample, Counters(), {}), HasSubstr("\nslipway_dcgm_driver_up 1\n"));
  EXPECT_THAT(exposition_text(sample, Counters(), {.released = true}), HasSubstr("\nslipway_dcgm_driver_up 0\n"));
}

}  // namespace
}  // namespace slipway::dcgm
