// SPDX-License-Identifier: Apache-2.0
#include "nvidia/flavour.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace slipway::nvidia {
namespace {

std::string title(const Gpu& gpu) {
  std::string text = gpu.name;
  if (gpu.name != gpu.architecture_name) text += fmt::format(" ({})", gpu.architecture_name);
  if (!gpu.address.empty()) text += " at " + gpu.address;
  return text;
}

// Says why this branch does not support the GPU; empty when it does, as far as the table knows.
std::string unusable_reason(const Gpu& gpu, unsigned branch) {
  const ArchitectureSupport& support = gpu.support;
  if (support.last_branch != 0 && branch > support.last_branch)
    return fmt::format("{}: driver branch {} is the last that supports it", title(gpu), support.last_branch);
  if (support.first_branch != 0 && branch < support.first_branch)
    return fmt::format("{}: supported from driver branch {} on", title(gpu), support.first_branch);
  if (support.requires_open && branch < support.first_open_branch)
    return fmt::format("{}: requires open modules, and those of branch {} do not support it", title(gpu), branch);
  return {};
}

bool open_supports(const Gpu& gpu, unsigned branch) {
  const ArchitectureSupport& support = gpu.support;
  return support.first_open_branch != 0 && branch >= support.first_open_branch;
}

FlavourChoice choose_among(const std::vector<const Gpu*>& gpus, unsigned branch, FlavourChoice choice) {
  const auto needs_open = std::ranges::find_if(gpus, [](const Gpu* gpu) { return gpu->support.requires_open; });
  const auto not_open = std::ranges::find_if(gpus, [&](const Gpu* gpu) { return !open_supports(*gpu, branch); });
  if (needs_open != gpus.end()) {
    choice.allowed = {Flavour::open};
    choice.reason = fmt::format("{} requires the open modules", title(**needs_open));
    for (const Gpu* gpu : gpus)
      if (!open_supports(*gpu, branch))
        choice.warnings.push_back(fmt::format("{}: the open modules do not support it, it stays unused", title(*gpu)));
  } else if (not_open != gpus.end()) {
    choice.allowed = {Flavour::proprietary};
    choice.reason = fmt::format("{} is not supported by the open modules of branch {}", title(**not_open), branch);
  } else {
    choice.allowed = {Flavour::open, Flavour::proprietary};
    choice.reason = fmt::format("{} takes both flavours, open is preferred", title(*gpus.front()));
  }
  return choice;
}

}  // namespace

std::string_view to_string(Flavour flavour) { return flavour == Flavour::open ? "open" : "proprietary"; }

std::optional<Flavour> parse_flavour(std::string_view text) {
  if (text == "open") return Flavour::open;
  if (text == "proprietary") return Flavour::proprietary;
  return std::nullopt;
}

FlavourChoice choose_flavour(const std::vector<Gpu>& gpus, unsigned branch) {
  FlavourChoice choice;
  std::vector<const Gpu*> usable;
  bool any_unknown = false;
  for (const Gpu& gpu : gpus) {
    if (!gpu.support.known) {
      any_unknown = true;
      choice.warnings.push_back(fmt::format("{}: not in slipway's table of GPUs, so it is not considered", title(gpu)));
    } else if (auto reason = unusable_reason(gpu, branch); !reason.empty()) {
      choice.warnings.push_back(std::move(reason));
    } else {
      usable.push_back(&gpu);
    }
  }
  if (!usable.empty()) return choose_among(usable, branch, std::move(choice));
  if (any_unknown) {
    choice.allowed = {Flavour::open, Flavour::proprietary};
    choice.reason = "the choice depends on GPUs that slipway does not know";
    return choice;
  }
  choice.reason = fmt::format("driver branch {} supports none of these GPUs", branch);
  return choice;
}

}  // namespace slipway::nvidia
