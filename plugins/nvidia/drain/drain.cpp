// SPDX-License-Identifier: Apache-2.0
#include "nvidia/drain/drain.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <thread>

#include <fmt/format.h>

#include <slipway/text.hpp>

#include "nvidia/drain/waiting.hpp"

namespace slipway::nvidia::drain {
namespace {

using Clock = std::chrono::steady_clock;

/// The driver may list a process for a moment after it has ended.
constexpr std::chrono::seconds kListedLimit{5};
constexpr std::chrono::milliseconds kLook{50};

bool is_same(const Process& one, const Process& other) { return one.pid == other.pid && one.start == other.start; }

/// After a pod's process has ended, kubelet may still report for a while that the pod has the device.
bool is_over(const DeviceHolder& each, const DeviceHolder& ended) {
  if (each.kind == DeviceHolder::Kind::process) return is_same(each.process, ended.process);
  const std::string& container = ended.process.pod_container;
  return each.kind == DeviceHolder::Kind::pod && each.process.pod == ended.process.pod &&
         (container.empty() || container == each.process.pod_container);
}

/// Returns a key that identifies a holder.
std::string key_of(const DeviceHolder& each) {
  return fmt::format("{} {} {} {} {} {}", static_cast<int>(each.kind), each.process.pid, each.process.start,
                     each.process.pod, each.process.pod_container, each.holds);
}

using HoldersOfEach = std::vector<std::vector<DeviceHolder>>;

std::vector<DeviceHolder> everybody(const HoldersOfEach& holders) {
  std::vector<DeviceHolder> all;
  for (const std::vector<DeviceHolder>& each : holders) all.insert(all.end(), each.begin(), each.end());
  return all;
}

/// Removes holders that have ended, even if a list still has them.
HoldersOfEach without(HoldersOfEach holders, const std::vector<DeviceHolder>& ended) {
  for (std::vector<DeviceHolder>& list : holders)
    std::erase_if(list, [&](const DeviceHolder& each) {
      return std::ranges::any_of(ended, [&](const DeviceHolder& gone) { return is_over(each, gone); });
    });
  return holders;
}

std::string text_of(const Remaining& each) { return to_text(each.holder) + ": " + each.why; }

/// Says what to do about holders that could not be ended.
std::string how_to_go_on(const std::vector<Remaining>& remaining) {
  std::vector<DeviceHolder> pods;
  for (const Remaining& each : remaining)
    if (each.holder.kind != DeviceHolder::Kind::process) pods.push_back(each.holder);
  const std::string by_hand = pods.size() == remaining.size() ? "" : "end the remaining processes by hand, or reboot";
  const std::string of_pods = pods.empty() ? "" : how_to_end(pods);
  return by_hand + (by_hand.empty() || of_pods.empty() ? "" : "; ") + of_pods + ", then run the same command again";
}

}  // namespace

Error Drain::busy(const std::string& what, const std::vector<std::string>& holders, const std::string& next) const {
  Error error{.code = ErrorCode::busy, .what = what, .where = {}, .next = next};
  if (!change_.key.empty()) error.where = change_.key + " = " + to_string(settings_.policy);
  for (const std::string& holder : holders) error.details.emplace_back("held", holder);
  return error;
}

Result<Outcome> Drain::admit(const std::vector<DeviceHolder>& holders) const {
  if (is_for_a_boot())
    return Outcome::reboot_required(change_.subject + " is changed at the next boot, by the drain policy next-boot");
  if (holders.empty()) return Outcome::done();
  if (settings_.policy != Policy::terminate) return refused(few_texts_of(holders), how_to_end(holders));
  const auto left = find_unendable(host_, holders);
  if (left.empty()) return Outcome::done();
  return busy({this}, {holders}, left);
}

Result<std::vector<Outcome>> Drain::clear(const std::vector<const Drain*>& changes, const Find& find) {
  std::vector<Outcome> outcomes(changes.size(), Outcome::done());
  if (changes.empty()) return outcomes;
  if (changes.front()->settings_.policy == Policy::terminate) {
    SLIPWAY_TRY(ended, end_holders(changes, find));
    for (std::size_t i = 0; i < changes.size(); ++i)
      if (!ended[i].empty())
        outcomes[i].reason = changes[i]->change_.subject + " was freed by the drain policy terminate, which ended " +
                             listed(few_texts_of(ended[i]), "and");
    return outcomes;
  }
  const HoldersOfEach holders = changes.front()->is_for_a_boot() ? HoldersOfEach(changes.size()) : find();
  std::vector<Result<Outcome>> each;
  for (std::size_t i = 0; i < changes.size(); ++i) each.push_back(changes[i]->admit(holders[i]));
  return all_of(std::move(each), changes);
}

Result<std::vector<Outcome>> Drain::all_of(std::vector<Result<Outcome>> each,
                                           const std::vector<const Drain*>& changes) {
  std::vector<Outcome> outcomes;
  std::optional<Error> first;
  for (std::size_t i = 0; i < each.size(); ++i) {
    if (each[i]) {
      outcomes.push_back(std::move(*each[i]));
    } else if (!first) {
      first = std::move(each[i]).error();
    } else {
      for (const auto& [label, text] : each[i].error().details)
        if (label == "held") first->details.emplace_back(label, changes[i]->change_.subject + ": " + text);
    }
  }
  if (first) return std::move(*first);
  return outcomes;
}

/// Returns the error of the first blocked change, with its remaining holders; and the remaining holders of the others.
Error Drain::busy(const std::vector<const Drain*>& changes, const HoldersOfEach& holders,
                  const std::vector<Remaining>& remaining) {
  std::optional<Error> error;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    std::set<std::string> here;
    for (const DeviceHolder& each : holders[i]) here.insert(key_of(each));
    std::vector<std::string> texts;
    for (const Remaining& left : remaining)
      if (here.erase(key_of(left.holder)) != 0) texts.push_back(text_of(left));
    if (texts.empty()) continue;
    if (!error) {
      error = changes[i]->busy(changes[i]->change_.in_use, first_few_of(std::move(texts)), how_to_go_on(remaining));
      continue;
    }
    for (const std::string& text : first_few_of(std::move(texts)))
      error->details.emplace_back("held", changes[i]->change_.subject + ": " + text);
  }
  return *error;
}

