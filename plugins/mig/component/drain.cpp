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

std::string held_text(const Gpu& gpu, const std::vector<std::string>& holders) {
  return gpu.text() + " is held by " + listed(holders, "and");
}

/// What it is to be, to tell it from another target.
std::string text_of(const Target& target) { return to_json(target).dump(); }

}  // namespace

GpuDrain::GpuDrain(const Host& host, Target target, Gpu gpu, nvmlDevice_t device, const drain::Settings& settings)
    : host_(host),
      target_(std::move(target)),
      gpu_(std::move(gpu)),
      device_(device),
      drain_(host, settings,
             drain::Drain::Change{.name = name_of(target_),
                                  .target = text_of(target_),
                                  .subject = gpu_.text(),
                                  .in_use = in_use_text(gpu_),
                                  .key = "spec.components.mig.drain"}) {}

Result<GpuDrain> GpuDrain::open(nvml::Nvml& nvml, const Host& host, Target target, const drain::Settings& settings) {
  SLIPWAY_TRY(device, find_gpu(nvml, target));
  SLIPWAY_TRY(gpu, read_gpu(nvml, device));
  return GpuDrain(host, std::move(target), std::move(gpu), device, settings);
}

drain::Drain::Find GpuDrain::find(nvml::Nvml& nvml) const {
  return [this, &nvml] { return find_holders(nvml, host_, device_, gpu_, target_); };
}

Result<Outcome> GpuDrain::admit(nvml::Nvml& nvml) const {
  return is_so(gpu_, target_) ? Outcome::already_done() : drain_.admit(find(nvml));
}

Result<Outcome> GpuDrain::clear(nvml::Nvml& nvml) const {
  return is_so(gpu_, target_) ? Outcome::already_done() : drain_.clear(find(nvml));
}

Result<Outcome> GpuDrain::after(const Outcome& change) const {
  if (change.kind == Outcome::Kind::waiting) return drain_.refused(change.holders);
  drain_.over();
  return change;
}

Result<std::vector<std::string>> held_now(nvml::Nvml& nvml, const Host& host, const std::vector<Intent>& intents) {
  std::vector<std::string> texts;
  for (const Intent& intent : intents) {
    if (intent.holds()) continue;
    SLIPWAY_TRY(device, find_gpu(nvml, intent.target));
    const auto holders = drain::texts_of(find_holders(nvml, host, device, intent.gpu, intent.target));
    if (!holders.empty()) texts.push_back(held_text(intent.gpu, holders));
  }
  return texts;
}

std::string held_note(const std::string& user, const drain::Settings& settings) {
  switch (settings.policy) {
    case drain::Policy::terminate:
      return user + "; an apply ends it (drain: terminate)";
    case drain::Policy::wait:
    case drain::Policy::when_idle:
      return user + "; an apply waits until that has ended (drain: " + drain::to_string(settings.policy) + ")";
    default:
      return user + "; an apply fails until that has ended (drain: " + drain::to_string(settings.policy) + ")";
  }
}

Status find_in_use(nvml::Nvml& nvml, const Host& host, const std::vector<Intent>& intents, Findings& findings) {
  std::vector<std::string> texts;
  for (const Intent& intent : intents) {
    if (intent.holds()) continue;
    SLIPWAY_TRY(device, find_gpu(nvml, intent.target));
    const auto holders = drain::texts_of(find_holders(nvml, host, device, intent.gpu, intent.target));
    if (holders.empty()) continue;
    const auto waiting = drain::read_waiting(host, name_of(intent.target), text_of(intent.target));
    texts.push_back(held_text(intent.gpu, holders) +
                    (waiting ? "; its change waits since " + waiting->since : std::string()));
  }
  if (texts.empty()) return {};
  findings.add({Finding::Status::warning, "mig.in-use", joined(texts, "; "),
                "end what uses it, then run `slipway apply`; the key drain says what else may be done about it"});
  return {};
}

}  // namespace slipway::mig
