// SPDX-License-Identifier: Apache-2.0
#include "toolkit/containers/scope.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include <slipway/text.hpp>

namespace slipway::toolkit {
namespace {

constexpr std::size_t kMaxUnitBytes = std::size_t{1} << 20U;
constexpr std::array kDropIns{"/run/systemd/transient/", "/run/systemd/system.control/", "/run/systemd/system/",
                              "/etc/systemd/system.control/"};

/// Adds the settings of one file. An empty assignment clears earlier ones.
void read_unit(std::string_view text, ScopeDevices& devices) {
  for (const std::string_view line : lines_of<std::string_view>(text)) {
    const auto equals = line.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view key = trimmed(line.substr(0, equals));
    const std::string_view value = trimmed(line.substr(equals + 1));
    if (key == "DevicePolicy") {
      devices.known = true;
      devices.all = value == "auto";
    }
    if (key != "DeviceAllow") continue;
    devices.known = true;
    const auto words = split<std::string_view>(value, ' ');
    if (value.empty())
      devices.allowed.clear();
    else if (words.size() == 1 ||
             (words[1].find('r') != std::string_view::npos && words[1].find('w') != std::string_view::npos))
      devices.allowed.emplace_back(words[0]);
  }
}

}  // namespace

std::string scope_of(std::string_view cgroup) {
  for (const std::string_view name : split<std::string_view>(cgroup, '/')) {
    if (!name.ends_with(".scope")) continue;
    // Any other character is not allowed in a unit's name, and would not be safe to type.
    const auto is_of_unit = [](char each) {
      return std::isalnum(static_cast<unsigned char>(each)) != 0 ||
             std::string_view(":-_.\\@").find(each) != std::string_view::npos;
    };
    return !name.starts_with('-') && std::ranges::all_of(name, is_of_unit) ? std::string(name) : std::string();
  }
  return {};
}

bool ScopeDevices::allow(DeviceNumber number, const Host& host) const {
  if (all && allowed.empty()) return true;  // the policy "auto" allows everything until a device is listed
  const std::string exact = "/dev/char/" + to_text(number);
  return std::ranges::any_of(allowed, [&](const std::string& each) {
    if (each == exact || each == "char-*" || each == "char-" + std::to_string(number.major)) return true;
    if (each.starts_with("char-")) return host.character_major(each.substr(5)) == number.major;
    const auto node = each.starts_with("/dev/") ? host.info(each) : Result<FileInfo>(Error{});
    return node && node->type == FileInfo::Type::character_device && node->device_major == number.major &&
           node->device_minor == number.minor;
  });
}

ScopeDevices read_scope(const Host& host, const std::string& scope) {
  ScopeDevices devices;
  read_unit(host.read("/run/systemd/transient/" + scope, kMaxUnitBytes).value_or(""), devices);
  for (const char* folder : kDropIns) {
    const std::string drop_ins = folder + scope + ".d";
    for (const std::string& name : host.list(drop_ins).value_or(std::vector<std::string>()))
      if (name.ends_with(".conf")) read_unit(host.read(drop_ins + "/" + name, kMaxUnitBytes).value_or(""), devices);
  }
  return devices;
}

}  // namespace slipway::toolkit
