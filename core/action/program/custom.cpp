// SPDX-License-Identifier: Apache-2.0
// core/action/program/custom.cpp - kind `custom`: the component's own action, done by its check() and apply().
#include <algorithm>

#include "core/action/action_kind.hpp"

namespace slipway::core {
namespace {

Error no_component(const Action& action) {
  return Error{ErrorCode::internal,
               "the custom action '" + action.target() + "' was run without its component",
               action.target(),
               "this is a defect of slipway; please report it",
               {}};
}

/// Returns the same action with other data; nothing when the component gave no data.
std::optional<Action> with_data(const Action& action, const Json& data) {
  if (data.is_null()) return std::nullopt;
  Json other = action.json();
  other["data"] = data;
  other.erase("inverse");
  return Action(std::move(other));
}

bool stays(const Action& action) { return action.json().value("stays", false); }

class CustomKind final : public ActionKind {
 public:
  std::string removal(const Action& action) const override {
    const std::string shown = stays(action) ? "leave " + action.target() + " as it is" : "undo " + action.target();
    return action.json().value("removal_summary", shown);
  }

  Phase phase() const override { return Phase::activate; }
  bool waits_for_restarts() const override { return true; }
  bool is_before_switch(const Action& action) const override { return action.json().value("before_switch", false); }

  bool is_step(const Action& action) const override {
    return is_before_switch(action) || action.json().value("is_step", false);
  }

  Result<Outcome> admit(const Action& action, ActionContext& context) const override {
    return context.custom_preflight ? context.custom_preflight(action) : Outcome::done();
  }

  Result<Check> check(const Action& action, ActionContext& context) const override {
    Check check;
    const std::string shown = action.json().value("summary", action.target());
    const std::size_t end = std::min(shown.find('\n'), shown.size());
    check.summary = shown.substr(0, end);
    check.diff = shown.substr(std::min(end + 1, shown.size()));
    if (!context.host.has_kernel_view()) {  // the action works on devices, and no device is visible
      check.standing = Check::Standing::at_boot;
      return check;
    }
    if (!context.custom_check) return no_component(action);
    SLIPWAY_TRY(holds, context.custom_check(action));
    if (holds) check.standing = Check::Standing::satisfied;
    return check;
  }

  Result<Image> capture(const Action& action, ActionContext& context) const override {
    if (!context.custom_check) return no_component(action);
    SLIPWAY_TRY(holds, context.custom_check(action));
    return Image{{"already", holds}, {"inverse", action.value("inverse")}};
  }

  Result<Outcome> perform(const Action& action, ActionContext& context) const override {
    if (!context.custom_apply) return no_component(action);
    return context.custom_apply(action);
  }

  Status restore(const Action& action, const Image& image, ActionContext& context) const override {
    // The state before the first change counts, not the state before the last one.
    const auto inverse = with_data(action, image.value("inverse", action.value("inverse")));
    if (image.value("already", false)) return {};
    return undo(action, inverse, context);
  }

  Status take_away(const Action& action, const Image& original, ActionContext& context) const override {
    if (const auto removal = with_data(action, action.value("on_removal"))) return undo(action, removal, context);
    return stays(action) ? Status{} : restore(action, original, context);
  }

  Status reinstate(const Action& action, const Image&, ActionContext& context) const override {
    return undo(action, with_data(action, action.value("on_failure")), context);
  }

  Result<Json> fingerprint(const Action& action, ActionContext&) const override {
    return Json{{"data", action.value("data")}};
  }

 private:
  static Status undo(const Action& action, const std::optional<Action>& inverse, ActionContext& context) {
    if (!inverse || !context.host.has_kernel_view()) return {};
    if (!context.custom_apply) return no_component(action);
    SLIPWAY_TRY(outcome, context.custom_apply(*inverse));
    if (outcome.kind != Outcome::Kind::waiting) return {};
    Error error{ErrorCode::busy,
                action.target() + " could not be undone: " + outcome.reason,
                action.target(),
                "stop what is in the way, then run the same command again",
                {}};
    for (const std::string& holder : outcome.holders) error.details.emplace_back("held", holder);
    return error;
  }
};

}  // namespace

const ActionKind& custom_kind() {
  static const CustomKind kind;
  return kind;
}

}  // namespace slipway::core
