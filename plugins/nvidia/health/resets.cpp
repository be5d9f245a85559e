// SPDX-License-Identifier: Apache-2.0
#include "nvidia/health/resets.hpp"

#include <algorithm>
#include <utility>

#include <slipway/text.hpp>

#include "base/write/paused_commands.hpp"
#include "nvidia/gpu.hpp"
#include "nvidia/machine/causes.hpp"

namespace slipway::nvidia::health {
namespace {

/// @param name  name in a GpuHealth: "GPU 3 (0000:65:00.0)"
bool is_meant(const std::string& word, const std::string& uuid, const std::string& name) {
  if (word == uuid || name.starts_with("GPU " + word + " ")) return true;
  return word.find(':') != std::string::npos && pci_place(word) == pci_place(gpu_address_in(name));
}

}  // namespace

std::optional<std::vector<std::string>> gpus_reset_by(const std::vector<std::string>& command) {
  if (command.empty()) return std::nullopt;
  const std::string& program = command.front();
  if (program.substr(program.rfind('/') + 1) != "nvidia-smi") return std::nullopt;
  bool resets = false;
  std::vector<std::string> gpus;
  for (auto word = command.begin() + 1; word != command.end(); ++word) {
    if (*word == "-r" || *word == "--gpu-reset") {
      resets = true;
      continue;
    }
    std::string list;
    if ((*word == "-i" || *word == "--id") && word + 1 != command.end())
      list = *++word;
    else if (word->starts_with("-i=") || word->starts_with("--id="))
      list = word->substr(word->find('=') + 1);
    else
      return std::nullopt;  // the command also does something other than a reset
    for (std::string& gpu : split_list(list)) gpus.push_back(std::move(gpu));
  }
  return resets ? std::optional(std::move(gpus)) : std::nullopt;
}

SharedHealth with_resets(const RootDir& root, SharedHealth parts) {
  parts.erase(kPausePart);
  HealthOfGpus resets;
  for (const base::PausedCommand& command : base::read_paused_commands(root)) {
    const auto named = command.exit_code == 0 ? gpus_reset_by(command.words) : std::nullopt;
    if (!named) continue;
    for (const auto& [service, gpus] : parts)
      for (const auto& [uuid, gpu] : gpus) {
        const bool is_all = named->empty();
        if (!is_all && std::ranges::none_of(*named, [&, &uuid = uuid, &gpu = gpu](const std::string& word) {
              return is_meant(word, uuid, gpu.name);
            }))
          continue;
        GpuHealth& reset = resets[uuid];
        reset.name = gpu.name;
        reset.ended = {{.instance = std::nullopt, .how = kReset, .when = command.ended}};  // of the last reset
      }
  }
  if (!resets.empty()) parts[kPausePart] = std::move(resets);
  return parts;
}

}  // namespace slipway::nvidia::health
