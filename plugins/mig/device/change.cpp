// SPDX-License-Identifier: Apache-2.0
#include "mig/device/change.hpp"

#include <algorithm>

#include <slipway/text.hpp>

#include "mig/device/gpu_change.hpp"
#include "mig/device/reset.hpp"
#include "mig/draw/picture.hpp"
#include "nvidia/drain/drain.hpp"

namespace slipway::mig {
namespace {

using Phase = void (GpuChange::*)(nvidia::nvml::Nvml&);

class Changes {
 public:
  Changes(nvidia::nvml::Nvml& nvml, const Host& host, const std::vector<Wanted>& wanted, const HowToChange& how)
      : nvml_(nvml), host_(host), how_(how) {
    for (const Wanted& each : wanted) changes_.emplace_back(each.target, each.known, each.device);
  }

  Result<std::vector<Outcome>> run() {
    for (const Phase phase :
         {&GpuChange::look, &GpuChange::switch_on, &GpuChange::rearrange, &GpuChange::settle, &GpuChange::check}) {
      do_all(phase);
      if (is_given_up()) break;
      reset_waiting();
      if (is_given_up()) break;
    }
    name_holders();
    const bool all_back = is_given_up();
    put_back([all_back](const GpuChange& each) { return all_back || each.is_busy(); });
    if (all_back) return why();
    return outcomes();
  }

 private:
  bool is_given_up() const {
    return std::ranges::any_of(changes_, [this](const GpuChange& each) {
      return each.has_failed() || (each.is_busy() && how_.busy == WhenBusy::undo_all);
    });
  }

  void name_holders() {
    std::vector<GpuChange*> busy;
    std::vector<Changing> changing;
    for (GpuChange& each : changes_)
      if (each.is_busy()) {
        busy.push_back(&each);
        changing.push_back(each.changing(nvml_));
      }
    if (busy.empty()) return;
    const auto holders = find_holders(nvml_, host_, changing, {});
    for (std::size_t i = 0; i < busy.size(); ++i) busy[i]->hold(nvidia::drain::few_texts_of(holders[i]));
  }

  /// Returns the GPUs whose mode waits for a reset and that can be reset.
  std::vector<GpuChange*> resettable() {
    std::vector<GpuChange*> found;
    for (GpuChange& each : changes_)
      if (how_.resets && each.waits_for_reset() && can_be_reset(host_, each.gpu().address)) found.push_back(&each);
    return found;
  }

  void reset_waiting() {
    const std::vector<GpuChange*> waiting = resettable();
    if (waiting.empty()) return;
    nvml_.release();
    std::vector<std::string> addresses;
    for (const GpuChange* each : waiting) addresses.push_back(each->gpu().address);
    const Status reset = reset_gpus(host_, how_.driver_root, addresses);
    if (const Status opened = reopen(); !opened) {
      for (GpuChange& each : changes_) each.fail(opened.error());
      return;
    }
    std::vector<Changing> changing;
    for (GpuChange* each : waiting) changing.push_back(each->changing(nvml_));
    const auto holders = reset ? std::vector<std::vector<nvidia::drain::DeviceHolder>>(waiting.size())
                               : find_holders(nvml_, host_, changing, {});
    nvidia::nvml::in_parallel(nvml_, waiting.size(), [&](nvidia::nvml::Nvml& own, std::size_t i) {
      waiting[i]->look_after_reset(own, reset, !holders[i].empty());
    });
  }

  /// All handles are invalid after a reopen.
  Status reopen() {
    for (GpuChange& each : changes_) each.forget_handles();
    return nvml_.reopen();
  }

  template <class Which>
  void put_back(Which is_wanted) {
    if (std::ranges::none_of(changes_, is_wanted)) return;
    for (GpuChange& each : changes_)
      if (is_wanted(each)) each.turn_back();
    if (!nvml_.is_open()) (void)reopen().ok();  // on failure, the result of each GPU has the error
    for (const Phase phase : {&GpuChange::switch_on, &GpuChange::rearrange}) {
      do_all(phase);
      reset_waiting();
    }
  }

  void do_all(Phase phase) {
    nvidia::nvml::in_parallel(nvml_, changes_.size(),
                              [&](nvidia::nvml::Nvml& own, std::size_t i) { (changes_[i].*phase)(own); });
    bool was_reset = false;
    for (GpuChange& each : changes_) was_reset = each.take_reset() || was_reset;
    if (!was_reset) return;
    if (const Status opened = reopen(); !opened)
      for (GpuChange& each : changes_) each.fail(opened.error());
  }

  Result<std::vector<Outcome>> outcomes() const {
    std::vector<Outcome> outcomes;
    for (const GpuChange& each : changes_) {
      SLIPWAY_TRY(outcome, each.result());
      outcomes.push_back(std::move(outcome));
    }
    report_resets_together(outcomes);
    return outcomes;
  }

  /// One command resets all GPUs; only the first outcome names it.
  void report_resets_together(std::vector<Outcome>& outcomes) const {
    std::vector<Gpu> gpus;
    std::vector<std::string> refusals;
    std::string* text = nullptr;
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
      if (outcomes[i].kind != Outcome::Kind::reboot_required) continue;
      gpus.push_back(changes_[i].gpu());
      const std::string& refusal = changes_[i].refusal();
      if (!refusal.empty() && std::ranges::count(refusals, refusal) == 0) refusals.push_back(refusal);
      if (text == nullptr)
        text = &outcomes[i].reason;
      else
        outcomes[i].reason.clear();
    }
    if (gpus.size() < 2) return;
    *text = names_text(gpus) + " take their MIG modes at their next reset: " + how_to_reset(gpus) +
            ", then apply again" + (refusals.empty() ? "" : " (" + joined(refusals, "; ") + ")");
  }

  /// Returns the first failure, else the first GPU in use; with the state of the other GPUs.
  Error why() const {
    auto cause = std::ranges::find_if(changes_, &GpuChange::has_failed);
    if (cause == changes_.end()) cause = std::ranges::find_if(changes_, &GpuChange::is_busy);
    const auto result = cause->result();
    Error error = result ? in_use(*result) : result.error();
    for (const GpuChange& each : changes_)
      if (&each != &*cause && each.is_touched()) error.details.push_back(went_back(each));
    return error;
  }

  static std::pair<std::string, std::string> went_back(const GpuChange& change) {
    const std::string former = to_text(layout_of(change.gpu()));
    if (change.back()) return {"so", change.gpu().text() + " has its former layout again: " + former};
    return {"lost", change.gpu().text() + " could not be restored to its former layout (" + former +
                        "): " + change.back().error().what};
  }

  nvidia::nvml::Nvml& nvml_;
  const Host& host_;
  const HowToChange& how_;
  std::vector<GpuChange> changes_;
};

}  // namespace

Error in_use(const Outcome& outcome) {
  Error error{.code = ErrorCode::busy,
              .what = outcome.reason + (outcome.holders.empty() ? nvidia::drain::kNoHolderFound : ""),
              .where = {},
              .next = "stop the processes that use it, then run the same command again"};
  for (const std::string& holder : outcome.holders) error.details.emplace_back("held", holder);
  return error;
}

Result<std::vector<Outcome>> change_gpus(nvidia::nvml::Nvml& nvml, const Host& host, const std::vector<Wanted>& wanted,
                                         const HowToChange& how) {
  if (wanted.empty()) return std::vector<Outcome>();
  return Changes(nvml, host, wanted, how).run();
}

}  // namespace slipway::mig
