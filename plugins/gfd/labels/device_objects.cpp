// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "gfd/labels/label_value.hpp"
#include "gfd/labels/labels.hpp"

namespace slipway::gfd {
namespace {

/// Object names are DNS subdomains: lower-case letters, digits, '-' and '.'.
std::string object_name(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    const bool allowed = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
    if (!allowed) c = '-';
  }
  return text;
}

/// Quotes as in JSON, which is YAML too, so that a string remains a string.
std::string quoted(const Json& value) { return canonical(value); }

}  // namespace

std::vector<Json> device_objects(const Snapshot& snapshot, const std::string& node) {
  std::vector<Json> objects;
  for (const Gpu& gpu : snapshot.gpus) {
    const std::string product = fitted(sanitised(gpu.name), "");
    Json object{{"apiVersion", "gpu.nvidia.com/v1"}, {"kind", "Device"}};
    object["metadata"] = {{"name", object_name(fmt::format("gpu-{}-node-{}", gpu.index, node))},
                          {"labels", {{"nvidia.com/gpu.product", product}, {"nvidia.com/gpu.uuid", gpu.uuid}}}};
    object["spec"] = {{"node", node}, {"index", gpu.index}, {"product", product}};
    if (gpu.memory_mib) object["spec"]["memory"] = *gpu.memory_mib;
    objects.push_back(std::move(object));
  }
  return objects;
}

std::string to_yaml(const std::vector<Json>& objects) {
  std::string text;
  for (const Json& object : objects) {
    text += "---\n";
    for (const char* key : {"apiVersion", "kind"}) text += fmt::format("{}: {}\n", key, object[key].get<std::string>());
    text += fmt::format("metadata:\n  name: {}\n  labels:\n", quoted(object["metadata"]["name"]));
    for (const auto& [key, value] : object["metadata"]["labels"].items())
      text += fmt::format("    {}: {}\n", key, quoted(value));
    text += "spec:\n";
    for (const char* key : {"node", "index", "product", "memory"})
      if (object["spec"].contains(key)) text += fmt::format("  {}: {}\n", key, quoted(object["spec"][key]));
  }
  return text;
}

}  // namespace slipway::gfd
