// SPDX-License-Identifier: Apache-2.0
#include "dcgm/takeover/other_exporters.hpp"

#include <algorithm>
#include <array>

namespace slipway::dcgm {
namespace {

constexpr std::size_t kMostCommand = 200;
constexpr std::size_t kMostProcesses = 65536;

constexpr std::array kExporterUnits{"dcgm-exporter.service", "nvidia-dcgm-exporter.service",
                                    "snap.dcgm.dcgm-exporter.service"};
constexpr std::array kEngineUnits{"nvidia-dcgm.service", "dcgm.service", "nv-hostengine.service",
                                  "snap.dcgm.nv-hostengine.service"};
constexpr std::array kUnitFolders{"/etc/systemd/system/", "/run/systemd/system/", "/usr/local/lib/systemd/system/",
                                  "/usr/lib/systemd/system/", "/lib/systemd/system/"};

/// An alias is a link to the unit's file, not a unit of its own.
bool is_installed(const Host& host, const std::string& unit) {
  return std::ranges::any_of(kUnitFolders, [&](const char* folder) {
    const auto info = host.info(folder + unit);
    return info && info->type == FileInfo::Type::regular;
  });
}

std::string command_of(const Host& host, unsigned pid) {
  std::string words = host.read("/proc/" + std::to_string(pid) + "/cmdline", std::size_t{1} << 20U).value_or("");
  while (words.ends_with('\0')) words.pop_back();
  std::ranges::replace(words, '\0', ' ');
  return nvidia::cleaned(words, kMostCommand);
}

}  // namespace

std::string to_text(const OtherProcess& other) {
  return to_text(other.process) + (other.command.empty() ? "" : ": " + other.command);
}

OtherProcess read_other(const Host& host, unsigned pid) {
  return {nvidia::read_process(host, pid), command_of(host, pid)};
}

std::vector<unsigned> process_numbers(const Host& host) {
  std::vector<unsigned> numbers;
  const auto names = host.list("/proc");
  if (!names) return numbers;
  for (const std::string& name : *names)
    if (numbers.size() < kMostProcesses && name.size() < 10 &&
        name.find_first_not_of("0123456789") == std::string::npos)
      numbers.push_back(static_cast<unsigned>(std::stoul(name)));
  std::ranges::sort(numbers);
  return numbers;
}

std::vector<std::string> installed_units(const Host& host, Role role) {
  std::vector<std::string> units;
  const auto take = [&](const auto& names) {
    for (const char* name : names)
      if (is_installed(host, name)) units.emplace_back(name);
  };
  role == Role::exporter ? take(kExporterUnits) : take(kEngineUnits);
  return units;
}

std::string unit_at_work(const Host& host, Role role) {
  for (const std::string& unit : installed_units(host, role))
    for (const char* folder : {"/sys/fs/cgroup/system.slice/", "/sys/fs/cgroup/systemd/system.slice/"})
      if (!host.attribute(folder + unit + "/cgroup.procs").empty()) return unit;
  return {};
}

std::vector<OtherProcess> running(const Host& host, Role role) {
  const std::string_view name = role == Role::exporter ? "dcgm-exporter" : "nv-hostengine";
  std::vector<OtherProcess> found;
  for (const unsigned pid : process_numbers(host))
    if (host.attribute("/proc/" + std::to_string(pid) + "/comm") == name) found.push_back(read_other(host, pid));
  return found;
}

}  // namespace slipway::dcgm
