// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/cdi/function_devices.cpp - devices for one function each: GPUDirect Storage, RDMA, GDRCopy, NVSwitch,
// IMEX channels, and management of the whole driver.
#include <algorithm>
#include <charconv>

#include "toolkit/cdi/driver_files.hpp"
#include "toolkit/cdi/generate.hpp"
#include "toolkit/cdi/nodes.hpp"

namespace slipway::toolkit {
namespace {

using nvidia::cdi::Device;
using nvidia::cdi::Edits;
using nvidia::cdi::Spec;

constexpr const char* kChannels = "/dev/nvidia-caps-imex-channels";
constexpr unsigned kMaxChannel = 1048575;

struct Pattern {
  const char* folder;
  const char* name;
};

std::vector<Pattern> patterns_of(Mode mode) {
  switch (mode) {
    case Mode::gds:
      return {{"/dev", "nvidia-fs*"}};
    case Mode::mofed:
      return {{"/dev/infiniband", "uverbs*"}, {"/dev/infiniband", "rdma_cm"}};
    case Mode::gdrcopy:
      return {{"/dev", "gdrdrv"}};
    case Mode::nvswitch:
      return {{"/dev", "nvidia-nvswitchctl"}, {"/dev", "nvidia-nvswitch*"}};
    case Mode::management:
      return {{"/dev", "nvidia*"}, {"/dev/nvidia-caps", "nvidia-cap*"}, {kChannels, "channel*"}};
    case Mode::nvml:
    case Mode::imex:
      break;
  }
  return {};
}

/// True for nodes of functions that have their own specs.
bool belongs_elsewhere(const std::string& path) {
  return std::ranges::any_of(std::vector<std::string>{"/dev/nvidia-fs", "/dev/nvidia-nvswitch", "/dev/nvidia-nvlink"},
                             [&](const std::string& start) { return path.starts_with(start); });
}

Error no_nodes(Mode mode, const std::string& where) {
  return Error{ErrorCode::not_found,
               "there is no device node for " + std::string(to_string(mode)) + " on this machine",
               where,
               "load the kernel module that it belongs to, or leave this mode out",
               {}};
}

void add_storage_files(const Roots& roots, Edits& edits) {
  for (const char* path : {"/run/udev", "/etc/cufile.json"}) {
    const auto real = roots.driver.resolve(path);
    if (real) edits.mounts.push_back(file_mount(roots.host_path(*real), path));
  }
}

Status add_channel(const Roots& roots, const NodeWriter& nodes, const std::string& number, Spec& spec) {
  Device device{number, {}, {}};
  SLIPWAY_CHECK(nodes.add(std::string(kChannels) + "/channel" + number, "IMEX channel " + number, device.edits));
  device.edits.device_nodes.back().host_path = roots.dev_root + device.edits.device_nodes.back().path;
  spec.devices.push_back(std::move(device));
  return {};
}

Result<std::vector<std::string>> channels_wanted(const GenerateOptions& options, const NodeWriter& nodes) {
  std::vector<std::string> numbers;
  const bool all = options.device_ids.empty() || std::ranges::count(options.device_ids, "all") != 0;
  if (all)
    for (const std::string& path : nodes.matching(kChannels, "channel[0-9]*"))
      numbers.push_back(file_name(path).substr(std::string_view("channel").size()));
  for (const std::string& id : options.device_ids) {
    if (id == "all") continue;
    const std::string number = id.starts_with("channel") ? id.substr(std::string_view("channel").size()) : id;
    unsigned value = 0;
    const auto [end, problem] = std::from_chars(number.data(), number.data() + number.size(), value);
    if (problem != std::errc{} || end != number.data() + number.size() || value > kMaxChannel)
      return Error{ErrorCode::invalid,
                   "'" + id + "' is not an IMEX channel",
                   "--device-id",
                   "write a number from 0 to 1048575, channelN or all",
                   {}};
    numbers.push_back(std::to_string(value));
  }
  if (numbers.empty()) return no_nodes(Mode::imex, kChannels);
  return numbers;
}

}  // namespace

Status add_function_device(const GenerateOptions& options, const Roots& roots, Spec& spec) {
  const NodeWriter nodes(roots, options.additional_gids);
  if (options.mode == Mode::imex) {
    SLIPWAY_TRY(numbers, channels_wanted(options, nodes));
    for (const std::string& number : numbers) SLIPWAY_CHECK(add_channel(roots, nodes, number, spec));
    return {};
  }
  Device device{"all", {}, {}};
  std::vector<std::string> paths;
  for (const Pattern& pattern : patterns_of(options.mode))
    for (const std::string& path : nodes.matching(pattern.folder, pattern.name))
      if (std::ranges::count(paths, path) == 0 && (options.mode != Mode::management || !belongs_elsewhere(path)))
        paths.push_back(path);
  if (paths.empty()) return no_nodes(options.mode, patterns_of(options.mode).front().folder);
  for (const std::string& path : paths) SLIPWAY_CHECK(nodes.add(path, "this machine", device.edits));
  if (options.mode == Mode::gds) add_storage_files(roots, device.edits);
  spec.devices.push_back(std::move(device));
  return {};
}

}  // namespace slipway::toolkit
