// SPDX-License-Identifier: Apache-2.0
#include "containers.hpp"

#include <algorithm>

#include "gpus.hpp"

using namespace slipway;

namespace rocm {
namespace {

constexpr const char* kKfd = "/dev/kfd";

Json edits(const std::vector<std::string>& nodes) {
  Json list = Json::array();
  for (const std::string& node : nodes) list.push_back({{"path", node}});
  list.push_back({{"path", kKfd}});  // one for all GPUs
  return {{"deviceNodes", list}};
}

/// Writes devices "0", "1", … and "all", the names that `amd-ctk cdi generate` uses.
std::string cdi_spec(const std::vector<Gpu>& gpus) {
  Json devices = Json::array();
  std::vector<std::string> all;
  for (const Gpu& gpu : gpus) {
    devices.push_back({{"name", std::to_string(devices.size())}, {"containerEdits", edits(gpu.nodes)}});
    all.insert(all.end(), gpu.nodes.begin(), gpu.nodes.end());
  }
  devices.push_back({{"name", "all"}, {"containerEdits", edits(all)}});
  return pretty({{"cdiVersion", "0.6.0"}, {"kind", "amd.com/gpu"}, {"devices", devices}});
}

/// Returns a label's value: letters, digits and "-_." (the node labeller replaces blanks by "_").
std::string label_value(std::string text) {
  std::replace(text.begin(), text.end(), ' ', '_');
  return text;
}

/// Returns the labels of the first GPU: the node labeller expects all GPUs of a node to be of one model, and so do its
/// labels.
std::string labels(const std::vector<Gpu>& gpus) {
  const Gpu& first = gpus.front();
  std::string lines = "amd.com/gpu.device-id=" + first.device_id + "\n";
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty() && value != "0") lines += "amd.com/gpu." + std::string(name) + "=" + value + "\n";
  };
  add("family", first.family);
  add("product-name", label_value(first.product));
  add("vram", first.vram_gib == 0 ? "" : std::to_string(first.vram_gib) + "G");
  add("cu-count", std::to_string(first.cu_count));
  add("simd-count", std::to_string(first.simd_count));
  return lines;
}

}  // namespace

Result<Facts> Containers::detect(const Spec&, const Host& host) const {
  const auto found = gpus(host);
  if (found.empty() && host.has_kernel_view()) return Facts::not_applicable("no AMD GPU on the PCI bus");
  Facts facts;
  Json list = Json::array();
  for (const Gpu& gpu : found) list.push_back(to_json(gpu));
  facts.set("gpus", list);
  return facts;
}

// Where no module can be loaded now, in an image or on a simulated machine, the first boot plans this again.
Result<Plan> Containers::plan(const Spec& spec, const Facts& facts, const Inputs& inputs) const {
  Plan plan;
  std::vector<Gpu> gpus;
  for (const Json& value : facts.value("gpus")) gpus.push_back(gpu_from_json(value));
  const auto bare = std::find_if(gpus.begin(), gpus.end(), [](const Gpu& gpu) { return gpu.nodes.empty(); });
  if (inputs.target().live && bare != gpus.end())
    return Error{ErrorCode::not_found,
                 "the GPU at " + bare->address + " has no device nodes",
                 bare->address,
                 "load its driver: put rocm into the spec, or run `modprobe amdgpu`",
                 {}};
  if (gpus.empty() || bare != gpus.end()) {
    plan.note("which devices there are is seen at the first boot, when the CDI spec is written");
    return plan;
  }
  plan.add(action::file({.path = spec.text("output"), .content = cdi_spec(gpus)}));
  if (spec.flag("labels")) plan.add(action::file({.path = spec.text("labels_file"), .content = labels(gpus)}));
  const bool mixed =
      std::any_of(gpus.begin(), gpus.end(), [&](const Gpu& gpu) { return gpu.device_id != gpus.front().device_id; });
  if (mixed) plan.note("the GPUs are of several models: the labels are those of the first");
  return plan;
}

Result<Findings> Containers::verify(const Spec& spec, const Host& host) const {
  Findings findings;
  const auto found = gpus(host);
  if (found.empty()) {
    findings.not_applicable("rocm-cdi.devices", "no AMD GPU on the PCI bus");
    return findings;
  }
  std::vector<std::string> missing;
  for (const Gpu& gpu : found) {
    if (gpu.nodes.empty()) missing.push_back("a node of the GPU at " + gpu.address);
    for (const std::string& node : gpu.nodes)
      if (!host.exists(node)) missing.push_back(node);
  }
  if (!missing.empty() && !findings.on_live_machine(host, "rocm-cdi.devices")) return findings;
  findings.expect("rocm-cdi.devices", missing.empty(),
                  spec.text("output") + " names the nodes of " + std::to_string(found.size()) + " GPUs",
                  missing.empty() ? "" : missing.front() + " is missing", "see `dmesg | grep amdgpu`");
  return findings;
}

}  // namespace rocm
