// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <slipway/write/exclusive_use.hpp>

#include "mig/device/change.hpp"
#include "mig/tools/tools.hpp"
#include "nvidia/gpu.hpp"

namespace slipway::mig {
namespace {

/// What those that differ need for themselves alone.
Result<Outcome> take_gpus(ExclusiveUse& use, const std::vector<Intent>& intents, const Host& host) {
  action::Custom needs{.name = "MIG layouts", .data = nullptr, .inverse = nullptr, .irreversible = {}};
  for (const Intent& intent : intents)
    if (!intent.holds()) needs.exclusives.push_back(nvidia::exclusive_of(intent.gpu.uuid));
  needs.quiesces_services = !needs.exclusives.empty();
  return use.take(host, action::custom(needs));
}

Error in_use(const Outcome& outcome) {
  Error error{.code = ErrorCode::busy,
              .what = outcome.reason,
              .where = {},
              .next = "end what uses it, then run the same command again"};
  for (const std::string& holder : outcome.holders) error.details.emplace_back("held", holder);
  return error;
}

Result<Outcome> change_idle_gpu(nvidia::nvml::Nvml& nvml, const Host& host, const Target& target, const Gpu& gpu) {
  SLIPWAY_TRY(device, find_gpu(nvml, target));
  auto holders = nvidia::drain::texts_of(find_holders(nvml, host, device, gpu, target));
  if (!holders.empty()) return Outcome::waiting(in_use_text(gpu), std::move(holders));
  return change_gpu(nvml, host, target, gpu);
}

/// The changed ones, the last first. What cannot be undone is told with the error that led to it.
void undo(nvidia::nvml::Nvml& nvml, const Host& host, std::vector<const Intent*> changed, Error& error) {
  std::ranges::reverse(changed);
  for (const Intent* each : changed) {
    const Gpu& gpu = each->gpu;
    const auto outcome = change_gpu(nvml, host, present(gpu), gpu);
    const bool is_back =
        outcome && (outcome->kind == Outcome::Kind::done || outcome->kind == Outcome::Kind::already_done);
    error.details.emplace_back(is_back ? "so" : "lost",
                               gpu.text() + (is_back ? " is again what it was" : " could not be made what it was") +
                                   ": " + to_text(layout_of(gpu)));
  }
}

}  // namespace

Result<std::vector<std::string>> change_gpus(nvidia::nvml::Nvml& nvml, const std::vector<Intent>& intents,
                                             const Host& host, ToolIo& io) {
  ExclusiveUse use;
  SLIPWAY_TRY(alone, take_gpus(use, intents, host));
  if (alone.kind == Outcome::Kind::waiting) return in_use(alone);
  std::vector<const Intent*> changed;
  std::vector<std::string> waiting;
  for (const Intent& intent : intents) {
    if (intent.holds()) continue;
    io.log(intent.gpu.text() + ": " + intent.change_text());
    const auto outcome = change_idle_gpu(nvml, host, intent.target, intent.gpu);
    if (outcome && outcome->kind != Outcome::Kind::waiting) {
      changed.push_back(&intent);
      if (outcome->kind == Outcome::Kind::reboot_required) waiting.push_back(outcome->reason);
      continue;
    }
    Error error = outcome ? in_use(*outcome) : outcome.error();
    undo(nvml, host, std::move(changed), error);
    return error;
  }
  return waiting;
}

}  // namespace slipway::mig
