// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <slipway/component.hpp>
#include <slipway/testing/fake_host.hpp>

#include "random_json.hpp"

namespace slipway {
namespace {

constexpr unsigned kSeeds = 200;

/// Returns the value after it went through text, as between two processes.
Json over_the_wire(const Json& value) { return Json::parse(canonical(value)); }

TEST(Facts, SurviveTheTripThroughJson) {
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    RandomJson random(seed);
    Facts facts = random.below(4) == 0 ? Facts::not_applicable(random.clean_text()) : Facts();
    for (unsigned i = random.below(6); i > 0; --i) facts.set(random.clean_text(), random.value());
    for (unsigned i = random.below(3); i > 0; --i) facts.set_volatile(random.clean_text(), random.value());
    const Result<Facts> back = facts_from_json(over_the_wire(to_json(facts)));
    ASSERT_TRUE(back.ok()) << "seed " << seed;
    EXPECT_EQ(to_json(*back), to_json(facts)) << "seed " << seed;
    EXPECT_EQ(back->volatile_names(), facts.volatile_names());
  }
}

TEST(Facts, AreReadByNameAndInsideTheirValues) {
  Facts facts;
  facts.set("kernel.release", "6.1.0-50-amd64");
  facts.set("gpu", Json{{"count", 8}, {"names", {"H100", "H100"}}});
  facts.set("0000:65:00.0", true);
  EXPECT_EQ(facts.text("kernel.release"), "6.1.0-50-amd64");
  EXPECT_EQ(facts.value("gpu.count"), 8);
  EXPECT_EQ(facts.texts("gpu.names").size(), 2U);
  EXPECT_TRUE(facts.flag("0000:65:00.0"));
  EXPECT_FALSE(facts.has("kernel"));
  EXPECT_EQ(facts.text("gpu.count"), "");
}

TEST(Facts, ThatAreSetAgainAreNoLongerVolatile) {
  Facts facts;
  facts.set_volatile("clients", 3);
  EXPECT_EQ(facts.volatile_names().count("clients"), 1U);
  facts.set("clients", 3);
  EXPECT_TRUE(facts.volatile_names().empty());
}

TEST(Findings, SurviveTheTripThroughJson) {
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    RandomJson random(seed);
    Findings findings;
    for (unsigned i = random.below(6); i > 0; --i)
      findings.add({static_cast<Finding::Status>(random.below(5)), "x" + random.clean_text(), random.clean_text(),
                    random.clean_text()});
    const Result<Findings> back = findings_from_json(over_the_wire(to_json(findings)));
    ASSERT_TRUE(back.ok()) << "seed " << seed;
    EXPECT_EQ(to_json(*back), to_json(findings)) << "seed " << seed;
    EXPECT_EQ(back->passed(), findings.passed());
  }
}

TEST(Findings, PassUnlessOneFails) {
  Findings findings;
  findings.pass("a", "fine");
  findings.not_applicable("b", "no GPU");
  findings.add({Finding::Status::warning, "c", "slow", ""});
  EXPECT_TRUE(findings.passed());
  findings.fail("d", "broken", "mend it");
  EXPECT_FALSE(findings.passed());
}

TEST(Findings, ContainExpectedAndUnexercisedResults) {
  Findings findings;
  findings.expect("a", true, "it is", "it is not", "mend it");
  findings.expect("b", false, "it is", "it is not", "mend it");
  testing::FakeHost host;
  EXPECT_FALSE(findings.on_live_machine(host, "c"));
  EXPECT_TRUE(findings.on_live_machine(host.live("6.1.0"), "d"));
  Findings expected;
  expected.pass("a", "it is");
  expected.fail("b", "it is not", "mend it");
  expected.not_exercised("c", "the root is not running");
  EXPECT_EQ(to_json(findings), to_json(expected));
}

class OnlyPlans final : public Component {
  Result<Plan> plan(const Spec&, const Facts&, const Inputs&) const override { return Plan(); }
};

TEST(Component, HasNeitherFactsNorFindingsUnlessItSaysSo) {
  const testing::FakeHost host;
  const std::unique_ptr<Component> component = std::make_unique<OnlyPlans>();
  EXPECT_EQ(to_json(*component->detect(Spec(), host)), to_json(Facts()));
  EXPECT_TRUE(component->verify(Spec(), host)->list().empty());
}

TEST(Plan, SurvivesTheTripThroughJson) {
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    RandomJson random(seed);
    Plan plan;
    for (unsigned i = random.below(5); i > 0; --i) {
      Json desired = random.object();
      desired["kind"] = "k" + random.clean_text();
      desired["target"] = "t" + random.clean_text();
      plan.add(Action(desired)).because(random.clean_text()).triggers({"ldconfig"});
    }
    for (unsigned i = random.below(3); i > 0; --i) plan.output(random.clean_text(), random.value());
    for (unsigned i = random.below(3); i > 0; --i) plan.note(random.clean_text());
    const Result<Plan> back = plan_from_json(over_the_wire(to_json(plan)));
    ASSERT_TRUE(back.ok()) << "seed " << seed;
    EXPECT_EQ(to_json(*back), to_json(plan)) << "seed " << seed;
  }
}

