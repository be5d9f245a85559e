// SPDX-License-Identifier: Apache-2.0
// tests/fuzz/mig.cpp - the input of nvidia-mig-parted: configs and checkpoints of MIG layouts, and the names of
// profiles.
#include <cstdint>

#include "mig/config/checkpoint.hpp"
#include "mig/config/named_configs.hpp"
#include "tests/fuzz/fuzz_check.hpp"
#include "tests/unit/plugins/mig/products.hpp"

namespace {

using namespace slipway;
using namespace slipway::mig;

/// A GPU with two instances, of the kind that has the most profiles.
const Gpu& gpu() {
  static const Gpu known = [] {
    const Gpu empty = mig::testing::rtx_pro_6000();
    return mig::testing::with(empty,
                              {mig::testing::whole(empty, "1g.24gb", 0), mig::testing::whole(empty, "2g.48gb", 6)});
  }();
  return known;
}

void check_profile(const std::string& text) {
  const auto profile = parse_profile(text, "here");
  fuzz::demand_presentable(profile);
  if (profile) fuzz::demand(parse_profile(profile->text(), "here").value_or({}) == *profile, "a name is read back");
}

void check_configs(const std::string& text) {
  const auto configs = configs_from_yaml(text, "config.yaml");
  fuzz::demand_presentable(configs);
  if (!configs) return;
  fuzz::demand_presentable(select_config(*configs, ""));
  if (configs->by_name.empty()) return;
  const auto again = configs_from_yaml(to_yaml(configs->by_name), "again.yaml");
  fuzz::demand(again.ok(), "what was written is read");
  fuzz::demand(to_yaml(again->by_name) == to_yaml(configs->by_name), "it is read back as it was");
  for (const auto& [name, entries] : configs->by_name) {
    const auto intents = intents_of(entries, {gpu()});
    fuzz::demand_presentable(intents);
    if (!intents) continue;
    for (const Intent& intent : intents->gpus)
      fuzz::demand(layout_of(intent.gpu, intent.target.enabled, intent.target.instances) == intent.wanted,
                   "an arrangement has the devices that were asked for");
  }
}

void check_checkpoint(const std::string& text) {
  const auto intents = intents_of_checkpoint(text, "checkpoint", {gpu()});
  fuzz::demand_presentable(intents);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  check_profile(text);
  check_configs(text);
  check_checkpoint(text);
  return 0;
}
