// SPDX-License-Identifier: Apache-2.0
#include "mig/diagnose/diagnose.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <slipway/text.hpp>

#include "mig/device/capabilities.hpp"
#include "mig/device/reset.hpp"
#include "mig/draw/picture.hpp"

namespace slipway::mig {
namespace {

constexpr std::size_t kMostNamed = 4;

const Intent* intent_for(const std::vector<Intent>* intents, const Gpu& gpu) {
  if (intents == nullptr) return nullptr;
  const auto found = std::ranges::find_if(*intents, [&](const Intent& each) { return each.gpu.index == gpu.index; });
  return found == intents->end() ? nullptr : &*found;
}

void diagnose_empty(const std::vector<Gpu>& gpus, const std::vector<Intent>* intents, const std::string& config,
                    Findings& findings) {
  std::vector<std::string> as_configured;
  std::vector<std::string> taken;
  std::vector<std::string> others;
  for (const Gpu& gpu : gpus) {
    if (!gpu.enabled || !gpu.instances.empty()) continue;
    const Intent* const intent = intent_for(intents, gpu);
    const bool is_meant = intent != nullptr && intent->wanted.enabled && intent->wanted.devices.empty();
    (is_meant ? as_configured : intent != nullptr || intents == nullptr ? taken : others).push_back(gpu.text());
  }
  constexpr const char* kFinding = "mig.no-instances";
  constexpr const char* kWhat = "MIG is enabled and there are no instances, so no program can use ";
  if (!taken.empty())
    findings.fail(kFinding, kWhat + joined(taken), "run `slipway apply`, which makes the instances of " + config,
                  "mig.layout");
  if (!others.empty())
    findings.fail(
        kFinding, kWhat + joined(others) + ", which no entry of " + config + " selects",
        "add an entry for this GPU to the config, or disable MIG with `nvidia-smi -mig 0 -i` and the GPU's address");
  if (!as_configured.empty())
    findings.add({Finding::Status::warning, kFinding, kWhat + joined(as_configured) + ", as " + config + " says",
                  "name a config with devices, or all-disabled for whole GPUs, and run `slipway apply`"});
}

void diagnose_without_compute(const std::vector<Gpu>& gpus, Findings& findings) {
  std::vector<std::string> found;
  for (const Gpu& gpu : gpus)
    for (const GpuInstance& each : gpu.instances)
      if (each.compute.empty()) found.push_back(to_text(gpu, each) + " on " + gpu.text());
  if (found.empty()) return;
  findings.fail("mig.no-devices",
                "GPU instances take slices although nothing can run on them, since they have no compute instance: " +
                    joined(found),
                "run `slipway apply`; if the config does not select the GPU, `nvidia-smi mig -lgi` shows the numbers "
                "of its GPU instances, and "
                "`nvidia-smi mig -cci -gi N` makes a compute instance in one");
}

void diagnose_pending(const std::vector<Gpu>& gpus, Findings& findings) {
  std::vector<Gpu> found;
  std::ranges::copy_if(gpus, std::back_inserter(found), [](const Gpu& gpu) { return gpu.pending != gpu.enabled; });
  if (found.empty()) return;
  findings.fail("mig.reset", "a change of the MIG mode waits for a reset of " + names_text(found),
                how_to_reset(found) + ", then run `slipway apply`");
}

void diagnose_unmanaged(const std::vector<Gpu>& gpus, const std::vector<Intent>& intents, const std::string& config,
                        Findings& findings) {
  std::vector<std::string> found;
  for (const Gpu& gpu : gpus)
    if (gpu.enabled && !gpu.instances.empty() && intent_for(&intents, gpu) == nullptr)
      found.push_back(fmt::format("{} ({})", gpu.text(), to_text(layout_of(gpu))));
  if (found.empty()) return;
  findings.add(
      {Finding::Status::warning, "mig.unmanaged",
       "no entry of " + config + " selects " + joined(found) +
           ": slipway does not restore these instances after a boot",
       "add an entry for this GPU to the config, so that slipway makes the instances at each boot; `slipway mig "
       "export` prints the present layout"});
}

}  // namespace

void diagnose_gpus(const std::vector<Gpu>& gpus, const std::vector<Intent>* intents, const std::string& config,
                   Findings& findings) {
  diagnose_empty(gpus, intents, config, findings);
  diagnose_without_compute(gpus, findings);
  diagnose_pending(gpus, findings);
  if (intents != nullptr) diagnose_unmanaged(gpus, *intents, config, findings);
}

void diagnose_capabilities(const Host& host, Findings& findings) {
  const std::vector<Capability> missing = missing_capabilities(host);
  if (missing.empty()) return;
  std::vector<std::string> nodes;
  for (const Capability& each : missing) nodes.push_back(each.node);
  findings.fail(
      "mig.caps",
      "device nodes of MIG instances are missing, so no container can use these: " + first_few(nodes, kMostNamed),
      fmt::format("`nvidia-smi` creates all of them, `nvidia-modprobe -f {}` only the first", missing.front().file));
}

}  // namespace slipway::mig
