// SPDX-License-Identifier: Apache-2.0
// The plan reports mistakes in the spec, for all kinds of GPUs.
#include <gmock/gmock.h>

#include "mig/component/component.hpp"

namespace slipway::mig {
namespace {

using ::testing::HasSubstr;

/// Returns the text of a plan on a machine that has no driver yet.
Error error_without_driver(const Json& section, const Json& more_facts = Json::object()) {
  Facts facts;
  facts.set("problem", to_json(Error{.code = ErrorCode::not_found, .what = "the driver is not loaded"}));
  for (const auto& [name, value] : more_facts.items()) facts.set(name, value);
  const auto plan = Mig().plan(Spec(section), facts, Inputs());
  EXPECT_FALSE(plan);
  return plan ? Error{} : plan.error();
}

// Before the fix, a wrong name was reported as "deferred: planned once driver is done; now: the driver is not loaded",
// although the driver was installed.
TEST(MigMistakes, InTheNameOfAConfigWaitForNoDriver) {
  const Error generated = error_without_driver({{"config", "all-balancd"}});
  EXPECT_EQ(generated.code, ErrorCode::invalid);
  EXPECT_THAT(to_text(generated), HasSubstr("did you mean 'all-balanced'?"));
  const Json configs{{"small", {{{"devices", "all"}, {"mig-enabled", true}, {"mig-devices", {{"1g.10gb", 7}}}}}}};
  const Error given =
      error_without_driver({{"config", "smal"}, {"configs", {{"version", "v1"}, {"mig-configs", configs}}}});
  EXPECT_EQ(given.code, ErrorCode::invalid);
  EXPECT_THAT(to_text(given), HasSubstr("there is no config 'smal'; did you mean 'small'?"));
  const Error in_a_file =
      error_without_driver({{"config", "smal"}, {"file", "/etc/mig.yaml"}}, {{"file", "version: v2"}});
  EXPECT_EQ(in_a_file.code, ErrorCode::invalid);
  EXPECT_THAT(to_text(in_a_file), HasSubstr("/etc/mig.yaml:1:"));
}

TEST(MigMistakes, AreMissingWhereOnlyTheDriverIsMissing) {
  EXPECT_EQ(error_without_driver({{"config", "all-balanced"}}).what, "the driver is not loaded");
  EXPECT_EQ(error_without_driver({{"config", "x"}, {"file", "/etc/mig.yaml"}}).what, "the driver is not loaded")
      << "a file that was not read says what is wrong itself";
}

}  // namespace
}  // namespace slipway::mig
