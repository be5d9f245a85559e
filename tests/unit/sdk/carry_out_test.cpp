// SPDX-License-Identifier: Apache-2.0
// The tools for plugins' tests besides machines: plans that are carried out, secrets, and error messages.
#include <gtest/gtest.h>

#include <slipway/plugin.hpp>
#include <slipway/testing/carry_out.hpp>
#include <slipway/testing/failing_host.hpp>

namespace slipway::testing {
namespace {

constexpr std::chrono::seconds kCarryLimit{1};
const std::vector<std::string> kIsSet{"acme-ctl", "is-set"};
const std::vector<std::string> kSet{"acme-ctl", "set"};
const std::vector<std::string> kClear{"acme-ctl", "clear"};

/// Adds a program that controls one switch.
void add_switch(FakeHost& host) {
  const auto turn = [&host](bool on) {
    return [&host, on]() -> Result<ProcessOutput> {
      host.answers(kIsSet, {.exit_status = on ? 0 : 1});
      return ProcessOutput{};
    };
  };
  host.live("6.1.0-50-amd64").answers(kIsSet, {.exit_status = 1});
  host.does(kSet, turn(true)).does(kClear, turn(false));
}

/// Turns the switch by a custom action, and needs a file that the plan creates.
class Switch : public Component {
 public:
  Result<Plan> plan(const Spec&, const Facts&, const Inputs&) const override {
    Plan plan;
    plan.add(action::file({.path = "/etc/acme.conf", .content = "on\n"}));
    plan.add(action::custom({.name = "switch", .data = "on", .inverse = "off", .irreversible = {}}));
    return plan;
  }
  Result<bool> check(const Action& action, const Host& host) const override {
    SLIPWAY_TRY(end, host.run(kIsSet, kCarryLimit));
    return (end.exit_status == 0) == (action.value("data") == "on");
  }
  Result<Outcome> apply(const Action& action, const Host& host) const override {
    SLIPWAY_CHECK(host.read("/etc/acme.conf"));
    SLIPWAY_CHECK(host.run(action.value("data") == "on" ? kSet : kClear, kCarryLimit));
    return Outcome::done();
  }
};

Plan plan_of(const Component& component) { return *component.plan(Spec(), Facts(), Inputs()); }

TEST(CarryOut, RunsPendingActionsAndUndoesThem) {
  FakeHost host;
  add_switch(host);
  const Switch component;
  Plan plan;
  plan.add(action::exec({.name = "acme", .argv = kSet, .check = kIsSet, .undo = kClear}));
  plan.add(action::kernel_module("acme"));
  EXPECT_EQ(carry_out(component, plan, host).value(), "exec acme: done\nkernel-module acme: passed over\n");
  EXPECT_EQ(carry_out(component, plan, host).value(), "exec acme: holds\nkernel-module acme: passed over\n");
  EXPECT_EQ(take_back(component, plan, host).value(), "kernel-module acme: passed over\nexec acme: undone\n");
  EXPECT_EQ(host.run(kIsSet, kCarryLimit)->exit_status, 1);
}

TEST(CarryOut, AsksTheComponentForItsCustomActions) {
  FakeHost host;
  add_switch(host);
  const Switch component;
  EXPECT_EQ(carry_out(component, plan_of(component), host).value(), "file /etc/acme.conf: done\ncustom switch: done\n");
  EXPECT_EQ(*host.read("/etc/acme.conf"), "on\n");
  EXPECT_EQ(take_back(component, plan_of(component), host).value(),
            "custom switch: undone\nfile /etc/acme.conf: removed\n");
  EXPECT_FALSE(host.exists("/etc/acme.conf"));
  EXPECT_EQ(host.run(kIsSet, kCarryLimit)->exit_status, 1);
}

TEST(CarryOut, NamesActionsWithoutEffect) {
  FakeHost host;
  host.live("6.1.0-50-amd64").answers(kIsSet, {.exit_status = 1}).answers(kSet, {});
  Plan plan;
  plan.add(action::exec({.name = "acme", .argv = kSet, .check = kIsSet, .undo = {}}));
  const auto end = carry_out(Switch(), plan, host);
  ASSERT_FALSE(end.ok());
  EXPECT_EQ(end.error().code, ErrorCode::plugin_defect);
  EXPECT_EQ(end.error().what, "exec acme was carried out, but its check reports that it is not done");
}

class OnlyOnce final : public Switch {
 public:
  Result<Outcome> apply(const Action& action, const Host& host) const override {
    SLIPWAY_TRY(end, host.run(kIsSet, kCarryLimit));
    if (end.exit_status == 0) return Error{.code = ErrorCode::conflict, .what = "it is on already"};
    return Switch::apply(action, host);
  }
};

TEST(CarryOut, AppliesACustomActionTwiceAsAfterACrash) {
  FakeHost host;
  add_switch(host);
  const OnlyOnce component;
  const auto end = carry_out(component, plan_of(component), host);
  ASSERT_FALSE(end.ok());
  EXPECT_EQ(end.error().what, "custom switch cannot be applied again, as after a crash: it is on already");
}

TEST(Secret, IsReadFromAFileOfTheMachineOrAVariable) {
  FakeHost host;
  host.file("/etc/acme.key", "hunter2\r\n", 0600).variable("ACME_KEY", "hunter3");
  EXPECT_EQ(host.secret({{"file", "/etc/acme.key"}}).value(), "hunter2");
  EXPECT_EQ(host.secret({{"env", "ACME_KEY"}}).value(), "hunter3");
  EXPECT_EQ(host.secret({{"env", "HOME"}}).error().code, ErrorCode::not_found)
      << "the test's own environment is another";
  EXPECT_EQ(host.secret({{"file", "/etc/none"}}).error().code, ErrorCode::not_found);
  EXPECT_EQ(FailingHost(host).fail_at("ACME_KEY").secret({{"env", "ACME_KEY"}}).error().code, ErrorCode::io);
}

TEST(Secret, IsRefusedWhereOtherUsersMayWriteOrReadIt) {
  FakeHost host;
  host.file("/etc/open", "hunter2\n", 0644).file("/etc/theirs", "hunter2\n", 0602).file("/etc/empty", "\n", 0600);
  host.file("/etc/long", std::string(100, 'x'), 0600);
  for (const char* path : {"/etc/open", "/etc/theirs"}) {
    const auto secret = host.secret({{"file", path}});
    ASSERT_FALSE(secret.ok()) << path;
    EXPECT_EQ(secret.error().code, ErrorCode::denied) << path;
    EXPECT_NE(secret.error().next.find("chmod"), std::string::npos) << secret.error().next;
    EXPECT_EQ(to_text(secret.error()).find("hunter2"), std::string::npos);
  }
  EXPECT_EQ(host.secret({{"file", "/etc/empty"}}).error().code, ErrorCode::invalid);
  EXPECT_EQ(host.secret({{"file", "/etc/long"}}, 99).error().code, ErrorCode::invalid);
  for (const Json& reference : {Json(), Json("hunter2"), Json{{"file", "etc/x"}}, Json{{"file", "/x"}, {"env", "Y"}}})
    EXPECT_EQ(host.secret(reference).error().code, ErrorCode::invalid) << reference;
}

class Misreading final : public Component {
 public:
  Result<Plan> plan(const Spec& spec, const Facts&, const Inputs&) const override {
    return Error{.code = ErrorCode::invalid, .what = spec.json()["limits"]["memory"].get<std::string>()};
  }
};

/// Returns the error of the component's plan(), as slipway receives it.
Error heard_of_plan(const Json& request) {
  slipway_services services{sizeof(slipway_services), nullptr,
                            [](void*, const char*, const char*, std::size_t, const slipway_reply*) { return 0; }};
  slipway_plugin plugin{sizeof(slipway_plugin), nullptr, nullptr};
  EXPECT_EQ(open_plugin({component<Misreading>("acme")}, &services, &plugin), SLIPWAY_OK);
  std::string answer;
  const slipway_reply reply{&answer, [](void* context, const char* json, std::size_t length) {
                              static_cast<std::string*>(context)->assign(json, length);
                            }};
  const std::string text = canonical(request);
  EXPECT_EQ(plugin.call(plugin.context, "plan", text.data(), text.size(), &reply), SLIPWAY_FAILED);
  return error_from_json(Json::parse(answer));
}

Json request_with(const Json& spec) {
  return {{"component", "acme"}, {"spec", spec}, {"facts", {{"applicable", true}, {"values", Json::object()}}}};
}

TEST(JsonOfAnotherType, NamesItsKey) {
  const Error error = heard_of_plan(request_with({{"limits", {{"memory", 4}, {"name", "x"}}}}));
  EXPECT_EQ(error.code, ErrorCode::plugin_defect);
  EXPECT_EQ(error.where, "spec.components.acme.limits.memory");
  EXPECT_NE(error.what.find("type must be string, but is number"), std::string::npos) << error.what;
}

TEST(JsonOfAnotherType, NamesAllPossibleKeys) {
  const Error error = heard_of_plan(request_with({{"limits", {{"memory", 4}, {"swap", 1}}}, {"text", "x"}}));
  EXPECT_EQ(error.where, "");
  ASSERT_EQ(error.details.size(), 1U);
  EXPECT_EQ(error.details[0].first, "number");
  EXPECT_EQ(error.details[0].second, "spec.components.acme.limits.memory, spec.components.acme.limits.swap");
}

TEST(SpecOfAnotherType, IsADefectThatNamesTheKey) {
  const Spec spec(Json{{"memory", 4}, {"source", Json::object()}}, {"memory", "source", "more"});
  EXPECT_EQ(spec.number("memory"), 4);
  EXPECT_EQ(spec.text("source"), "") << "another form of the same key";
  EXPECT_EQ(spec.text("more"), "");
  try {
    (void)spec.text("memory");
    FAIL() << "nothing was thrown";
  } catch (const std::logic_error& problem) {
    EXPECT_STREQ(problem.what(), "the spec's key 'memory' is read as a string, but the spec has a number there");
  }
  EXPECT_THROW((void)spec.flag("memory"), std::logic_error);
  EXPECT_THROW((void)spec.texts("memory"), std::logic_error);
}

}  // namespace
}  // namespace slipway::testing
