// SPDX-License-Identifier: Apache-2.0
#include "mig/component/drain.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <slipway/text.hpp>

#include "mig/device/holders.hpp"
#include "mig/device/read.hpp"
#include "mig/draw/picture.hpp"
#include "nvidia/drain/drain.hpp"
#include "nvidia/drain/waiting.hpp"
#include "nvidia/gpu.hpp"

namespace slipway::mig {
namespace {

namespace drain = nvidia::drain;
namespace nvml = nvidia::nvml;

std::string name_of(const Target& target) { return nvidia::exclusive_of(target.uuid); }

/// Returns the target as text, to compare it with another one.
std::string text_of(const Target& target) { return to_json(target).dump(); }

/// A GPU that has to change and is in use.
struct InUse {
  const Intent* intent = nullptr;
  std::vector<drain::DeviceHolder> holders;
};

Result<std::vector<InUse>> users_of(nvml::Nvml& nvml, const Host& host, const Settings& settings,
                                    const std::vector<Intent>& intents) {
  std::vector<InUse> found;
  std::vector<Changing> changing;
  for (const Intent& intent : intents) {
    if (intent.holds()) continue;
    SLIPWAY_TRY(device, find_gpu(nvml, intent.target));
    found.push_back({.intent = &intent, .holders = {}});
    changing.push_back({.device = device, .gpu = &intent.gpu, .target = &intent.target});
  }
  if (changing.empty()) return found;
  auto holders = find_holders(nvml, host, changing, ask_kubelet(host, settings.kubelet_socket));
  for (std::size_t i = 0; i < found.size(); ++i) found[i].holders = std::move(holders[i]);
  std::erase_if(found, [](const InUse& each) { return each.holders.empty(); });
  return found;
}

std::string held_text(const InUse& used) {
  return used.intent->gpu.text() + " is held by " + listed(drain::few_texts_of(used.holders), "and");
}

/// Returns "; its change waits since 2026-11-26 09:12 UTC"; empty: it does not wait.
std::string waiting_text(const Host& host, const InUse& used) {
  const auto waiting = drain::read_waiting(host, name_of(used.intent->target), text_of(used.intent->target));
  return waiting ? "; its change waits since " + waiting->since : std::string();
}

/// Returns "GPU 0-2, 5 have their layouts"; empty: there are none.
std::string have_layouts(std::vector<unsigned> gpus) {
  if (gpus.empty()) return {};
  std::ranges::sort(gpus);
  return "GPU " + ranges_text(gpus) + (gpus.size() == 1 ? " has its layout" : " have their layouts");
}

}  // namespace

bool waits(const drain::Settings& settings) {
  return settings.policy == drain::Policy::wait || settings.policy == drain::Policy::when_idle;
}

Result<GpuDrains> GpuDrains::open(nvml::Nvml& nvml, const Host& host, const std::vector<Target>& targets,
                                  const drain::Settings& settings, const std::string& key,
                                  const std::string& kubelet_socket) {
  SLIPWAY_TRY(gpus, open_gpus(nvml, targets));
  std::vector<GpuDrain> all;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const Gpu& gpu = gpus[i].gpu;
    if (gpu.lost) continue;  // the other GPUs continue; verify() reports this one
    const drain::Drain::Change change{.name = name_of(targets[i]),
                                      .target = text_of(targets[i]),
                                      .subject = gpu.text(),
                                      .in_use = in_use_text(gpu),
                                      .key = key};
    all.push_back({targets[i], std::move(gpus[i]), drain::Drain(host, settings, change)});
  }
  return GpuDrains(host, std::move(all), kubelet_socket);
}

std::vector<const GpuDrains::GpuDrain*> GpuDrains::changing() const {
  std::vector<const GpuDrain*> changing;
  for (const GpuDrain& each : all_)
    if (!each.holds()) changing.push_back(&each);
  return changing;
}

std::vector<std::vector<drain::DeviceHolder>> GpuDrains::find(nvml::Nvml& nvml) const {
  std::vector<Changing> gpus;
  for (const GpuDrain* each : changing())
    gpus.push_back({.device = each->open.device, .gpu = &each->open.gpu, .target = &each->target});
  return find_holders(nvml, host_, gpus, ask_kubelet(host_, kubelet_socket_));
}

std::vector<Outcome> GpuDrains::with_others(std::vector<Outcome> changing_outcomes) const {
  std::vector<Outcome> outcomes;
  auto next = changing_outcomes.begin();
  for (const GpuDrain& each : all_) outcomes.push_back(each.holds() ? Outcome::already_done() : std::move(*next++));
  return outcomes;
}

