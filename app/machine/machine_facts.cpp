// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <tuple>

#include <sys/utsname.h>

#include <slipway/kernels/kernels.hpp>
#include <slipway/text.hpp>

#include "app/machine/facts.hpp"
#include "core/engine/devices.hpp"

namespace slipway::core {
namespace {

constexpr std::size_t kLargestDatabase = std::size_t{8} << 20U;

std::string hex(unsigned number) {
  char text[9];
  std::snprintf(text, sizeof text, "%04x", number);
  return text;
}

std::string name_of(const Host& host) {
  const std::string name = host.attribute("/etc/hostname");
  if (!host.live()) return name;
  utsname running{};
  return ::uname(&running) == 0 ? running.nodename : name;
}

bool asks_for_devices(const Session& session) {
  return std::ranges::any_of(session.plugins().component_to_path, [&](const auto& each) {
    return !session.plugins().manifest(each.first)->service_device.empty();
  });
}

std::string database_of(const Host& host) {
  for (const char* path : {"/usr/share/misc/pci.ids", "/usr/share/hwdata/pci.ids"})
    if (auto text = host.read(path, kLargestDatabase)) return std::move(*text);
  return {};
}

}  // namespace

Json host_facts(const Session& session) {
  const Host& host = session.host();
  const bool simulated = session.simulated() != nullptr;
  Json facts{{"kind", simulated     ? "simulated"
                      : host.live() ? "machine"
                                    : "image"},
             {"name", name_of(host)},
             {"os", host.os_release("PRETTY_NAME")},
             {"root", session.options().root}};
  if (simulated) facts["sim"] = session.options().sim;
  return facts;
}

Json kernel_facts(const Session& session) {
  const auto release = session.host().kernel_release();
  return {{"release", release.ok() ? *release : ""},
          {"installed", session.host().installed_kernels()},
          {"next", next_boot(session.host()).release}};
}

std::string pci_name(const std::string& database, const std::string& vendor, const std::string& device) {
  const std::string lines = "\n" + database;
  std::size_t at = lines.find("\n" + vendor + "  ");
  if (at == std::string::npos) return {};
  const std::string wanted = "\t" + device + "  ";
  while ((at = lines.find('\n', at + 1)) != std::string::npos) {
    const std::string_view line = std::string_view(lines).substr(at + 1, lines.find('\n', at + 1) - at - 1);
    if (line.starts_with(wanted)) return std::string(trimmed(line.substr(wanted.size())));
    if (!line.empty() && line.front() != '\t' && line.front() != '#') return {};  // the next vendor
  }
  return {};
}

Json device_facts(const Session& session) {
  const Host& host = session.host();
  if (!host.has_kernel_view() || !asks_for_devices(session)) return {};
  std::map<std::tuple<std::string, std::string, std::string>, int> counts;
  for (const PciDevice& device : plugin_devices(session))
    ++counts[{pci_id(device), hex(device.device_class >> 8U), device.driver}];
  const std::string database = counts.empty() ? "" : database_of(host);
  Json all = Json::array();
  for (const auto& [model, count] : counts) {
    const auto& [id, device_class, driver] = model;
    all.push_back({{"pci", id},
                   {"name", pci_name(database, id.substr(0, 4), id.substr(5))},
                   {"class", device_class},
                   {"count", count},
                   {"driver", driver}});
  }
  return all;
}

}  // namespace slipway::core
