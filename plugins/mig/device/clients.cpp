// SPDX-License-Identifier: Apache-2.0
#include "mig/device/clients.hpp"

#include <algorithm>

#include "nvidia/config/config_map.hpp"

namespace slipway::mig {
namespace {

using nvidia::config::Node;
using nvidia::drain::is_service;

constexpr const char* kRecord = "/run/slipway/mig-clients.json";

}  // namespace

Result<std::vector<std::string>> clients_from_yaml(const std::string& text, const std::string& file) {
  SLIPWAY_TRY(config, nvidia::config::only_config(text, file));
  const Node& document = config.node;
  const char* const form = "write `version: v1` and `systemd-services: [nvsm.service]`";
  if (!document.is_map()) return document.wrong("this is not a file of GPU clients", form);
  std::vector<std::string> units;
  for (std::size_t i = 0; i < document.items.size(); ++i) {
    const Node& node = document.items[i];
    if (document.keys[i] == "version") {
      if (!node.is_scalar() || node.text != "v1") return node.wrong("unknown version", "the version is v1");
      continue;
    }
    if (document.keys[i] != "systemd-services") return node.wrong("unexpected field '" + document.keys[i] + "'", form);
    SLIPWAY_TRY(names, node.is_null() ? Result<std::vector<std::string>>(std::vector<std::string>()) : node.strings());
    for (const std::string& name : names) {
      if (!is_service(name))
        return node.wrong("'" + name + "' is not a service of systemd", "write for example nvsm.service");
      if (std::ranges::count(units, name) == 0) units.push_back(name);
    }
  }
  return units;
}

Result<nvidia::drain::StoppedServices> StoppedClients::stop(const Host& host, const std::vector<std::string>& units) {
  return nvidia::drain::StoppedServices::stop(host, kRecord, units);
}

bool StoppedClients::any_left(const Host& host) { return nvidia::drain::StoppedServices::any_left(host, kRecord); }

}  // namespace slipway::mig
