// SPDX-License-Identifier: Apache-2.0
#include "core/service/quiesce_tracker.hpp"

namespace slipway::core {

void QuiesceTracker::hold(int client) {
  holders_.insert(client);
  waiting_.insert(client);
  step();
}

void QuiesceTracker::release(int client) {
  holders_.erase(client);
  waiting_.erase(client);
  step();
}

void QuiesceTracker::answered(const Status& status) {
  asked_ = false;
  if (status)
    quiesced_ = asked_to_quiesce_;
  else if (asked_to_quiesce_)
    refuse(status.error());
  else
    return failed(status.error());
  step();
}

void QuiesceTracker::fail_waiting(const Error& error) { refuse(error); }

void QuiesceTracker::refuse(const Error& error) {
  const std::set<int> refused = std::move(waiting_);
  waiting_.clear();
  for (const int client : refused) {
    holders_.erase(client);
    answer(client, {{"ok", false}, {"error", to_json(error)}});
  }
}

void QuiesceTracker::step() {
  if (asked_) return;
  const bool wanted = !holders_.empty();
  if (wanted != quiesced_) {
    asked_ = true;
    asked_to_quiesce_ = wanted;
    return ask(wanted ? "service.quiesce" : "service.resume");
  }
  const std::set<int> served = std::move(waiting_);
  waiting_.clear();
  for (const int client : served) answer(client, {{"ok", true}, {"quiet", true}});
}

}  // namespace slipway::core
