// SPDX-License-Identifier: Apache-2.0
#include "mig/layout/intent.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <slipway/text.hpp>

namespace slipway::mig {
namespace {

Error no_mig(const Gpu& gpu, const Entry& entry) {
  return Error{.code = ErrorCode::unsupported,
               .what = fmt::format("{}, {}, is not capable of MIG", gpu.text(), gpu.name),
               .where = entry.where,
               .next = "remove it from this entry's devices"};
}

Error other_manager(const Gpu& gpu, const Entry& entry) {
  return Error{.code = ErrorCode::conflict,
               .what = fmt::format("{} is managed by {}, so no config may partition it", gpu.text(), gpu.manager),
               .where = entry.where,
               .next =
                   "remove it from this entry's devices, or give it to the device plugin: its key `managers` says "
                   "which component manages which GPU"};
}

Result<Target> target_of(const Gpu& gpu, const Entry& entry) {
  Target target{.address = gpu.address,
                .uuid = gpu.uuid,
                .enabled = entry.layout.enabled,
                .instances = {},
                .unplaced = {},
                .where = {}};
  if (!target.enabled) return target;
  if (gpu.profiles.empty() && !gpu.enabled) {  // it reports them once MIG is enabled
    target.unplaced = entry.layout.devices;
    target.where = entry.where;
    return target;
  }
  SLIPWAY_TRY(instances, arrange(gpu, entry.layout.devices, entry.where));
  target.instances = std::move(instances);
  return target;
}

/// In a config for several models some entries may match none of this machine's GPUs, but not all of them.
std::vector<std::string> without_effect(const Entries& entries, const std::vector<Gpu>& gpus) {
  std::vector<std::string> notes;
  for (const Entry& entry : entries)
    for (const unsigned index : entry.devices.value_or(std::vector<unsigned>()))
      if (index >= gpus.size())
        notes.push_back(
            fmt::format("{}: there is no GPU {}, since this machine has {}", entry.where, index, gpus.size()));
  const auto is_taken = [&](const Gpu& gpu) { return entry_for(entries, gpu.index, gpu.id) != nullptr; };
  const bool is_filtered = std::ranges::any_of(entries, [](const Entry& each) { return !each.filter.empty(); });
  if (!is_filtered || gpus.empty() || std::ranges::any_of(gpus, is_taken)) return notes;
  std::vector<std::string> ids;
  for (const Gpu& gpu : gpus)
    if (std::ranges::count(ids, gpu.id.text()) == 0 && !gpu.lost) ids.push_back(gpu.id.text());
  notes.push_back(entries.front().where +
                  ": no entry of this config selects a GPU of this machine: none of its device filters matches " +
                  listed(ids, "and"));
  return notes;
}

/// Ignores a filter by model: the model of a lost GPU is unknown.
bool may_take(const Entry& entry, unsigned index) {
  return !entry.devices || std::ranges::count(*entry.devices, index) != 0;
}

Instances now(const Gpu& gpu) { return gpu.enabled ? gpu.instances : Instances(); }

/// Returns "1g.10gb at 0, 1 and 3g.40gb at 4".
std::string places_text(const Gpu& gpu, const Instances& instances) {
  std::vector<std::string> texts;
  unsigned last = 0;
  for (const GpuInstance& each : instances) {
    if (!texts.empty() && each.profile_id == last && each.compute.size() == 1)
      texts.back() += ", " + std::to_string(each.start);
    else
      texts.push_back(to_text(gpu, each));
    last = each.profile_id;
  }
  return listed(texts, "and");
}

}  // namespace

std::string Intent::change_text() const {
  if (holds()) return to_text(wanted);
  std::string text = to_text(layout_of(gpu)) + " -> " + to_text(wanted);
  if (gpu.pending != gpu.enabled)
    text += gpu.pending ? " (MIG would be enabled at the next reset)" : " (MIG would be disabled at the next reset)";
  return text;
}

std::string Intent::instances_text() const {
  if (!target.unplaced.empty()) return {};
  Instances gone;
  Instances kept = now(gpu);
  std::vector<std::string> parts;
  for (const Difference::Part& part : difference(kept, target.instances).destroyed) {
    if (part.whole) {
      gone.push_back(part.instance);
      std::erase(kept, part.instance);
      continue;
    }
    const auto size = [](const ComputeInstance& compute) { return std::to_string(compute.slices) + "c"; };
    parts.push_back(fmt::format("destroys {} of {}", joined(part.compute, ", ", size), to_text(gpu, part.instance)));
  }
  if (!gone.empty()) parts.insert(parts.begin(), "destroys " + places_text(gpu, gone));
  if (!kept.empty()) parts.insert(parts.begin(), "keeps " + places_text(gpu, kept));
  return joined(parts, "; ");
}

Result<Intents> intents_of(const Entries& entries, const std::vector<Gpu>& gpus) {
  Intents intents{.gpus = {}, .notes = {}, .idle = without_effect(entries, gpus), .lost = {}};
  intents.notes = intents.idle;
  for (const Gpu& gpu : gpus) {
    if (gpu.lost) {
      if (gpu.manager.empty() &&
          std::ranges::any_of(entries, [&](const Entry& each) { return may_take(each, gpu.index); }))
        intents.lost.push_back(gpu.lost_text());
      continue;
    }
    const Entry* const entry = entry_for(entries, gpu.index, gpu.id);
    if (entry == nullptr) continue;
    if (!gpu.manager.empty()) {
      if (entry->devices) return other_manager(gpu, *entry);
      if (gpu.capable) intents.notes.push_back(gpu.text() + " is managed by " + gpu.manager + ", so it is left alone");
      continue;
    }
    if (!gpu.capable) {
      if (entry->layout.enabled && entry->devices) return no_mig(gpu, *entry);
      continue;
    }
    SLIPWAY_TRY(target, target_of(gpu, *entry));
    intents.gpus.push_back({.gpu = gpu, .wanted = entry->layout, .target = std::move(target)});
  }
  if (!intents.lost.empty())
    intents.notes.push_back("the driver cannot reach " + listed(intents.lost, "and") +
                            (intents.lost.size() == 1 ? ", so it is left as it is" : ", so they are left as they are"));
  return intents;
}

Intents modes_only(Intents intents) {
  for (Intent& intent : intents.gpus) {
    intent.target.unplaced.clear();
    intent.target.instances = intent.target.enabled ? now(intent.gpu) : Instances();
    intent.wanted = layout_of(intent.gpu, intent.target.enabled, intent.target.instances);
  }
  return intents;
}

}  // namespace slipway::mig
