// SPDX-License-Identifier: Apache-2.0
#include "validator/cdi_specs.hpp"

#include <algorithm>

#include <yaml-cpp/yaml.h>

namespace slipway::validator {
namespace {

constexpr std::size_t kMostMissing = 3;

std::string text_of(const YAML::Node& node, const char* key) {
  const YAML::Node value = node.IsMap() ? node[key] : YAML::Node();
  return value && value.IsScalar() ? value.Scalar() : std::string();
}

/// The host's paths of one containerEdits.
void read_edits(const YAML::Node& edits, std::vector<std::string>& paths) {
  if (!edits || !edits.IsMap()) return;
  const auto add = [&](std::string path) {
    if (path.starts_with('/') && std::ranges::count(paths, path) == 0) paths.push_back(std::move(path));
  };
  for (const YAML::Node& node : edits["deviceNodes"]) {
    const std::string host_path = text_of(node, "hostPath");
    add(host_path.empty() ? text_of(node, "path") : host_path);
  }
  for (const YAML::Node& mount : edits["mounts"]) add(text_of(mount, "hostPath"));
  for (const YAML::Node& hook : edits["hooks"]) add(text_of(hook, "path"));
}

std::string problem_of(const YAML::Node& document, const CdiSpec& spec) {
  if (text_of(document, "cdiVersion").empty()) return "it has no cdiVersion";
  if (spec.kind.find('/') == std::string::npos) return "its kind '" + spec.kind + "' is not VENDOR/CLASS";
  if (spec.devices.empty()) return "it has no devices";
  for (const std::string& name : spec.devices)
    if (name.empty()) return "a device has no name";
  for (const std::string& name : spec.devices)
    if (std::ranges::count(spec.devices, name) > 1) return "the device " + name + " stands there twice";
  return {};
}

}  // namespace

CdiSpec parse_cdi_spec(const std::string& file, const std::string& text) {
  CdiSpec spec;
  spec.file = file;
  try {
    const YAML::Node document = YAML::Load(text);
    if (!document.IsMap()) {
      spec.problem = "it is no CDI spec";
      return spec;
    }
    spec.kind = text_of(document, "kind");
    const YAML::Node devices = document["devices"];
    for (const YAML::Node& device : devices) {
      spec.devices.push_back(text_of(device, "name"));
      if (device.IsMap()) read_edits(device["containerEdits"], spec.host_paths);
    }
    read_edits(document["containerEdits"], spec.host_paths);
    spec.problem = problem_of(document, spec);
  } catch (const YAML::Exception& problem) {
    spec.problem = std::string("it is neither JSON nor YAML: ") + problem.what();
  }
  return spec;
}

const std::vector<CdiSpec>& CdiSpecs::read() {
  std::map<std::string, std::pair<std::string, CdiSpec>> now;
  for (const char* folder : {"/etc/cdi", "/run/cdi"}) {
    const auto names = host_.list(folder).value_or(std::vector<std::string>{});
    for (const std::string& name : names) {
      if (!name.ends_with(".json") && !name.ends_with(".yaml") && !name.ends_with(".yml")) continue;
      const std::string file = std::string(folder) + "/" + name;
      auto text = host_.read(file, 16U << 20);
      if (!text) continue;
      const auto before = parsed_.find(file);
      now[file] = before != parsed_.end() && before->second.first == *text
                      ? before->second
                      : std::pair(*text, parse_cdi_spec(file, *text));
    }
  }
  parsed_ = std::move(now);
  specs_.clear();
  for (const auto& [file, parsed] : parsed_) {
    const CdiSpec& spec = parsed.second;
    const bool by_name = spec.kind.empty() && file.find("nvidia") != std::string::npos;  // broken, and still NVIDIA's
    if (spec.kind.starts_with("nvidia.com/") || by_name) specs_.push_back(spec);
  }
  return specs_;
}

std::vector<std::string> CdiSpecs::missing(const CdiSpec& spec) const {
  std::vector<std::string> paths;
  for (const std::string& path : spec.host_paths)
    if (paths.size() < kMostMissing && !host_.exists(path)) paths.push_back(path);
  return paths;
}

}  // namespace slipway::validator
