// SPDX-License-Identifier: Apache-2.0
// sdk/slipway/findings.hpp - the results of verify(), one sentence each.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <slipway/json.hpp>
#include <slipway/result.hpp>

namespace slipway {

class Host;

struct Finding {
  /// `not_applicable`: there is nothing to check here (no such hardware). `not_exercised`: the check could not be made.
  enum class Status { pass, fail, warning, not_applicable, not_exercised };
  Status status = Status::pass;
  std::string name;    ///< dotted, stable: "driver.modules"
  std::string text;    ///< the observation
  std::string remedy;  ///< what to do; empty when it passes
  /// The cause: the name of another finding ("driver.plan"), or the broken thing ("gpu/0000:65:00.0"), which findings
  /// of several components may share. They are shown as one entry with one remedy. Empty: the finding is its own cause.
  std::string cause = {};
};

/// The findings of one component, in the order they were added.
class Findings {
 public:
  void add(Finding finding) { list_.push_back(std::move(finding)); }
  void pass(std::string name, std::string text) { add({Finding::Status::pass, std::move(name), std::move(text), {}}); }
  void fail(std::string name, std::string text, std::string remedy, std::string cause = {}) {
    add({Finding::Status::fail, std::move(name), std::move(text), std::move(remedy), std::move(cause)});
  }
  /// Adds something that works, but that the user should look at.
  void warning(std::string name, std::string text, std::string remedy, std::string cause = {}) {
    add({Finding::Status::warning, std::move(name), std::move(text), std::move(remedy), std::move(cause)});
  }
  void not_applicable(std::string name, std::string why) {
    add({Finding::Status::not_applicable, std::move(name), std::move(why), {}});
  }
  void not_exercised(std::string name, std::string why) {
    add({Finding::Status::not_exercised, std::move(name), std::move(why), {}});
  }
  /// Adds pass() with the observation `seen` when the condition holds, else fail() with the problem `wrong`.
  void expect(std::string name, bool holds, std::string seen, std::string wrong, std::string remedy) {
    holds ? pass(std::move(name), std::move(seen)) : fail(std::move(name), std::move(wrong), std::move(remedy));
  }
  /// True for the root of a running machine, which some checks need. Otherwise adds not_exercised().
  bool on_live_machine(const Host& host, std::string name);
  const std::vector<Finding>& list() const { return list_; }
  /// True when no finding failed.
  bool passed() const;

 private:
  std::vector<Finding> list_;
};

std::string_view to_string(Finding::Status status);
/// [{"status": "pass", "name": …, "text": …, "remedy": …?, "cause": …?}]; the statuses are spelled with "-":
/// "not-applicable".
Json to_json(const Findings& findings);
/// Errors: `plugin_defect` when the value has another form.
Result<Findings> findings_from_json(const Json& value);

}  // namespace slipway
