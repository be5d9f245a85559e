// SPDX-License-Identifier: Apache-2.0
#include "mig/component/drain.hpp"

#include <algorithm>

#include <slipway/text.hpp>

#include "nvidia/drain/drain.hpp"
#include "nvidia/drain/waiting.hpp"
#include "nvidia/gpu.hpp"

namespace slipway::mig {
namespace {

namespace drain = nvidia::drain;
namespace nvml = nvidia::nvml;

std::string name_of(const Target& target) { return nvidia::exclusive_of(target.uuid); }

/// A GPU that has to change while somebody uses it.
struct InUse {
  const Intent* intent = nullptr;
  std::vector<drain::Holder> holders;
};

Result<std::vector<InUse>> users_of(nvml::Nvml& nvml, const Host& host, const std::vector<Intent>& intents) {
  std::vector<InUse> found;
  std::vector<Changing> changing;
  for (const Intent& intent : intents) {
    if (intent.holds()) continue;
    SLIPWAY_TRY(device, find_gpu(nvml, intent.target));
    found.push_back({.intent = &intent, .holders = {}});
    changing.push_back({.device = device, .gpu = &intent.gpu, .target = &intent.target});
  }
  auto holders = find_holders(nvml, host, changing);
  for (std::size_t i = 0; i < found.size(); ++i) found[i].holders = std::move(holders[i]);
  std::erase_if(found, [](const InUse& each) { return each.holders.empty(); });
  return found;
}

std::string held_text(const InUse& used) {
  return used.intent->gpu.text() + " is held by " + listed(drain::texts_of(used.holders), "and");
}

/// Without the units that an apply stops and starts again.
void erase_clients(const Host& host, const std::vector<std::string>& clients, std::vector<drain::Holder>& holders) {
  std::erase_if(holders, [&](const drain::Holder& holder) {
    return host.live() && std::ranges::count(clients, holder.process.owner.unit) != 0;
  });
}

/// What it is to be, to tell it from another target.
std::string text_of(const Target& target) { return to_json(target).dump(); }

}  // namespace

Result<GpuDrains> GpuDrains::open(nvml::Nvml& nvml, const Host& host, const std::vector<Target>& targets,
                                  const drain::Settings& settings) {
  SLIPWAY_TRY(gpus, open_gpus(nvml, targets));
  std::vector<Each> all;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const Gpu& gpu = gpus[i].gpu;
    const drain::Drain::Change change{.name = name_of(targets[i]),
                                      .target = text_of(targets[i]),
                                      .subject = gpu.text(),
                                      .in_use = in_use_text(gpu),
                                      .key = "spec.components.mig.drain"};
    all.push_back({targets[i], std::move(gpus[i]), drain::Drain(host, settings, change)});
  }
  return GpuDrains(host, std::move(all));
}

std::vector<const GpuDrains::Each*> GpuDrains::changing() const {
  std::vector<const Each*> changing;
  for (const Each& each : all_)
    if (!each.holds()) changing.push_back(&each);
  return changing;
}

std::vector<std::vector<drain::Holder>> GpuDrains::find(nvml::Nvml& nvml) const {
  std::vector<Changing> gpus;
  for (const Each* each : changing())
    gpus.push_back({.device = each->open.device, .gpu = &each->open.gpu, .target = &each->target});
  return find_holders(nvml, host_, gpus);
}

std::vector<Outcome> GpuDrains::with_others(std::vector<Outcome> of_changing) const {
  std::vector<Outcome> outcomes;
  auto next = of_changing.begin();
  for (const Each& each : all_) outcomes.push_back(each.holds() ? Outcome::already_done() : std::move(*next++));
  return outcomes;
}

Result<std::vector<Outcome>> GpuDrains::admit(nvml::Nvml& nvml, const std::vector<std::string>& clients) const {
  const std::vector<const Each*> gpus = changing();
  std::vector<Outcome> outcomes;
  if (gpus.empty()) return with_others(outcomes);
  auto holders =
      gpus.front()->drain.is_for_a_boot() ? std::vector<std::vector<drain::Holder>>(gpus.size()) : find(nvml);
  for (std::vector<drain::Holder>& each : holders) erase_clients(host_, clients, each);
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    SLIPWAY_TRY(outcome, gpus[i]->drain.admit(holders[i]));
    outcomes.push_back(std::move(outcome));
  }
  return with_others(std::move(outcomes));
}

Result<std::vector<Outcome>> GpuDrains::clear(nvml::Nvml& nvml) const {
  std::vector<const drain::Drain*> drains;
  for (const Each* each : changing()) drains.push_back(&each->drain);
  SLIPWAY_TRY(outcomes, drain::Drain::clear(drains, [&] { return find(nvml); }));
  return with_others(std::move(outcomes));
}

Result<Outcome> GpuDrains::after(std::size_t gpu, const Outcome& change) const {
  const drain::Drain& drain = all_[gpu].drain;
  if (change.kind == Outcome::Kind::waiting) return drain.refused(change.holders);
  drain.over();
  return change;
}

Wanted GpuDrains::wanted(std::size_t gpu) const {
  return {.target = all_[gpu].target, .known = all_[gpu].open.gpu, .device = all_[gpu].open.device};
}

Result<std::vector<std::string>> held_now(nvml::Nvml& nvml, const Host& host, const std::vector<Intent>& intents,
                                          const std::vector<std::string>& clients) {
  SLIPWAY_TRY(found, users_of(nvml, host, intents));
  std::vector<std::string> texts;
  for (InUse& each : found) {
    erase_clients(host, clients, each.holders);
    if (!each.holders.empty()) texts.push_back(held_text(each));
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
  SLIPWAY_TRY(found, users_of(nvml, host, intents));
  std::vector<std::string> texts;
  for (const InUse& each : found) {
    const auto waiting = drain::read_waiting(host, name_of(each.intent->target), text_of(each.intent->target));
    texts.push_back(held_text(each) + (waiting ? "; its change waits since " + waiting->since : std::string()));
  }
  if (texts.empty()) return {};
  findings.add({Finding::Status::warning, "mig.in-use", joined(texts, "; "),
                "end what uses it, then run `slipway apply`; the key drain says what else may be done about it"});
  return {};
}

}  // namespace slipway::mig
