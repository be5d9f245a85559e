// SPDX-License-Identifier: Apache-2.0
#include "nvidia/drain/drain.hpp"

#include <algorithm>
#include <thread>

#include "nvidia/drain/terminate.hpp"
#include "nvidia/drain/waiting.hpp"

namespace slipway::nvidia::drain {
namespace {

using Clock = std::chrono::steady_clock;

/// The driver may list a process for a moment after its end.
constexpr std::chrono::seconds kListedLimit{5};
constexpr std::chrono::milliseconds kLook{50};

bool is_same(const Process& one, const Process& other) { return one.pid == other.pid && one.start == other.start; }

/// One that has ended holds nothing, whatever a list still says.
std::vector<Holder> without(std::vector<Holder> holders, const std::vector<Holder>& ended) {
  std::erase_if(holders, [&](const Holder& each) {
    return std::ranges::any_of(ended, [&](const Holder& gone) { return is_same(gone.process, each.process); });
  });
  return holders;
}

}  // namespace

Error Drain::busy(const std::string& what, const std::vector<std::string>& holders, const std::string& next) const {
  Error error{
      .code = ErrorCode::busy, .what = what, .where = change_.key + " = " + to_string(settings_.policy), .next = next};
  for (const std::string& holder : holders) error.details.emplace_back("held", holder);
  return error;
}

Result<Outcome> Drain::admit(const Find& find) const {
  if (settings_.policy == Policy::next_boot && !host_.booting())
    return Outcome::reboot_required(change_.subject + " is changed at the next boot, by the drain policy next-boot");
  if (settings_.policy == Policy::terminate) return Outcome::done();
  const auto holders = find();
  return holders.empty() ? Result<Outcome>(Outcome::done()) : refused(texts_of(holders));
}

Result<Outcome> Drain::clear(const Find& find) const {
  return settings_.policy == Policy::terminate ? end_holders(find) : admit(find);
}

Result<Outcome> Drain::end_holders(const Find& find) const {
  const auto holders = find();
  if (holders.empty()) return Outcome::done();
  std::vector<std::string> texts;
  for (const Remaining& each : terminate(host_, holders, settings_.grace))
    texts.push_back(to_text(each.holder) + ": " + each.why);
  if (!texts.empty())
    return busy(change_.in_use, texts, "end what is left by hand, or reboot, then run the same command again");
  for (const auto end = Clock::now() + kListedLimit;; std::this_thread::sleep_for(kLook)) {
    const auto others = without(find(), holders);
    if (others.empty()) return Outcome::done();
    if (Clock::now() >= end)
      return busy(change_.in_use, texts_of(others), "see what starts such processes, then run the same command again");
  }
}

Result<Outcome> Drain::refused(const std::vector<std::string>& holders) const {
  const std::string what = change_.in_use + (holders.empty() ? kNobodyFound : "");
  if (settings_.policy != Policy::wait && settings_.policy != Policy::when_idle)
    return busy(what, holders,
                "end what uses it and run the same command again, or choose another drain policy than " +
                    to_string(settings_.policy));
  SLIPWAY_TRY(waiting, begin_waiting(host_, change_.name, change_.target));
  const std::string since = "; it waits since " + waiting.since;
  if (settings_.policy == Policy::when_idle) return Outcome::waiting(what + since, holders);
  if (now_since_boot() - waiting.begun >= settings_.deadline)
    return busy(what + since + ", which is longer than the deadline of " + to_text(settings_.deadline), holders,
                "end what uses it and run the same command again, or give it a longer deadline");
  return Outcome::waiting(what + since + ", for " + to_text(settings_.deadline) + " at most", holders);
}

void Drain::over() const { end_waiting(host_, change_.name); }

}  // namespace slipway::nvidia::drain
