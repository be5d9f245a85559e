// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "mig/tools/tools.hpp"

namespace slipway::mig {
namespace {

Error in_use(const Outcome& outcome) {
  Error error{.code = ErrorCode::busy,
              .what = outcome.reason,
              .where = {},
              .next = "end what uses it, then run the same command again"};
  for (const std::string& holder : outcome.holders) error.details.emplace_back("held", holder);
  return error;
}

/// The changed ones, the last first. What cannot be undone is told with the error that led to it.
void undo(nvidia::nvml::Nvml& nvml, std::vector<const Intent*> changed, Error& error) {
  std::ranges::reverse(changed);
  for (const Intent* each : changed) {
    const Gpu& gpu = each->gpu;
    const auto outcome = change_gpu(nvml, present(gpu), gpu);
    const bool is_back =
        outcome && (outcome->kind == Outcome::Kind::done || outcome->kind == Outcome::Kind::already_done);
    error.details.emplace_back(is_back ? "so" : "lost",
                               gpu.text() + (is_back ? " is again what it was" : " could not be made what it was") +
                                   ": " + to_text(layout_of(gpu)));
  }
}

}  // namespace

Result<std::vector<std::string>> change_gpus(nvidia::nvml::Nvml& nvml, const std::vector<Intent>& intents, ToolIo& io) {
  std::vector<const Intent*> changed;
  std::vector<std::string> waiting;
  for (const Intent& intent : intents) {
    if (intent.holds()) continue;
    io.log(intent.gpu.text() + ": " + intent.change_text());
    const auto outcome = change_gpu(nvml, intent.target, intent.gpu);
    if (outcome && outcome->kind != Outcome::Kind::waiting) {
      changed.push_back(&intent);
      if (outcome->kind == Outcome::Kind::reboot_required) waiting.push_back(outcome->reason);
      continue;
    }
    Error error = outcome ? in_use(*outcome) : outcome.error();
    undo(nvml, std::move(changed), error);
    return error;
  }
  return waiting;
}

}  // namespace slipway::mig
