// SPDX-License-Identifier: Apache-2.0
#include "device-plugin/service/mps/daemons.hpp"

#include <algorithm>

namespace slipway::deviceplugin {

MpsDaemons::MpsDaemons(const Host& host, MpsDaemon::Log log, SetExclusive set_exclusive)
    : host_(host), log_(std::move(log)), set_exclusive_(std::move(set_exclusive)) {}

std::map<std::string, std::string> MpsDaemons::tick(const std::map<std::string, MpsWish>& wishes,
                                                    const std::string& driver_root, const std::string& mps_root) {
  for (auto& [name, daemon] : daemons_)
    if (daemon && !wishes.contains(name)) leaving_.push_back(std::move(daemon));
  std::erase_if(daemons_, [](const auto& each) { return !each.second; });
  if (!leaving_.empty()) std::erase_if(leaving_, [](const auto& daemon) { return daemon->stop_when_idle(); });
  std::set<std::string> wanted;
  for (const auto& [name, wish] : wishes) wanted.insert(wish.gpus.begin(), wish.gpus.end());
  std::erase_if(exclusive_,
                [&](const std::string& gpu) { return !wanted.contains(gpu) && set_exclusive_(gpu, false).ok(); });
  std::map<std::string, std::string> unready;
  for (const auto& [name, wish] : wishes) {
    std::unique_ptr<MpsDaemon>& daemon = daemons_[name];
    if (!daemon) {
      auto program = find_mps_program(host_, driver_root, mps_root);
      if (!program) {
        unready[name] = program.error().what;
        continue;
      }
      daemon = std::make_unique<MpsDaemon>(std::move(*program), name, log_);
    }
    make_exclusive(wish);
    daemon->tick(wish, MpsDaemon::Clock::now());
    if (!daemon->ready()) unready[name] = daemon->problem();
  }
  return unready;
}

void MpsDaemons::make_exclusive(const MpsWish& wish) {
  for (const std::string& gpu : wish.gpus) {
    if (exclusive_.contains(gpu)) continue;
    if (const Status set = set_exclusive_(gpu, true); set)
      exclusive_.insert(gpu);
    else if (complained_.insert(gpu).second)
      log_("warning", gpu + " stays open to processes without MPS: " + set.error().what);
  }
}

void MpsDaemons::let_go() {
  for (auto& [name, daemon] : daemons_)
    if (daemon && !daemon->stop_when_idle())
      log_("warning", name + ": the MPS control daemon has clients and goes on: the GPUs stay in use");
  for (const std::string& gpu : exclusive_) (void)set_exclusive_(gpu, false);
  exclusive_.clear();
}

}  // namespace slipway::deviceplugin
