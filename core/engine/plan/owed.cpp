// SPDX-License-Identifier: Apache-2.0
#include "core/engine/plan/owed.hpp"

#include <set>

#include "core/action/store/store.hpp"
#include "core/action/trigger/trigger.hpp"
#include "core/engine/apply/layers.hpp"
#include "core/engine/plan/planner.hpp"
#include "core/loader/nearest.hpp"

namespace slipway::core {
namespace {

std::set<std::string> named_triggers(const std::map<std::string, Ownership>& owned) {
  std::set<std::string> names;
  for (const auto& [component, ownership] : owned)
    for (const Owned& item : ownership.items)
      for (const Json& trigger : item.action.value("triggers", Json::array())) names.insert(trigger.get<std::string>());
  return names;
}

/// @param unpaid  triggers that the next run pays: what they make stays noted until then
Status drop_products(Session& session, const std::set<std::string>& unpaid) {
  SLIPWAY_TRY(products, session.state().products());
  if (products.empty()) return {};
  SLIPWAY_TRY(owned, session.state().ownerships());
  const auto named = named_triggers(owned);
  Json left = Json::object();
  for (const auto& [path, product] : products.items()) {
    const std::string trigger = product.value("trigger", "");
    if (named.contains(trigger) || unpaid.contains(trigger)) {
      left[path] = product;
      continue;
    }
    if (product.contains("store")) SLIPWAY_CHECK(drop_unused_layers(session.root(), product.value("store", "")));
    SLIPWAY_CHECK(session.root().restore(path, product.value("original", Json{})));
  }
  return left == products ? Status{} : session.state().write_products(left);
}

/// Triggers by why they were skipped, each in the order of its first one.
using Skipped = std::vector<std::pair<std::string, std::vector<std::string>>>;

void note_skipped(const std::string& trigger, const std::string& why, Skipped& skipped) {
  for (auto& [reason, triggers] : skipped)
    if (reason == why) return triggers.push_back(trigger);
  skipped.push_back({why, {trigger}});
}

}  // namespace

Status pay_owed(Session& session, Journal& journal, std::vector<std::string>& report) {
  SLIPWAY_TRY(owed, journal.owed());
  ComponentLayers layers(session, "slipway", {});
  Status first;
  std::set<std::string> unpaid;
  std::vector<std::string> paid;
  Skipped skipped;
  for (const std::string& trigger : owed) {
    session.ui().step({"", "activate"}, trigger);
    ActionContext context = make_context(session, "slipway", layers, {});
    auto payment = pay_trigger(trigger, context);
    if (!payment) {
      if (first) first = std::move(payment).error();
      unpaid.insert(trigger);
      continue;
    }
    if (!payment->done) note_skipped(trigger, payment->why, skipped);
    paid.push_back(trigger);
  }
  for (const auto& [why, triggers] : skipped)
    report.push_back(joined(triggers, "and") + (triggers.size() == 1 ? " was" : " were") + " skipped: " + why);
  // Tools write without a sync. What they wrote is on the disk before anything says that they need not run again.
  if (!paid.empty()) SLIPWAY_CHECK(session.root().sync());
  for (const std::string& trigger : paid) SLIPWAY_CHECK(journal.paid(trigger));
  SLIPWAY_CHECK(drop_products(session, unpaid));
  return first;
}

}  // namespace slipway::core
