// SPDX-License-Identifier: Apache-2.0
#include "toolkit/cdi/component/facts.hpp"

#include <algorithm>
#include <set>

#include "nvidia/gpu.hpp"
#include "toolkit/cdi/component/machine.hpp"

namespace slipway::toolkit {
namespace {

constexpr const char* kNotLoaded =
    "no NVIDIA driver runs on this machine; slipway-cdi-refresh.service writes the specs when one is loaded";

bool has_former_specs(const CdiSettings& settings, const Host& host) {
  return std::ranges::any_of(settings.modes,
                             [&](Mode mode) { return host.info(settings.path_of(settings.kind_of(mode))).ok(); });
}

/// Says why no spec can be written now; empty: specs can be written. If the driver was unloaded, the former specs must
/// stay: then the NVML call fails instead.
std::string why_later(const CdiSettings& settings, const DriverRoots& roots, const Host& host) {
  if (!host.has_kernel_view()) return "this root shows no devices; slipway-boot.service writes the specs at each boot";
  if (!host.live() && !host.info("/dev/nvidiactl"))
    return "no driver runs on this simulated machine; slipway-boot.service writes the specs at each boot";
  const bool runs =
      host.module_loaded("nvidia") || host.info("/dev/nvidiactl") || host.info(roots.dev + "/dev/nvidiactl");
  return host.live() && !runs && !has_former_specs(settings, host) ? kNotLoaded : "";
}

bool optional(Mode mode) { return mode != Mode::nvml && mode != Mode::management; }

/// Only nvml and the files that it needs must work; a function that the machine does not have is left out.
void add_spec(const CdiSettings& settings, Mode mode, const Roots& roots, const Inventory& inventory, CdiFacts& facts) {
  auto spec = generate(settings.options_for(mode), roots, inventory, facts.notes);
  if (spec) {
    if (settings.options.coherent && mode == Mode::nvml) {
      const auto halves = split_coherent(*spec);
      for (const CoherentHalf& half : halves) facts.specs.emplace(settings.path_of(half.spec.kind), half.spec);
    }
    const std::string path = settings.path_of(spec->kind);
    facts.specs.emplace(path, std::move(*spec));
  } else if (optional(mode) && spec.error().code == ErrorCode::not_found) {
    facts.notes.push_back("no spec for " + std::string(to_string(mode)) + ": " + spec.error().what);
  } else if (!facts.problem) {
    facts.problem = spec.error();
  }
}

void add_missing_hooks(const nvidia::cdi::Edits& edits, const Host& host, std::set<std::string>& missing) {
  for (const auto& hook : edits.hooks)
    if (!missing.contains(hook.path) && !host.exists(hook.path)) missing.insert(hook.path);
}

void add_node_links(const nvidia::cdi::Edits& edits, std::set<std::string>& seen, Json& nodes) {
  for (const auto& node : edits.device_nodes)
    if (node.path.starts_with("/dev/nvidia") && node.host_path.empty() && seen.insert(node.path).second)
      nodes.push_back({{"path", node.path}, {"major", node.major}, {"minor", node.minor}});
}

}  // namespace

CdiFacts read_cdi_facts(const CdiSettings& settings, const Host& host) {
  CdiFacts facts;
  facts.roots = find_driver_roots(host, settings.driver_root, settings.dev_root);
  facts.later = why_later(settings, facts.roots, host);
  if (!facts.later.empty()) return facts;
  auto machine = Machine::open(host, facts.roots.driver, facts.roots.dev);
  if (!machine) {
    facts.problem = machine.error();
    return facts;
  }
  Inventory inventory;
  if (std::ranges::any_of(settings.modes, needs_inventory)) {
    auto found = machine->inventory();
    if (!found) {
      facts.problem = found.error();
      return facts;
    }
    inventory = std::move(*found);
    facts.lost = lost_notes(inventory);
  }
  for (const Mode mode : settings.modes) add_spec(settings, mode, machine->roots(), inventory, facts);
  std::set<std::string> missing;
  for (const auto& [path, spec] : facts.specs) missing.merge(missing_hook_programs(spec, host));
  for (const std::string& program : missing)
    facts.notes.push_back(missing_hook_text(program) + "; install slipway-cdi-hook there, or set hooks: none");
  return facts;
}

std::set<std::string> missing_hook_programs(const nvidia::cdi::Spec& spec, const Host& host) {
  std::set<std::string> missing;
  add_missing_hooks(spec.edits, host, missing);
  for (const auto& device : spec.devices) add_missing_hooks(device.edits, host, missing);
  return missing;
}

std::string missing_hook_text(const std::string& program) {
  return "the spec names the hook program " + program + ", which is missing: no container with a GPU can start";
}

Json linked_nodes(const std::map<std::string, nvidia::cdi::Spec>& specs) {
  std::set<std::string> seen;
  Json nodes = Json::array();
  for (const auto& [path, spec] : specs) {
    add_node_links(spec.edits, seen, nodes);
    for (const auto& device : spec.devices) add_node_links(device.edits, seen, nodes);
  }
  std::sort(nodes.begin(), nodes.end());
  return nodes;
}

}  // namespace slipway::toolkit
