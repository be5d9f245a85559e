// SPDX-License-Identifier: Apache-2.0
#include "core/service/quieting.hpp"

namespace slipway::core {

void Quieting::hold(int client) {
  holders_.insert(client);
  waiting_.insert(client);
  step();
}

void Quieting::release(int client) {
  holders_.erase(client);
  waiting_.erase(client);
  step();
}

void Quieting::answered(const Status& status) {
  asked_ = false;
  if (status)
    quiet_ = asked_for_quiet_;
  else if (asked_for_quiet_)
    refuse(status.error());
  else
    return failed(status.error());
  step();
}

void Quieting::gave_up(const Error& error) { refuse(error); }

void Quieting::refuse(const Error& error) {
  const std::set<int> refused = std::move(waiting_);
  waiting_.clear();
  for (const int client : refused) {
    holders_.erase(client);
    answer(client, {{"ok", false}, {"error", to_json(error)}});
  }
}

void Quieting::step() {
  if (asked_) return;
  const bool wanted = !holders_.empty();
  if (wanted != quiet_) {
    asked_ = true;
    asked_for_quiet_ = wanted;
    return ask(wanted ? "service.quiesce" : "service.resume");
  }
  const std::set<int> served = std::move(waiting_);
  waiting_.clear();
  for (const int client : served) answer(client, {{"ok", true}, {"quiet", true}});
}

}  // namespace slipway::core
