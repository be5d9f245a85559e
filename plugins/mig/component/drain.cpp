// SPDX-License-Identifier: Apache-2.0
#include "mig/component/drain.hpp"

#include <slipway/text.hpp>

#include "mig/device/read.hpp"
#include "nvidia/drain/drain.hpp"
#include "nvidia/drain/waiting.hpp"
#include "nvidia/gpu.hpp"

namespace slipway::mig {
namespace {

namespace drain = nvidia::drain;
namespace nvml = nvidia::nvml;

std::string name_of(const Target& target) { return nvidia::exclusive_of(target.uuid); }

/// What it is to be, to tell it from another target.
std::string text_of(const Target& target) { return to_json(target).dump(); }

drain::Drain drain_of(const Host& host, const Gpu& gpu, const Target& target, const drain::Settings& settings) {
  return {host, settings,
          drain::Drain::Change{.name = name_of(target),
                               .target = text_of(target),
                               .subject = gpu.text(),
                               .in_use = in_use_text(gpu),
                               .key = "spec.components.mig.drain"}};
}

}  // namespace

Result<Outcome> may_change_gpu(nvml::Nvml& nvml, const Host& host, const Target& target,
                               const drain::Settings& settings) {
  SLIPWAY_TRY(device, find_gpu(nvml, target));
  SLIPWAY_TRY(gpu, read_gpu(nvml, device));
  if (is_so(gpu, target)) return Outcome::done();
  return drain_of(host, gpu, target, settings).admit([&] { return find_holders(nvml, host, device, gpu, target); });
}

Result<Outcome> drain_and_change_gpu(nvml::Nvml& nvml, const Host& host, const Target& target,
                                     const drain::Settings& settings) {
  SLIPWAY_TRY(device, find_gpu(nvml, target));
  SLIPWAY_TRY(gpu, read_gpu(nvml, device));
  const auto drain = drain_of(host, gpu, target, settings);
  if (!is_so(gpu, target)) {
    SLIPWAY_TRY(cleared, drain.clear([&] { return find_holders(nvml, host, device, gpu, target); }));
    if (cleared.kind != Outcome::Kind::done) return cleared;
  }
  SLIPWAY_TRY(outcome, change_gpu(nvml, host, target));
  if (outcome.kind == Outcome::Kind::waiting) return drain.refused(outcome.holders);
  drain.over();
  return outcome;
}

Status find_in_use(nvml::Nvml& nvml, const Host& host, const std::vector<Intent>& intents, Findings& findings) {
  std::vector<std::string> texts;
  for (const Intent& intent : intents) {
    if (intent.holds()) continue;
    SLIPWAY_TRY(device, find_gpu(nvml, intent.target));
    const auto holders = drain::texts_of(find_holders(nvml, host, device, intent.gpu, intent.target));
    if (holders.empty()) continue;
    const auto waiting = drain::read_waiting(host, name_of(intent.target), text_of(intent.target));
    texts.push_back(intent.gpu.text() + " is held by " + listed(holders, "and") +
                    (waiting ? "; its change waits since " + waiting->since : std::string()));
  }
  if (texts.empty()) return {};
  findings.add({Finding::Status::warning, "mig.in-use", joined(texts, "; "),
                "end what uses it, then run `slipway apply`; the key drain says what else may be done about it"});
  return {};
}

}  // namespace slipway::mig
