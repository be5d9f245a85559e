// SPDX-License-Identifier: Apache-2.0
#include "nvidia/proc_files.hpp"

#include <algorithm>
#include <charconv>

#include <slipway/text.hpp>

#include "nvidia/driver_version.hpp"

namespace slipway::nvidia {

namespace {

// Returns the rest of the first line that begins with `key`.
std::optional<std::string_view> line_after(std::string_view text, std::string_view key) {
  for (const std::string_view line : lines_of<std::string_view>(text))
    if (line.starts_with(key)) return trimmed(line.substr(key.size()));
  return std::nullopt;
}

// Returns the first word that is a version; the words before it depend on flavour and machine.
std::string first_version(std::string_view line) {
  while (!line.empty()) {
    line = trimmed(line);
    const auto word = line.substr(0, line.find_first_of(" \t"));
    if (DriverVersion::parse(word)) return std::string{word};
    line.remove_prefix(word.size());
  }
  return {};
}

}  // namespace

std::optional<ProcVersion> parse_proc_version(std::string_view text) {
  const auto line = line_after(text, "NVRM version:");
  if (!line) return std::nullopt;
  ProcVersion result;
  result.version = first_version(*line);
  if (result.version.empty()) return std::nullopt;
  result.flavour = line->find("Open Kernel Module") != std::string_view::npos ? Flavour::open : Flavour::proprietary;
  result.compiler = std::string{line_after(text, "GCC version:").value_or("")};
  return result;
}

std::optional<unsigned> parse_gpu_minor(std::string_view information) {
  const auto value = line_after(information, "Device Minor:");
  if (!value) return std::nullopt;
  unsigned minor = 0;
  const auto [end, error] = std::from_chars(value->data(), value->data() + value->size(), minor);
  if (error != std::errc{} || end != value->data() + value->size()) return std::nullopt;
  return minor;
}

std::string parse_gpu_uuid(std::string_view information) {
  return std::string{line_after(information, "GPU UUID:").value_or("")};
}

std::string parse_gpu_model(std::string_view information) {
  return std::string{line_after(information, "Model:").value_or("")};
}

std::vector<action::DeviceNode> control_nodes(const std::vector<std::string>& modules, unsigned mode) {
  const auto has = [&](std::string_view name) { return std::ranges::find(modules, name) != modules.end(); };
  std::vector<action::DeviceNode> nodes;
  if (has("nvidia")) nodes.push_back({"/dev/nvidiactl", kMajor, "", kControlMinor, mode});
  if (has("nvidia-uvm")) {
    nodes.push_back({"/dev/nvidia-uvm", 0, "nvidia-uvm", 0, mode});
    nodes.push_back({"/dev/nvidia-uvm-tools", 0, "nvidia-uvm", 1, mode});
  }
  if (has("nvidia-modeset")) nodes.push_back({"/dev/nvidia-modeset", kMajor, "", kModesetMinor, mode});
  return nodes;
}

action::DeviceNode gpu_node(unsigned minor, unsigned mode) {
  return {"/dev/nvidia" + std::to_string(minor), kMajor, "", minor, mode};
}

}  // namespace slipway::nvidia