TEST(Outcome, SurvivesTheTripThroughJson) {
  for (const Outcome& outcome :
       {Outcome::done(), Outcome::already_done(), Outcome::waiting("busy", {"python3 (pid 7)"}),
        Outcome::reboot_required("a new initramfs")})
    EXPECT_EQ(to_json(*outcome_from_json(over_the_wire(to_json(outcome)))), to_json(outcome));
}

// A malformed reply must never be taken for an empty plan: the empty plan removes the component.
TEST(Plan, OfAnotherFormIsThePluginsDefect) {
  for (const char* text : {"null", "[]", "{}", "\"plan\"", R"({"actions": {}})", R"({"actions": [1]})",
                           R"({"actions": [{"kind": "file"}]})", R"({"actions": [], "outputs": []})"})
    EXPECT_EQ(plan_from_json(Json::parse(text)).error().code, ErrorCode::plugin_defect) << text;
  EXPECT_TRUE(plan_from_json(Json::parse(R"({"actions": []})")).ok());
}

template <class T>
void expect_read_or_defect(const Result<T>& read) {
  if (read.ok()) return;
  EXPECT_EQ(read.error().code, ErrorCode::plugin_defect);
  EXPECT_FALSE(read.error().what.empty());
}

TEST(Values, OfAnyFormAreReadOrRefusedWithoutAnException) {
  for (unsigned seed = 0; seed < 10 * kSeeds; ++seed) {
    RandomJson random(seed);
    Json value = random.value();
    if (value.is_object()) {
      static const std::vector<std::string> keys{"actions", "outputs", "applicable", "values", "volatile", "kind"};
      for (const std::string& key : keys)
        if (random.below(2) == 0) value[key] = random.value();
    }
    expect_read_or_defect(facts_from_json(value));
    expect_read_or_defect(plan_from_json(value));
    expect_read_or_defect(findings_from_json(value));
    expect_read_or_defect(outcome_from_json(value));
  }
}

// Before the fix, a plugin that did not check for an error got "std::get: wrong index for variant".
TEST(Result, OfAFailedCallSaysWhatFailedWhenItsValueIsRead) {
  const Result<int> failed = Error{.code = ErrorCode::not_found, .what = "there is no GPU", .next = "look for one"};
  try {
    (void)failed.value();
    FAIL();
  } catch (const std::logic_error& problem) {
    EXPECT_NE(std::string(problem.what()).find("there is no GPU"), std::string::npos);
    EXPECT_TRUE(std::string(problem.what()).ends_with("look for one")) << problem.what();
  }
  EXPECT_THROW((void)*Result<std::string>(Error{}), std::logic_error);
  EXPECT_THROW((void)Result<std::string>(Error{})->size(), std::logic_error);
  EXPECT_EQ(*Result<int>(3), 3);
}

TEST(Spec, ThatKnowsTheManifestsKeysRefusesOthers) {
  const Spec spec(Json{{"mode", "a"}, {"map", {{"free", "b"}}}}, {"mode", "map", "absent"});
  EXPECT_EQ(spec.text("mode"), "a");
  EXPECT_EQ(spec.text("map.free"), "b");
  EXPECT_EQ(spec.text("absent"), "");
  EXPECT_FALSE(spec.has("map.other"));
  try {
    (void)spec.text("mod");
    FAIL();
  } catch (const std::logic_error& problem) {
    EXPECT_NE(std::string(problem.what()).find("'mod'"), std::string::npos);
    EXPECT_NE(std::string(problem.what()).find("did you mean 'mode'?"), std::string::npos);
  }
  EXPECT_EQ(Spec(Json{{"mode", "a"}}).text("mod"), "") << "of which no manifest is known";
}

TEST(PlanFromJson, BringsPathsIntoOneFormAndRefusesThoseThatClimb) {
  const auto plan_of = [](const char* path) {
    return plan_from_json({{"actions", {{{"kind", "file"}, {"target", path}, {"content", ""}}}}});
  };
  EXPECT_EQ(plan_of("/etc//./x")->actions().front().target(), "/etc/x");
  for (const char* path : {"etc/x", "/usr/../etc/x", "../../escape"}) {
    const auto plan = plan_of(path);
    ASSERT_FALSE(plan.ok()) << path;
    EXPECT_EQ(plan.error().code, ErrorCode::plugin_defect);
  }
}

}  // namespace
}  // namespace slipway
