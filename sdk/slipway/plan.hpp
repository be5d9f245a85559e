// SPDX-License-Identifier: Apache-2.0
// sdk/slipway/plan.hpp - a component's complete desired state, as an ordered list of actions.
#pragma once

#include <string>
#include <vector>

#include <slipway/action.hpp>
#include <slipway/result.hpp>

namespace slipway {

/// Everything that the component needs, satisfied or not, in the order in which it has to be done. An empty plan
/// removes the component.
class Plan {
 public:
  /// Returns the added action, for `.because()` and `.triggers()`.
  Action& add(Action action) { return actions_.emplace_back(std::move(action)); }
  /// Sets a value that components which require this one may read (declared in the manifest's `outputs`).
  void output(std::string name, Json value) { outputs_[std::move(name)] = std::move(value); }
  /// Adds a sentence for the user to the plan: a warning, or the reason of a choice.
  void note(std::string text) { notes_.push_back(std::move(text)); }

  const std::vector<Action>& actions() const { return actions_; }
  const Json& outputs() const { return outputs_; }
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  std::vector<Action> actions_;
  Json outputs_ = Json::object();
  std::vector<std::string> notes_;
};

/// {"actions": […], "outputs": {…}, "notes": […]}
Json to_json(const Plan& plan);
/// Errors: `plugin_defect` when the value has another form; the core checks the kinds of actions.
Result<Plan> plan_from_json(const Json& value);

/// The result of a custom action.
struct Outcome {
  enum class Kind { done, already_done, waiting, reboot_required };
  Kind kind = Kind::done;
  std::string reason;                ///< for `waiting` and `reboot_required`
  std::vector<std::string> holders;  ///< for `waiting`: the processes that hold the device

  static Outcome done() { return {}; }
  static Outcome already_done() { return {Kind::already_done, {}, {}}; }
  static Outcome waiting(std::string reason, std::vector<std::string> holders) {
    return {Kind::waiting, std::move(reason), std::move(holders)};
  }
  static Outcome reboot_required(std::string reason) { return {Kind::reboot_required, std::move(reason), {}}; }
};

/// {"kind": "done|already-done|waiting|reboot-required", "reason": text?, "holders": [texts]?}
Json to_json(const Outcome& outcome);
/// Errors: `plugin_defect` when the value has another form.
Result<Outcome> outcome_from_json(const Json& value);

}  // namespace slipway
