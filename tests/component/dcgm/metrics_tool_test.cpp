// SPDX-License-Identifier: Apache-2.0
#include "tests/component/dcgm/dcgm_node.hpp"

namespace slipway {
namespace {

using slipway::testing::Page;
using slipway::testing::Ran;
using slipway::testing::ScratchHost;
using ::testing::HasSubstr;

Ran metrics(const std::vector<std::string>& options, const std::string& machine = "h100x8") {
  const ScratchHost host;
  std::vector<std::string> words{"dcgm", "metrics", "--sim", machine};
  words.insert(words.end(), options.begin(), options.end());
  return host.bare(words);
}

TEST(DcgmMetrics, PrintsOneSampleWithRates) {
  const Ran ran = metrics({});
  EXPECT_EQ(ran.code, 0) << ran.err;
  const Page page{ran.out};
  EXPECT_EQ(page.count("DCGM_FI_DEV_GPU_TEMP"), 8U);
  EXPECT_EQ(page.count("DCGM_FI_PROF_GR_ENGINE_ACTIVE"), 8U);
  EXPECT_EQ(page.count("DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL"), 8U);
  EXPECT_EQ(page.value("slipway_dcgm_driver_up"), "1");
}

TEST(DcgmMetrics, TakesAFileOfCounters) {
  const ScratchHost host;
  host.put("c.csv", "dcgm_gpu_temp, gauge, a\nDCGM_FI_DEV_DIAG_MEMORY_RESULT, gauge, b\n");
  const Ran ran = metrics({"--collectors", host.path("c.csv").string(), "--interval", "1ms0s100ms"}, "l4x1");
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(Page{ran.out}.count("dcgm_gpu_temp"), 1U);
  EXPECT_THAT(ran.err, HasSubstr("DCGM_FI_DEV_DIAG_MEMORY_RESULT"));
}

// Before the fix, on an H200, the power limits were missing if C2C was read too, and all memory errors were missing.
TEST(DcgmMetrics, HaveThePowerLimitsAndTheErrorsOfMemory) {
  const ScratchHost host;
  host.put("c.csv",
           "DCGM_FI_DEV_C2C_LINK_COUNT, gauge, a\nDCGM_FI_DEV_POWER_MGMT_LIMIT_MIN, gauge, b\n"
           "DCGM_FI_DEV_POWER_MGMT_LIMIT_MAX, gauge, c\nDCGM_FI_DEV_ECC_DBE_VOL_DEV, gauge, d\n"
           "DCGM_FI_DEV_ECC_SBE_AGG_DEV, gauge, e\nDCGM_FI_DEV_ECC_DBE_AGG_SRM, gauge, f\n"
           "DCGM_FI_DEV_ECC_DBE_VOL_L2, gauge, g\nDCGM_FI_DEV_THRESHOLD_SRM, gauge, h\n");
  const Ran ran = metrics({"--collectors", host.path("c.csv").string()}, "h200x1");
  EXPECT_EQ(ran.code, 0) << ran.err;
  const Page page{ran.out};
  EXPECT_EQ(page.count("DCGM_FI_DEV_C2C_LINK_COUNT"), 0U);
  EXPECT_EQ(page.value("DCGM_FI_DEV_POWER_MGMT_LIMIT_MIN"), "200.000000");
  EXPECT_EQ(page.value("DCGM_FI_DEV_POWER_MGMT_LIMIT_MAX"), "700.000000");
  EXPECT_EQ(page.value("DCGM_FI_DEV_ECC_DBE_VOL_DEV"), "0");
  EXPECT_EQ(page.value("DCGM_FI_DEV_ECC_SBE_AGG_DEV"), "0");
  EXPECT_EQ(page.value("DCGM_FI_DEV_ECC_DBE_AGG_SRM"), "0");
  EXPECT_EQ(page.value("DCGM_FI_DEV_THRESHOLD_SRM"), "0");
  EXPECT_EQ(page.count("DCGM_FI_DEV_ECC_DBE_VOL_L2"), 0U) << "which Hopper does not tell";
}

// Before the fix, the tool used slipway's own rules and ignored the site's.
TEST(DcgmMetrics, UsesTheSitesHealthRules) {
  const ScratchHost host;
  host.put("c.csv", "DCGM_EXP_GPU_HEALTH_STATUS, gauge, a\n");
  host.put("etc/slipway/health-rules.yaml", "version: v1\ncounters: {hot: {above: 1, lasting: 0s, severity: fatal}}\n");
  const auto health = [&] {
    return metrics({"--root", host.path("").string(), "--collectors", host.path("c.csv").string()}, "l4x1");
  };
  EXPECT_EQ(Page{health().out}.value("DCGM_EXP_GPU_HEALTH_STATUS", "health_watch=\"THERMAL\""), "20") << health().err;
  host.put("etc/slipway/health-rules.yaml", "version: v1\ncounters: {hot: {abov: 1}}\n");
  EXPECT_EQ(health().code, 1);
  EXPECT_THAT(health().err, HasSubstr("health-rules.yaml:2:"));
}

TEST(DcgmMetrics, RefusesInvalidInput) {
  EXPECT_EQ(metrics({"--intervall", "1s"}).code, 64);
  EXPECT_EQ(metrics({"-o", "json"}).code, 64);
  const Ran soon = metrics({"--interval", "soon"});
  EXPECT_NE(soon.code, 0);
  EXPECT_THAT(soon.err, HasSubstr("'soon' is not an interval"));
  EXPECT_THAT(metrics({"--collectors", "/nowhere"}).err, HasSubstr("/nowhere"));
  const Ran none = metrics({}, "h100x8,driver=none");
  EXPECT_EQ(none.code, 1);
  EXPECT_EQ(none.out, "");
  EXPECT_THAT(none.err, HasSubstr("the GPUs cannot be read"));
}

}  // namespace
}  // namespace slipway
