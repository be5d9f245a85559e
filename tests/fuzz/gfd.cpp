// SPDX-License-Identifier: Apache-2.0
// tests/fuzz/gfd.cpp - the sources of label values: names of GPUs and machines, vGPU records, the device plugin's
// config.
#include <cstdint>

#include "gfd/labels/config.hpp"
#include "gfd/labels/label_value.hpp"
#include "gfd/labels/vgpu.hpp"
#include "tests/fuzz/fuzz_check.hpp"

namespace {

using namespace slipway;

void check_names(std::string_view text) {
  const std::string clean = gfd::sanitised(text);
  fuzz::demand(gfd::sanitised(clean) == clean, "what is clean stays as it is");
  fuzz::demand(gfd::valid_value(gfd::fitted(clean, "")), "a fitted value is valid");
  gfd::Labels labels{{"nvidia.com/gpu.product", std::string(text)}, {std::string(text), "x"}};
  gfd::drop_invalid(labels);
  const std::string lines = gfd::to_lines(labels);
  for (const auto& [key, value] : labels)
    fuzz::demand(gfd::valid_key(key) && gfd::valid_value(value), "what is kept is valid");
  fuzz::demand(lines.find('\0') == std::string::npos, "no line holds a NUL");
}

gfd::ConfigSpace space_of(std::string bytes) {
  return [bytes = std::move(bytes)](std::uint32_t at, std::uint32_t size_bytes) {
    return Result<std::string>(at < bytes.size() ? bytes.substr(at, size_bytes) : std::string());
  };
}

void check_vgpu(std::string_view text) {
  std::string space(256, '\0');
  space[0x06] = 0x10;
  space[0x34] = 0x40;
  space.replace(0x40, std::min<std::size_t>(text.size(), 0xc0), text.substr(0, 0xc0));
  fuzz::demand_presentable(gfd::read_vgpu_record(space_of(space)));
  fuzz::demand_presentable(gfd::read_vgpu_record(space_of(std::string(text))));
}

void check_config(std::string_view text) {
  const auto file = nvidia::config::node_from_yaml(std::string(text), "config.yaml");
  fuzz::demand_presentable(file);
  if (!file) return;
  gfd::Config config;
  const Status taken = gfd::take_upstream_config(*file, config);
  if (!taken) return fuzz::demand_presentable(taken.error());
  for (const auto& resource : config.sharing.resources)
    fuzz::demand(resource.replicas >= 2, "a shared resource has replicas");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_names(text);
  check_vgpu(text);
  check_config(text);
  return 0;
}