Result<std::vector<Outcome>> GpuDrains::admit(nvml::Nvml& nvml, const std::vector<std::string>& clients) const {
  const std::vector<const GpuDrain*> gpus = changing();
  if (gpus.empty()) return with_others({});
  auto holders =
      gpus.front()->drain.is_for_a_boot() ? std::vector<std::vector<drain::DeviceHolder>>(gpus.size()) : find(nvml);
  for (std::vector<drain::DeviceHolder>& each : holders) drain::erase_units(host_, clients, each);
  std::vector<const drain::Drain*> drains;
  std::vector<Result<Outcome>> each;
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    drains.push_back(&gpus[i]->drain);
    each.push_back(gpus[i]->drain.admit(holders[i]));
  }
  SLIPWAY_TRY(admitted, drain::Drain::all_of(std::move(each), drains));
  return with_others(std::move(admitted));
}

Result<std::vector<Outcome>> GpuDrains::clear(nvml::Nvml& nvml) const {
  std::vector<const drain::Drain*> drains;
  for (const GpuDrain* each : changing()) drains.push_back(&each->drain);
  SLIPWAY_TRY(outcomes, drain::Drain::clear(drains, [&] { return find(nvml); }));
  return with_others(std::move(outcomes));
}

Result<Outcome> GpuDrains::after(std::size_t gpu, const Outcome& change) const {
  const drain::Drain& drain = all_[gpu].drain;
  if (change.kind == Outcome::Kind::waiting) return drain.refused(change.holders);
  drain.over();
  return change;
}

std::string GpuDrains::settled_text(const std::vector<Outcome>& outcomes) const {
  std::vector<unsigned> gpus;
  for (std::size_t i = 0; i < all_.size(); ++i) {
    const bool is_done = i < outcomes.size() &&
                         (outcomes[i].kind == Outcome::Kind::done || outcomes[i].kind == Outcome::Kind::already_done);
    if (outcomes.empty() ? all_[i].holds() : is_done) gpus.push_back(all_[i].open.gpu.index);
  }
  return have_layouts(std::move(gpus));
}

Wanted GpuDrains::wanted(std::size_t gpu) const {
  return {.target = all_[gpu].target, .known = all_[gpu].open.gpu, .device = all_[gpu].open.device};
}

Result<std::vector<std::string>> held_notes(nvml::Nvml& nvml, const Host& host, const Settings& settings,
                                            const std::vector<Intent>& intents,
                                            const std::vector<std::string>& clients) {
  SLIPWAY_TRY(found, users_of(nvml, host, settings, intents));
  for (InUse& each : found) drain::erase_units(host, clients, each.holders);
  std::erase_if(found, [](const InUse& each) { return each.holders.empty(); });
  std::vector<std::string> notes;
  for (const InUse& each : found)
    notes.push_back(held_text(each) + "; " + drain::effect_text(host, each.holders, settings.drain) +
                    waiting_text(host, each));
  std::vector<unsigned> free;
  for (const Intent& intent : intents)
    if (!intent.holds() && std::ranges::none_of(found, [&](const InUse& each) { return each.intent == &intent; }))
      free.push_back(intent.gpu.index);
  if (waits(settings.drain) && !found.empty() && !free.empty())
    notes.push_back("GPU " + ranges_text(free) + (free.size() == 1 ? " changes" : " change") +
                    " first, and stays changed when the deadline passes");
  return notes;
}

Status find_in_use(nvml::Nvml& nvml, const Host& host, const Settings& settings, const std::vector<Intent>& intents,
                   Findings& findings) {
  SLIPWAY_TRY(found, users_of(nvml, host, settings, intents));
  std::vector<std::string> texts;
  std::vector<drain::DeviceHolder> all;
  for (const InUse& each : found) {
    all.insert(all.end(), each.holders.begin(), each.holders.end());
    texts.push_back(held_text(each) + waiting_text(host, each));
  }
  if (texts.empty()) return {};
  std::vector<unsigned> settled;
  for (const Intent& intent : intents)
    if (intent.holds()) settled.push_back(intent.gpu.index);
  if (std::string others = have_layouts(settled); !others.empty()) texts.push_back(std::move(others));
  findings.add({Finding::Status::warning, "mig.in-use", joined(texts, "; "),
                drain::how_to_end(all) + ", then run `slipway apply`; the key drain offers other policies"});
  return {};
}

}  // namespace slipway::mig