Result<HoldersOfEach> Drain::end_holders(const std::vector<const Drain*>& changes, const Find& find) {
  const Drain& any = *changes.front();
  const HoldersOfEach holders = find();
  const std::vector<DeviceHolder> all = everybody(holders);
  if (all.empty()) return holders;
  const std::vector<Remaining> left = terminate(any.host_, all, any.settings_.grace);
  if (!left.empty()) return busy(changes, holders, left);
  for (const auto end = Clock::now() + kListedLimit;; std::this_thread::sleep_for(kLook)) {
    const HoldersOfEach others = without(find(), all);
    const auto found =
        std::ranges::find_if(others, [](const std::vector<DeviceHolder>& each) { return !each.empty(); });
    if (found == others.end()) return holders;
    if (Clock::now() < end) continue;
    const Drain& first = *changes[static_cast<std::size_t>(found - others.begin())];
    return first.busy(first.change_.in_use, few_texts_of(*found),
                      "find out what keeps starting processes on the GPU, then run the same command again");
  }
}

Result<Outcome> Drain::refused(const std::vector<std::string>& holders) const {
  return refused(holders, "stop the processes that use it");
}

Result<Outcome> Drain::refused(const std::vector<std::string>& holders, const std::string& ending) const {
  const std::string what = change_.in_use + (holders.empty() ? kNoHolderFound : "");
  if (settings_.policy != Policy::wait && settings_.policy != Policy::when_idle)
    return busy(
        what, holders,
        ending + " and run the same command again" +
            (change_.key.empty() ? "" : ", or choose another drain policy than " + to_string(settings_.policy)));
  SLIPWAY_TRY(waiting, begin_waiting(host_, change_.name, change_.target));
  const std::string since = "; it waits since " + waiting.since;
  if (settings_.policy == Policy::when_idle) return Outcome::waiting(what + since, holders);
  if (now_since_boot() - waiting.begun >= settings_.deadline)
    return busy(what + since + ", which is longer than the deadline of " + to_text(settings_.deadline), holders,
                ending + " and run the same command again, or give it a longer deadline");
  return Outcome::waiting(what + since + ", for " + to_text(settings_.deadline) + " at most", holders);
}

void Drain::over() const { end_waiting(host_, change_.name); }

}  // namespace slipway::nvidia::drain
