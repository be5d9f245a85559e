// SPDX-License-Identifier: Apache-2.0
#include "mig/device/change.hpp"
#include "mig/tools/tools.hpp"

namespace slipway::mig {

Result<std::vector<std::string>> change_all(nvidia::nvml::Nvml& nvml, const std::vector<Intent>& intents, ToolIo& io) {
  std::vector<Wanted> wanted;
  for (const Intent& intent : intents) {
    if (intent.holds()) continue;
    io.log(intent.gpu.text() + ": " + intent.change_text());
    wanted.push_back({intent.target, intent.gpu});
  }
  SLIPWAY_TRY(outcomes, change_gpus(nvml, wanted, WhenBusy::undo_all));
  std::vector<std::string> waiting;
  for (const Outcome& outcome : outcomes)
    if (outcome.kind == Outcome::Kind::reboot_required) waiting.push_back(outcome.reason);
  return waiting;
}

}  // namespace slipway::mig
