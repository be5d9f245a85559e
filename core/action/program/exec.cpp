// SPDX-License-Identifier: Apache-2.0
// core/action/program/exec.cpp - kind `exec`: a program that establishes a state, guarded by one that checks for it.
#include <slipway/text.hpp>

#include "core/action/action_kind.hpp"
#include "sandbox/tool.hpp"

namespace slipway::core {
namespace {

constexpr std::chrono::seconds kCheckLimit{60};
constexpr std::chrono::seconds kRunLimit{600};

std::vector<std::string> words(const Action& action, const char* member) {
  const Json value = action.value(member);
  return value.is_array() ? value.get<std::vector<std::string>>() : std::vector<std::string>{};
}

/// Runs the action's `check`, and returns true when the state is established.
Result<bool> holds(const Action& action, const Host& host) {
  SLIPWAY_TRY(end, sandbox::run_live(host, words(action, "check"), kCheckLimit));
  return end.status == 0;
}

class ExecKind final : public ActionKind {
 public:
  std::string removal(const Action& action) const override { return "undo " + action.target(); }

  Phase phase() const override { return Phase::activate; }

  Result<Check> check(const Action& action, ActionContext& context) const override {
    Check check;
    check.summary = "run " + action.target();
    if (words(action, "check").empty() || words(action, "argv").empty())
      return Check::conflict(
          check.summary,
          Error{ErrorCode::invalid,
                "the step '" + action.target() + "' has no " +
                    (words(action, "argv").empty() ? "program to run" : "check that tells whether it is done"),
                action.target(),
                "this is a defect of the component that planned the step; report it",
                {}});
    const auto undo = words(action, "undo");
    check.diff = "runs:   " + joined(words(action, "argv"), " ") + "\nunless: " + joined(words(action, "check"), " ") +
                 "\nundo:   " + (undo.empty() ? "nothing" : joined(undo, " ")) + "\n";
    if (!context.host.live()) {
      check.standing = Check::Standing::at_boot;
      return check;
    }
    const auto done = holds(action, context.host);
    // An earlier action of the same plan may install the program; until then the state is not established.
    if (!done && done.error().code != ErrorCode::not_found) return done.error();
    if (done && *done) check.standing = Check::Standing::satisfied;
    return check;
  }

  Result<Image> capture(const Action& action, ActionContext& context) const override {
    const auto done = holds(action, context.host);
    return Image{{"already", done && *done}};
  }

  Result<Outcome> perform(const Action& action, ActionContext& context) const override {
    if (!context.host.live())
      return Error{ErrorCode::offline, action.target() + " can only run on the live machine", action.target(), {}, {}};
    const auto before = holds(action, context.host);
    if (before && *before) return Outcome::already_done();
    SLIPWAY_TRY(end, sandbox::run_live(context.host, words(action, "argv"), kRunLimit));
    if (end.status != 0) return sandbox::tool_failed(end, action.target(), "run that command by hand to see more");
    return Outcome::done();
  }

  Status restore(const Action& action, const Image& image, ActionContext& context) const override {
    const auto undo = words(action, "undo");
    if (undo.empty() || image.value("already", false) || !context.host.live()) return {};
    const auto now = holds(action, context.host);
    if (now && !*now) return {};
    SLIPWAY_TRY(end, sandbox::run_live(context.host, undo, kRunLimit));
    if (end.status != 0)
      return sandbox::tool_failed(end, "undoing " + action.target(), "run that command by hand to see more");
    return {};
  }

  Result<Json> fingerprint(const Action&, ActionContext&) const override { return Json{{"ran", true}}; }
};

}  // namespace

const ActionKind& exec_kind() {
  static const ExecKind kind;
  return kind;
}

}  // namespace slipway::core
