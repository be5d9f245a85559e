// SPDX-License-Identifier: Apache-2.0
// Names of control groups, as systemd, the container engines and kubelet give them with either cgroup driver.
#include <algorithm>
#include <array>
#include <utility>

#include <slipway/text.hpp>

#include "nvidia/drain/process.hpp"

namespace slipway::nvidia::drain {
namespace {

constexpr std::size_t kIdDigits = 64;
constexpr std::size_t kUidDigits = 32;  // without dashes; a static pod's is a hash without any

constexpr std::array kRuntimes{
    std::pair<std::string_view, std::string_view>("docker", "docker"),
    std::pair<std::string_view, std::string_view>("cri-containerd", "containerd"),
    std::pair<std::string_view, std::string_view>("nerdctl", "containerd"),
    std::pair<std::string_view, std::string_view>("crio", "cri-o"),
    std::pair<std::string_view, std::string_view>("crio-conmon", "cri-o"),
    std::pair<std::string_view, std::string_view>("libpod", "podman"),
    std::pair<std::string_view, std::string_view>("libpod-conmon", "podman"),
};

bool is_hex(char letter) { return (letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'f'); }

bool is_id(std::string_view text) { return text.size() == kIdDigits && std::ranges::all_of(text, is_hex); }

std::string_view without_ending(std::string_view text, std::string_view ending) {
  return text.ends_with(ending) ? text.substr(0, text.size() - ending.size()) : text;
}

/// "pod5c1b…", "kubepods-burstable-pod5c1b….slice", with dashes or underlines in it; empty: it is none.
std::string pod_uid_in(std::string_view name) {
  name = without_ending(name, ".slice");
  const auto at = name.rfind("pod");
  if (at == std::string_view::npos || (at != 0 && name[at - 1] != '-')) return {};
  std::string uid(name.substr(at + 3));
  std::ranges::replace(uid, '_', '-');
  const auto digits = std::ranges::count_if(uid, is_hex);
  const auto dashes = std::ranges::count(uid, '-');
  const bool is_uid = static_cast<std::size_t>(digits) == kUidDigits && (dashes == 0 || dashes == 4) &&
                      static_cast<std::size_t>(digits + dashes) == uid.size();
  return is_uid ? uid : std::string();
}

void take_container(std::string_view name, std::string_view before, Owner& owner) {
  name = without_ending(name, ".scope");
  const auto dash = name.rfind('-');
  const std::string_view id = dash == std::string_view::npos ? name : name.substr(dash + 1);
  if (!is_id(id)) return;
  owner.container = id;
  owner.unit.clear();
  const std::string_view prefix = dash == std::string_view::npos ? before : name.substr(0, dash);
  const auto* const known = std::ranges::find(kRuntimes, prefix, &decltype(kRuntimes)::value_type::first);
  owner.runtime = known == kRuntimes.end() ? "" : known->second;
}

Owner owner_in(std::string_view path) {
  Owner owner;
  std::string_view before;
  for (const std::string_view name : split<std::string_view>(path, '/')) {
    if (std::string uid = pod_uid_in(name); !uid.empty()) {
      owner.pod_uid = std::move(uid);
      owner.unit.clear();
    }
    if (owner.container.empty()) take_container(name, before, owner);
    const bool is_unit = name.ends_with(".service") || name.ends_with(".scope");
    if (is_unit && owner.container.empty() && owner.pod_uid.empty()) owner.unit = cleaned(name);
    before = name;
  }
  return owner;
}

}  // namespace

Owner owner_of(std::string_view cgroups) {
  Owner best;
  for (const std::string_view line : lines_of<std::string_view>(cgroups)) {
    // "0::/path" of version 2, "4:memory:/path" of version 1.
    const auto first = line.find(':');
    const auto second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    Owner owner = owner_in(line.substr(second + 1));
    const bool is_better = (best.container.empty() && !owner.container.empty()) ||
                           (best.container.empty() && best.pod_uid.empty() && !owner.pod_uid.empty()) ||
                           best == Owner();
    if (is_better) best = std::move(owner);
  }
  return best;
}

}  // namespace slipway::nvidia::drain
