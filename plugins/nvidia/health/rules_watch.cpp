// SPDX-License-Identifier: Apache-2.0
#include "nvidia/health/rules_watch.hpp"

#include <slipway/trusted_owner.hpp>

namespace slipway::nvidia::health {

void RulesWatch::look(Clock::time_point now) {
  if (looked_ && now < next_) return;
  next_ = now + every_;
  const auto text = read_trusted(root_, path_, kMostRuleBytes);
  const bool absent = !text && text.error().code == ErrorCode::not_found && path_ == kSiteFile;
  std::string problem;
  if (!text && !absent) problem = "the file of health rules cannot be read: " + text.error().what;
  const bool same = text ? text_ && *text_ == *text : absent && !text_;
  if (looked_ && same && problem.empty() == problem_.empty()) return;
  if (text || absent) {
    Rules fresh = default_rules();
    Status added = text ? fresh.add(*text, path_) : Status();
    if (added && check_) added = check_(fresh);
    if (!added)
      problem = added.error().where + ": " + added.error().what + " (" + added.error().next + ")";
    else
      rules_ = std::make_shared<const Rules>(std::move(fresh));
    if (looked_ && problem.empty()) log_("info", "the changed health rules are used now");
    text_ = text ? std::optional(*text) : std::nullopt;
  }
  if (problem != problem_ && !problem.empty()) log_("warning", "the health rules stay as they were: " + problem);
  problem_ = problem;
  looked_ = true;
}

}  // namespace slipway::nvidia::health
