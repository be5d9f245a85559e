// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <slipway/text.hpp>

#include "mig/config/known_products.hpp"
#include "mig/config/named_configs.hpp"

namespace slipway::mig {
namespace {

constexpr const char* kOrigin = "the configs made from this machine's GPUs";

/// Returns one GPU of each chip.
std::vector<const Gpu*> models_of(const std::vector<Gpu>& gpus) {
  std::vector<const Gpu*> models;
  for (const Gpu& gpu : gpus) {
    const bool is_known = std::ranges::any_of(models, [&](const Gpu* each) { return each->id.chip == gpu.id.chip; });
    if (gpu.capable && !is_known) models.push_back(&gpu);
  }
  std::ranges::sort(models, {}, [](const Gpu* gpu) { return gpu->id.chip; });
  return models;
}

/// Returns "all-1g.24gb.me.all": labels of Kubernetes must not contain '+'.
std::string name_for(const Profile& profile) {
  std::string name = "all-" + profile.text();
  std::ranges::replace(name, '+', '.');
  return name;
}

class Generator {
 public:
  Generator(const std::vector<Gpu>& gpus, std::vector<const Gpu*> models) : models_(std::move(models)) {
    std::vector<std::uint32_t> chips;
    for (const Gpu& gpu : gpus)
      if (gpu.capable) chips.push_back(gpu.id.chip);
    std::ranges::sort(chips);
    is_mixed_ = std::ranges::adjacent_find(chips, std::not_equal_to{}) != chips.end();
    generated_.configs.file = kOrigin;
  }

  Generated run() {
    add("all-disabled", {}, {.enabled = false, .devices = {}});
    add("all-enabled", {}, {.enabled = true, .devices = {}});
    for (const Gpu* gpu : models_) {
      const std::vector<Offer> offers = offers_of(*gpu);
      if (gpu->profiles.empty())
        generated_.notes.push_back(gpu->name + " does not report its MIG profiles while MIG is disabled: " +
                                   (offers.empty() ? "it only has the configs all-disabled and all-enabled"
                                                   : "it has the configs that NVIDIA publishes for it"));
      for (const Offer& each : offers)
        add(name_for(each.profile), gpu->id, {.enabled = true, .devices = {{each.profile, each.count}}});
      add_balanced(*gpu, offers);
    }
    for (auto& [name, entries] : generated_.configs.by_name)
      std::ranges::stable_sort(entries, {}, [](const Entry& entry) { return first_count(entry); });
    return std::move(generated_);
  }

 private:
  static unsigned first_count(const Entry& entry) {
    return entry.layout.devices.empty() ? 0 : entry.layout.devices.begin()->second;
  }

  /// Returns the profile of that many slices with the most instances: 1g.10gb rather than 1g.20gb.
  static const Offer* most_numerous(const std::vector<Offer>& offers, unsigned slices) {
    const Offer* best = nullptr;
    for (const Offer& each : offers) {
      if (each.profile.gpu_slices != slices || !each.profile.attributes.empty()) continue;
      if (best == nullptr || each.count > best->count) best = &each;
    }
    return best;
  }

  void add_balanced(const Gpu& gpu, const std::vector<Offer>& offers) {
    unsigned slices = 0;
    for (const Offer& each : offers) slices = std::max(slices, each.profile.gpu_slices);
    std::map<unsigned, unsigned> parts{{1, 2}, {2, 1}};  // slices to count
    if (slices == 7) parts.emplace(3, 1);
    Layout layout{.enabled = true, .devices = {}};
    for (const auto& [size, count] : parts)
      if (const Offer* const offer = most_numerous(offers, size)) layout.devices[offer->profile] = count;
    if ((slices == 7 || slices == 4) && layout.devices.size() == parts.size())
      return add("all-balanced", gpu.id, layout);
    if (slices != 0)
      generated_.notes.push_back(gpu.name + " has no balanced layout: it is divided into " + std::to_string(slices) +
                                 " slices");
  }

  /// GPUs of several chips with the same layout share an entry.
  void add(const std::string& name, const DeviceId& id, const Layout& layout) {
    Entries& entries = generated_.configs.by_name[name];
    const bool filters = is_mixed_ && id.chip != 0;
    const DeviceId chip{.chip = id.chip, .board = {}};
    for (Entry& entry : entries)
      if (entry.layout == layout) {
        if (filters) entry.filter.push_back(chip);
        return;
      }
    Entry entry{.where = std::string(kOrigin) + ": " + name, .filter = {}, .devices = {}, .layout = layout};
    if (filters) entry.filter.push_back(chip);
    entries.push_back(std::move(entry));
  }

  std::vector<const Gpu*> models_;
  bool is_mixed_ = false;
  Generated generated_;
};

}  // namespace

Result<std::string> check_generated_name(const std::string& name) {
  const std::vector<std::string> fixed{"all-disabled", "all-enabled", "all-balanced"};
  if (std::ranges::count(fixed, name) != 0) return std::string();
  constexpr std::string_view kAll = "all-";
  std::string text = name.starts_with(kAll) ? name.substr(kAll.size()) : std::string();
  if (const std::size_t memory = text.find("gb."); memory != std::string::npos) text[memory + 2] = '+';
  const auto profile = parse_profile(text, kOrigin);
  if (!profile)
    return Error{.code = ErrorCode::not_found,
                 .what = "no GPU has a config '" + name + "' made from its profiles" + did_you_mean(name, fixed),
                 .where = "spec.components.mig.config",
                 .next = "write all-disabled, all-enabled, all-balanced, or all- and a profile: all-1g.10gb",
                 .details = {}};
  if (is_published(*profile)) return std::string();
  return "slipway knows no GPU with the profile " + profile->text() +
         ": the boot fails if the machine's GPU does not have it";
}

Result<Generated> generate_configs(const std::vector<Gpu>& gpus) {
  std::vector<const Gpu*> models = models_of(gpus);
  if (models.empty())
    return Error{
        .code = ErrorCode::not_found,
        .what = "no GPU of this machine is capable of MIG, so there are no configs",
        .next = "leave mig out on this machine; A30, A100, H100 and newer GPUs of these classes are capable of MIG"};
  return Generator(gpus, std::move(models)).run();
}

}  // namespace slipway::mig
