// SPDX-License-Identifier: Apache-2.0
#include "core/engine/apply/pending.hpp"

#include <algorithm>
#include <set>

#include <slipway/text.hpp>

#include "core/action/store/store.hpp"
#include "core/action/trigger/trigger.hpp"
#include "core/engine/packages/layers.hpp"
#include "core/engine/plan/planner.hpp"
#include "core/engine/records/unproven_change.hpp"

namespace slipway::core {
namespace {

std::set<std::string> named_triggers(const std::map<std::string, Ownership>& owned) {
  std::set<std::string> names;
  for (const auto& [component, ownership] : owned)
    for (const Owned& item : ownership.items)
      for (const Trigger& trigger : triggers_of(item.action)) names.insert(trigger.text());
  return names;
}

/// @param still_pending  triggers that the next apply runs: their files stay recorded until then
Status drop_products(Session& session, const std::set<std::string>& still_pending) {
  SLIPWAY_TRY(products, session.state().products());
  if (products.empty()) return {};
  SLIPWAY_TRY(owned, session.state().ownerships());
  const auto named = named_triggers(owned);
  std::map<std::string, Product> left;
  for (const auto& [path, product] : products) {
    // An unreadable record may name the trigger.
    const bool unknown = session.state().leaves_out("components/") && product.store.empty();
    if (unknown || named.contains(product.trigger) || still_pending.contains(product.trigger)) {
      left[path] = product;
      continue;
    }
    if (!product.store.empty()) {
      SLIPWAY_TRY(kept, kept_sets(session.state(), product.store));
      SLIPWAY_CHECK(drop_unused_layers(session.root(), product.store, kept));
    }
    SLIPWAY_CHECK(session.root().restore(path, product.original));
  }
  return left.size() == products.size() ? Status{} : session.state().write_products(left);
}

/// Triggers by the reason why they were skipped, each in the order of its first one.
using Skipped = std::vector<std::pair<std::string, std::vector<std::string>>>;

void note_skipped(const std::string& trigger, const std::string& why, Skipped& skipped) {
  for (auto& [reason, triggers] : skipped)
    if (reason == why) return triggers.push_back(trigger);
  skipped.push_back({why, {trigger}});
}

}  // namespace

Status run_pending(Session& session, Journal& journal, std::vector<std::string>& report) {
  SLIPWAY_TRY(pending, journal.pending());
  // A removal names them in the opposite order, and dracut fails when modules.dep lists missing modules.
  std::stable_partition(pending.begin(), pending.end(),
                        [](const std::string& text) { return Trigger(text).precedes_activation(); });
  ComponentLayers layers(session, "slipway", {});
  Status first;
  std::set<std::string> still_pending;
  std::vector<std::string> done;
  Skipped skipped;
  for (const std::string& trigger : pending) {
    session.ui().step({"", "activate"}, trigger);
    ActionContext context = make_context(session, "slipway", layers, {});
    auto ran = Trigger(trigger).run(context);
    if (!ran) {
      if (first) first = std::move(ran).error();
      still_pending.insert(trigger);
      continue;
    }
    if (!ran->done)
      note_skipped(trigger, ran->why, skipped);
    else if (!ran->why.empty())
      report.push_back(trigger + " left something out: " + ran->why);
    done.push_back(trigger);
  }
  for (const auto& [why, triggers] : skipped)
    report.push_back(listed(triggers, "and") + (triggers.size() == 1 ? " was" : " were") + " skipped: " + why);
  // Tools write without a sync. Their output is on the disk before the journal says that they need not run again.
  if (!done.empty()) SLIPWAY_CHECK(session.root().sync());
  for (const std::string& trigger : done) SLIPWAY_CHECK(journal.done(trigger));
  SLIPWAY_CHECK(drop_products(session, still_pending));
  return first;
}

}  // namespace slipway::core
