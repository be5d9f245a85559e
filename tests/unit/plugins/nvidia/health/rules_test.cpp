// SPDX-License-Identifier: Apache-2.0
#include "nvidia/health/rules.hpp"

#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <unistd.h>

#include <slipway/testing/fake_host.hpp>

#include "nvidia/health/rules_watch.hpp"

namespace slipway::nvidia::health {
namespace {

using slipway::testing::FakeHost;
using ::testing::HasSubstr;

/// Returns the error of a site's file, which begins with its version; empty when there is no error.
std::string error_of(const std::string& text) {
  Rules rules = default_rules();
  const Status added = rules.add("version: v1\n" + text, "site.yaml");
  return added ? "" : added.error().where + ": " + added.error().what + " (" + added.error().next + ")";
}

Rules with(const std::string& text) {
  Rules rules = default_rules();
  EXPECT_EQ(error_of(text), "");
  (void)rules.add("version: v1\n" + text, "site.yaml").ok();
  return rules;
}

TEST(HealthRules, AreReadFromTheirOwnFile) {
  Rules rules;
  const Status added = rules.add(std::string(default_rules_text()), "rules.yaml");
  ASSERT_TRUE(added) << added.error().where << ": " << added.error().what;
  EXPECT_GT(rules.xids().size(), 100U);
  for (const auto& [number, rule] : rules.xids()) EXPECT_NE(rule.remedy, "") << number;
  for (const auto& [name, rule] : rules.counters()) EXPECT_NE(rule.remedy, "") << name;
  EXPECT_EQ(rules_text(rules, true), rules_text(default_rules(), true)) << "what the build has made of the file";
  EXPECT_EQ(rules.actions(), default_rules().actions());
}

TEST(HealthRules, OnThePageMatchTheData) {
  std::ifstream file(HEALTH_PAGE);
  std::stringstream page;
  page << file.rdbuf();
  EXPECT_THAT(page.str(), HasSubstr(rules_text(default_rules(), true)))
      << "put the output of `slipway dcgm health-rules --markdown` into docs/health-rules.md";
}

TEST(HealthRules, ActOnTheSameXidsAsNvidiasDevicePlugin) {
  const Preset& nvidia = default_rules().presets().at("nvidia-device-plugin");
  ASSERT_TRUE(nvidia.all_but);
  for (unsigned number = 1; number <= 200; ++number)
    // XID 154 reports a recovery action, which the device plugin reads from the driver.
    EXPECT_EQ(default_rules().effect(number) == DeviceEffect::none,
              nvidia.xids.contains(number) || number == 162 || number == 154)
        << number;
  EXPECT_EQ(default_rules().effect(79), DeviceEffect::reset);
  EXPECT_EQ(default_rules().effect(63), DeviceEffect::until_quiet);
}

TEST(HealthRules, TreatAnUnknownXidAsAWarning) {
  const XidRule rule = default_rules().xid(9999);
  EXPECT_EQ(rule.severity, Severity::degraded);
  EXPECT_NE(rule.remedy, "");
  EXPECT_TRUE(default_rules().counts(9999));
}

TEST(HealthRules, AreOverriddenKeyByKeyByASitesFile) {
  const Rules rules = with(
      "xids:\n  79: {severity: application, device: none}\n  500: {what: a site's own, severity: fatal}\n"
      "counters:\n  hot: {above: 70}\nactions: {reset-gpu: call the site's desk}\n");
  EXPECT_EQ(rules.xid(79).severity, Severity::application);
  EXPECT_EQ(rules.xid(79).what, default_rules().xid(79).what);
  EXPECT_EQ(rules.effect(79), DeviceEffect::none);
  EXPECT_EQ(rules.effect(500), DeviceEffect::reset);
  EXPECT_EQ(rules.counters().at("hot").above, 70.0);
  EXPECT_EQ(rules.counters().at("hot").field, "DCGM_FI_DEV_GPU_TEMP");
  EXPECT_EQ(rules.xid(95).remedy, "call the site's desk");
}

TEST(HealthRules, OfAPresetReplaceTheOthers) {
  const Rules rules = with("preset: gke");
  EXPECT_TRUE(rules.counts(123));
  EXPECT_FALSE(rules.counts(95));
  EXPECT_EQ(rules.effect(95), DeviceEffect::none);
  EXPECT_EQ(rules.effect(48), DeviceEffect::reset);
  EXPECT_EQ(with("preset: eks").effect(109), DeviceEffect::reset) << "EKS acts on what NVIDIA's plugin passes over";
  EXPECT_EQ(with("presets: {mine: {what: ours, xids: [31]}}\npreset: mine").effect(31), DeviceEffect::until_quiet);
}

TEST(HealthRules, NameFileLineAndKeyOfAMistake) {
  EXPECT_EQ(error_of("xids:\n  79: {severty: fatal}\n"),
            "site.yaml:3:8: unknown key 'severty' in xids.79 (did you mean 'severity'?)");
  EXPECT_EQ(error_of("xids:\n  79:\n    severity: bad\n"),
            "site.yaml:4:15: xids.79.severity: 'bad' is not one of information, application, degraded, fatal "
            "(write one of these words)");
  EXPECT_THAT(error_of("xids: {many: {severity: fatal}}"), HasSubstr("'many' is not a whole number"));
  EXPECT_THAT(error_of("xids: {500: {severity: fatal}}"), HasSubstr("xids.500 is new"));
  EXPECT_THAT(error_of("xids: {79: {action: pray}}"), HasSubstr("site.yaml:2:21: xids.79.action: there is no action"));
  EXPECT_THAT(error_of("counters: {hot: {rises: 1}}"), HasSubstr("counters.hot needs either above or rises"));
  EXPECT_THAT(error_of("counters: {hot: {within: 1h}}"), HasSubstr("within applies only with rises"));
  EXPECT_THAT(error_of("preset: aks"), HasSubstr("site.yaml:2:9: there is no preset 'aks'"));
  const auto whole = [](const std::string& text) { return Rules(default_rules()).add(text, "site.yaml").error().what; };
  EXPECT_THAT(whole("version: v2"), HasSubstr("unknown version"));
  EXPECT_THAT(whole("[1]"), HasSubstr("the file has to be a map"));
  EXPECT_THAT(whole("xids: {79: {severity: degraded}}"), HasSubstr("the file has no version"));
  EXPECT_THAT(error_of("xids: {79: {severity: fatal"), HasSubstr("site.yaml"));
}

// Before the fix, the second of two rows counted, without a message.
TEST(HealthRules, AreUnique) {
  EXPECT_EQ(error_of("xids:\n  79: {severity: fatal}\n  0x4f: {severity: application}\n"),
            "site.yaml:4:9: xids has 79 twice; the other row is at site.yaml:3:7 (leave one of the two out)");
  EXPECT_THAT(error_of("xids: {79: {severity: fatal, severity: degraded}}"), HasSubstr("'severity' is given twice"));
  EXPECT_THAT(error_of("preset: eks\npreset: gke"), HasSubstr("'preset' is given twice"));
  EXPECT_THAT(error_of("counters: {hot: {above: 80}, hot: {above: 90}}"), HasSubstr("'hot' is given twice"));
  EXPECT_THAT(error_of("actions: {a: b, a: c}"), HasSubstr("'a' is given twice"));
}

TEST(HealthRules, OfASiteOverrideThePreset) {
  const Rules rules = with("preset: eks\nxids: {13: {device: quiet}, 79: {device: none}}");
  EXPECT_EQ(rules.effect(13), DeviceEffect::until_quiet) << "which the preset does not have";
  EXPECT_EQ(rules.effect(79), DeviceEffect::none) << "which it has";
  EXPECT_EQ(rules.effect(31), DeviceEffect::none);
}

TEST(HealthRules, AreLeftAloneByAFileWithAMistake) {
  Rules rules = default_rules();
  EXPECT_FALSE(rules.add("version: v1\nxids: {79: {severity: application}, 31: {severity: bad}}", "site.yaml"));
  EXPECT_EQ(rules.xid(79).severity, Severity::fatal);
}

TEST(HealthRules, OfASiteAreOptionalUnlessNamed) {
  FakeHost host;
  EXPECT_TRUE(read_rules(host));
  EXPECT_FALSE(read_rules(host, "/etc/other.yaml"));
  host.file(kSiteFile, "version: v1\nxids: {31: {severity: fatal}}\n");
  EXPECT_EQ(read_rules(host).value().xid(31).severity, Severity::fatal);
  host.file(kSiteFile, "version: v1\nxids: {31: {severity: }}\n");
  EXPECT_EQ(read_rules(host).error().where, std::string(kSiteFile) + ":2:23");
}

TEST(HealthRules, OfAnotherUserAreRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives files away";
  FakeHost host;
  host.file(kSiteFile, "version: v1\nxids: {79: {severity: application}}\n");
  ASSERT_EQ(::chown((host.root_folder() + kSiteFile).c_str(), 65534, 0), 0);
  EXPECT_EQ(read_rules(host).error().code, ErrorCode::denied);
  RulesWatch watch(RootDir::open(host.root_folder()).value(), kSiteFile, [](auto&&...) {});
  watch.look(RulesWatch::Clock::now());
  EXPECT_EQ(watch.rules()->xid(79).severity, Severity::fatal) << "slipway's own rules count";
}

// Before the fix, the example of docs/health-rules.md had rows that its own preset made void.
TEST(HealthRules, OfTheExampleInThePageCount) {
  std::ifstream file(HEALTH_PAGE);
  std::stringstream page;
  page << file.rdbuf();
  const std::string text = page.str();
  const std::size_t begin = text.find("```yaml\n") + 8;
  const std::string example = text.substr(begin, text.find("```", begin) - begin);
  Rules rules = default_rules();
  const Status added = rules.add(example, "example.yaml");
  ASSERT_TRUE(added) << added.error().where << ": " << added.error().what;
  EXPECT_TRUE(rules.counts(13));
  EXPECT_EQ(rules.xid(13).remedy, "call the people on duty, and leave the node as it is");
  EXPECT_EQ(rules.effect(13), DeviceEffect::until_quiet);
}

TEST(NvlinkDetail, IsReadInBothForms) {
  const XidRule netir = default_rules().xid(149);
  const std::string down = "NETIR_LINK_EVT Fatal XC0 i0 Link 08 (0x00000011 0x00000000 0x00000000 0x00000000)";
  const auto detail = read_nvlink_detail(netir, down, 575);
  ASSERT_TRUE(detail);
  EXPECT_EQ(detail->unit, "NETIR_LINK_DOWN");
  EXPECT_EQ(detail->link, 8U);
  EXPECT_TRUE(detail->needs_reset);
  // The same unit had another number before R575: 14 in bits 9 to 5.
  EXPECT_EQ(read_nvlink_detail(netir, "x Link 1 (0x000001c6 0x0 0x0)", 570)->unit, "NETIR_LINK_DOWN");
  EXPECT_FALSE(read_nvlink_detail(netir, "x Link 1 (0x0000007f 0x0 0x0)", 575));
  EXPECT_FALSE(read_nvlink_detail(netir, "x Link 1 (0x02600011 0x00000000 0x0)", 575)->needs_reset) << "sub-code 0x26";
  const XidRule remap = default_rules().xid(145);
  EXPECT_TRUE(
      read_nvlink_detail(remap, "RLW_REMAP Fatal XC0 i0 Link 00 (0x00000004 0x00000040 0x0)", 580)->needs_reset);
  EXPECT_FALSE(
      read_nvlink_detail(remap, "RLW_REMAP Nonfatal XC0 i0 Link 00 (0x00000004 0x00000100)", 580)->needs_reset);
}

TEST(NvlinkDetail, IsNotMadeUp) {
  for (const char* text : {"", "Link 1", "(0x", "(0xzz 0x1)", "(0x00000011", "(0x11)", "Link 99999999999 (0x7f 0x"})
    EXPECT_FALSE(read_nvlink_detail(default_rules().xid(149), text, 575)) << text;
}

TEST(RecoveryAction, IsReadFromAnXid154) {
  EXPECT_EQ(read_recovery_action("GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)"), 1U);
  EXPECT_EQ(read_recovery_action("GPU recovery action changed from 0x1 (GPU Reset Required) to 0x0 (None)"), 0U);
  EXPECT_FALSE(read_recovery_action("something else"));
  // The text decides the meaning of an XID 154 for the GPU.
  const Rules& rules = default_rules();
  const auto asks = [&](const char* to) {
    return rules.judged(154, std::string("GPU recovery action changed from 0x4 (Drain and Reset) to ") + to);
  };
  EXPECT_TRUE(rules.counts(asks("0x1 (GPU Reset Required)")));
  EXPECT_NE(asks("0x1 (GPU Reset Required)").remedy.find("reset the GPU"), std::string::npos);
  EXPECT_EQ(asks("0x2 (Node Reboot)").remedy, "drain the node and reboot it");
  EXPECT_FALSE(rules.counts(asks("0x0 (None)"))) << "it is no fault";
  EXPECT_TRUE(asks("0x0 (None)").cancels.contains(154)) << "it ends what an earlier one raised";
}

}  // namespace
}  // namespace slipway::nvidia::health
