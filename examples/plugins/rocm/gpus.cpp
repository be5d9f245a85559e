// SPDX-License-Identifier: Apache-2.0
#include "gpus.hpp"

#include <cstdio>
#include <cstdlib>
#include <map>

#include <slipway/text.hpp>

using namespace slipway;

namespace rocm {
namespace {

constexpr std::uint16_t kAmd = 0x1002;
constexpr const char* kTopology = "/sys/class/kfd/kfd/topology/nodes";

using Properties = std::map<std::string, std::uint64_t>;  // of a node in KFD's topology, a line each

Properties properties_of(const Host& host, const std::string& node) {
  Properties properties;
  const std::string text = host.attribute(std::string(kTopology) + "/" + node + "/properties");
  for (const std::string& line : lines_of(text))
    if (const auto words = split_list(line, ' '); words.size() == 2)
      properties[words[0]] = std::strtoull(words[1].c_str(), nullptr, 10);
  return properties;
}

/// Returns the address of a node from its domain, bus, device and function, which KFD has in two numbers.
std::string address_of(Properties& properties) {
  const std::uint64_t location = properties["location_id"];
  char text[32];
  std::snprintf(text, sizeof text, "%04x:%02x:%02x.%x", static_cast<unsigned>(properties["domain"]),
                static_cast<unsigned>(location >> 8U & 0xffU), static_cast<unsigned>(location >> 3U & 0x1fU),
                static_cast<unsigned>(location & 7U));
  return text;
}

/// Returns the nodes by address. A partitioned GPU has several nodes at one address; the first is that of the whole
/// GPU.
std::map<std::string, Properties> topology(const Host& host) {
  std::map<std::string, Properties> nodes;
  for (const std::string& name : host.list(kTopology).value_or({}))
    if (Properties properties = properties_of(host, name); properties["simd_count"] > 0)
      nodes.emplace(address_of(properties), properties);
  return nodes;
}

/// Returns the name of the graphics core, from the first numbers of its version (90402 is 9.4.2).
std::string family_of(std::uint64_t gfx_target_version) {
  const std::uint64_t generation = gfx_target_version / 10000;
  return generation == 9 ? "AI" : generation == 10 ? "NV" : "";
}

std::string hex(std::uint16_t number) {
  char text[8];
  std::snprintf(text, sizeof text, "%04x", number);
  return text;
}

}  // namespace

std::vector<PciDevice> functions(const Host& host) {
  std::vector<PciDevice> found;
  for (const PciDevice& device : host.pci_devices({.vendor = kAmd, .base_class = {}}))
    if (const unsigned base = device.device_class >> 16U; base == 0x03 || base == 0x12) found.push_back(device);
  return found;
}

std::vector<Gpu> gpus(const Host& host) {
  auto nodes = topology(host);
  std::vector<Gpu> found;
  for (const PciDevice& device : functions(host)) {
    const std::string folder = "/sys/bus/pci/devices/" + device.address;
    Gpu gpu{.address = device.address,
            .device_id = hex(device.device),
            .product = host.attribute(folder + "/product_name")};
    for (const std::string& name : host.list(folder + "/drm").value_or({}))
      if (name.starts_with("card") || name.starts_with("renderD")) gpu.nodes.push_back("/dev/dri/" + name);
    gpu.vram_gib = std::strtoull(host.attribute(folder + "/mem_info_vram_total").c_str(), nullptr, 10) >> 30U;
    Properties& properties = nodes[device.address];
    gpu.simd_count = static_cast<unsigned>(properties["simd_count"]);
    if (const auto per_cu = static_cast<unsigned>(properties["simd_per_cu"]); per_cu != 0)
      gpu.cu_count = gpu.simd_count / per_cu;
    gpu.family = family_of(properties["gfx_target_version"]);
    found.push_back(std::move(gpu));
  }
  return found;
}

Json to_json(const Gpu& gpu) {
  return {{"address", gpu.address},   {"device_id", gpu.device_id}, {"product", gpu.product},
          {"nodes", gpu.nodes},       {"vram_gib", gpu.vram_gib},   {"simd_count", gpu.simd_count},
          {"cu_count", gpu.cu_count}, {"family", gpu.family}};
}

Gpu gpu_from_json(const Json& value) {
  return {.address = value.at("address"),
          .device_id = value.at("device_id"),
          .product = value.at("product"),
          .nodes = value.at("nodes"),
          .vram_gib = value.at("vram_gib"),
          .simd_count = value.at("simd_count"),
          .cu_count = value.at("cu_count"),
          .family = value.at("family")};
}

}  // namespace rocm
