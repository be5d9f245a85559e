// SPDX-License-Identifier: Apache-2.0
#include "validator/cdi_specs.hpp"

#include <algorithm>

#include "nvidia/cdi/folders.hpp"
#include "nvidia/cdi/text.hpp"

namespace slipway::validator {
namespace {

namespace cdi = nvidia::cdi;

constexpr std::size_t kMostMissing = 3;

void add_paths(const cdi::Edits& edits, CdiSpec& spec) {
  const auto add = [](const std::string& path, std::vector<std::string>& paths) {
    if (path.starts_with('/') && std::ranges::count(paths, path) == 0) paths.push_back(path);
  };
  for (const cdi::DeviceNode& node : edits.device_nodes)
    add(node.host_path.empty() ? node.path : node.host_path, spec.host_paths);
  for (const cdi::Mount& mount : edits.mounts) add(mount.host_path, spec.host_paths);
  for (const cdi::Hook& hook : edits.hooks) add(hook.path, spec.hook_programs);
}

std::string problem_of(const Error& error, const std::string& file) {
  return (error.where.starts_with(file) ? error.where : file) + ": " + error.what;
}

}  // namespace

CdiSpec parse_cdi_spec(const std::string& file, const std::string& text) {
  CdiSpec spec;
  spec.file = file;
  const auto parsed = cdi::parse(text, file);
  if (!parsed) {
    spec.problem = problem_of(parsed.error(), file);
    return spec;
  }
  spec.kind = parsed->kind;
  for (const cdi::Device& device : parsed->devices) {
    spec.devices.push_back(device.name);
    add_paths(device.edits, spec);
  }
  add_paths(parsed->edits, spec);
  if (const Status valid = cdi::validate(*parsed, file); !valid) spec.problem = problem_of(valid.error(), file);
  return spec;
}

const std::vector<CdiSpec>& CdiSpecs::read() {
  std::map<std::string, std::pair<std::string, CdiSpec>> now;
  for (const char* folder : {"/etc/cdi", "/run/cdi"})
    for (const std::string& file : cdi::spec_files(host_, folder)) {
      auto text = host_.read(file, cdi::kMaxSpecBytes);
      if (!text) continue;
      const auto before = parsed_.find(file);
      now[file] = before != parsed_.end() && before->second.first == *text
                      ? before->second
                      : std::pair(*text, parse_cdi_spec(file, *text));
    }
  parsed_ = std::move(now);
  specs_.clear();
  for (const auto& [file, parsed] : parsed_) {
    const CdiSpec& spec = parsed.second;
    const bool by_name = spec.kind.empty() && file.find("nvidia") != std::string::npos;  // invalid, but still NVIDIA's
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
