// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <optional>

#include <slipway/testing/carry_out.hpp>

namespace slipway::testing {
namespace {

constexpr std::chrono::seconds kLimit{600};

std::string name_of(const Action& action) { return action.kind() + " " + action.target(); }

Error defect(const Action& action, const std::string& what) {
  return Error{.code = ErrorCode::plugin_defect, .what = name_of(action) + " " + what, .where = action.target()};
}

std::vector<std::string> words(const Action& action, std::string_view member) {
  const Json value = action.value(member);
  return value.is_array() ? value.get<std::vector<std::string>>() : std::vector<std::string>();
}

Result<bool> succeeds(const Host& host, const std::vector<std::string>& argv) {
  SLIPWAY_TRY(end, host.run(argv, kLimit));
  return end.exit_status == 0;
}

Status run(const Action& action, const Host& host, std::string_view member) {
  SLIPWAY_TRY(end, host.run(words(action, member), kLimit));
  if (end.exit_status == 0) return {};
  return Error{.code = ErrorCode::io,
               .what = name_of(action) + " ended with status " + std::to_string(end.exit_status) + ": " + end.errors,
               .where = action.target()};
}

/// Returns the same action with other data; nothing if not found.
std::optional<Action> with_data(const Action& action, std::string_view member) {
  Json data = action.value(member);
  if (data.is_null()) return std::nullopt;
  Json other = action.json();
  other["data"] = std::move(data);
  other.erase("inverse");
  return Action(std::move(other));
}

/// One action of a plan, and the host to carry it out on.
class ActionRunner {
 public:
  ActionRunner(const Component& component, FakeHost& host) : component_(component), host_(host) {}

  Result<std::string> carry_out(const Action& action) {
    if (make_in_tree(action)) return std::string("done");
    if (action.kind() == "exec") return run_exec(action);
    return action.kind() == "custom" ? apply(action) : Result<std::string>("passed over");
  }

  Result<std::string> take_back(const Action& action) {
    if (action.kind() == "exec") return undo_exec(action);
    if (action.kind() == "custom") return undo_custom(action);
    const bool is_made = action.kind() == "file" || action.kind() == "symlink";
    if (is_made) host_.without(action.target());
    return std::string(is_made ? "removed" : "passed over");
  }

 private:
  bool make_in_tree(const Action& action) {
    const std::string path = action.target();
    if (action.kind() == "file")
      host_.file(path, action.text("content"), action.value("mode").get<unsigned>());
    else if (action.kind() == "directory")
      host_.directory(path);
    else if (action.kind() == "symlink")
      host_.without(path).link(path, action.text("points_to"));
    else if (action.kind() == "remove")
      host_.without(path);
    else
      return false;
    return true;
  }

  Result<std::string> run_exec(const Action& action) {
    if (words(action, "check").empty() || words(action, "argv").empty())
      return defect(action, "needs both a program and a check that tells whether it is done");
    // The action may install the check's own program.
    const auto before = succeeds(host_, words(action, "check"));
    if (before && *before) return std::string("holds");
    SLIPWAY_CHECK(run(action, host_, "argv"));
    SLIPWAY_TRY(after, succeeds(host_, words(action, "check")));
    if (!after) return defect(action, "was carried out, but its check reports that it is not done");
    return std::string("done");
  }

  Result<std::string> undo_exec(const Action& action) {
    if (words(action, "undo").empty()) return std::string("stays");
    SLIPWAY_CHECK(run(action, host_, "undo"));
    return std::string("undone");
  }

  Result<std::string> apply(const Action& action) {
    SLIPWAY_TRY(before, component_.check(action, host_));
    if (before) return std::string("holds");
    SLIPWAY_TRY(begins, component_.preflight(action, host_));
    if (begins.kind == Outcome::Kind::waiting) return "waits: " + begins.reason;
    SLIPWAY_TRY(first, component_.apply(action, host_));
    if (first.kind == Outcome::Kind::waiting) return "waits: " + first.reason;
    if (first.kind == Outcome::Kind::reboot_required) return "reboot: " + first.reason;
    SLIPWAY_TRY(after, component_.check(action, host_));
    if (!after) return defect(action, "is done, but check() says that it is not");
    const auto again = component_.apply(action, host_);
    if (!again) return defect(action, "cannot be applied again, as after a crash: " + again.error().what);
    return std::string("done");
  }

  Result<std::string> undo_custom(const Action& action) {
    const bool stays = action.value("stays") == true;
    const auto inverse =
        with_data(action, "on_removal") ? with_data(action, "on_removal") : with_data(action, "inverse");
    if (!inverse || (stays && !with_data(action, "on_removal"))) return std::string("stays");
    SLIPWAY_TRY(outcome, component_.apply(*inverse, host_));
    return outcome.kind == Outcome::Kind::waiting ? "waits: " + outcome.reason : "undone";
  }

  const Component& component_;
  FakeHost& host_;
};

bool is_final(const std::string& how) { return how.starts_with("waits: ") || how.starts_with("reboot: "); }

}  // namespace

Result<std::string> carry_out(const Component& component, const Plan& plan, FakeHost& host) {
  ActionRunner carrier(component, host);
  std::string lines;
  for (const Action& action : plan.actions()) {
    SLIPWAY_TRY(how, carrier.carry_out(action));
    lines += name_of(action) + ": " + how + "\n";
    if (is_final(how)) break;
  }
  return lines;
}

Result<std::string> take_back(const Component& component, const Plan& plan, FakeHost& host) {
  ActionRunner carrier(component, host);
  std::string lines;
  // NOLINTNEXTLINE(modernize-loop-convert): backwards
  for (auto action = plan.actions().rbegin(); action != plan.actions().rend(); ++action) {
    SLIPWAY_TRY(how, carrier.take_back(*action));
    lines += name_of(*action) + ": " + how + "\n";
    if (is_final(how)) break;
  }
  return lines;
}

}  // namespace slipway::testing
