// SPDX-License-Identifier: Apache-2.0
#include "mig/device/clients.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include <slipway/regular_file.hpp>
#include <slipway/root_dir.hpp>
#include <slipway/service/unit_state.hpp>
#include <slipway/text.hpp>

#include "base/write/new_file.hpp"
#include "nvidia/config/config_map.hpp"
#include "nvidia/process/process.hpp"

namespace slipway::mig {
namespace {

using nvidia::config::Node;

constexpr const char* kRecord = "/run/slipway/mig-clients.json";
constexpr std::size_t kLongestRecord = 65536;
constexpr std::chrono::seconds kAskLimit{10};
constexpr std::chrono::seconds kStopLimit{120};

bool is_service(const std::string& name) {
  const auto is_of_a_name = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("-_.@:\\").find(c) != std::string_view::npos;
  };
  return name.size() > std::string_view(".service").size() && name.ends_with(".service") && !name.starts_with('-') &&
         std::ranges::all_of(name, is_of_a_name);
}

/// A unit that does not exist is "inactive".
bool is_running(const Host& host, const std::string& unit) {
  const auto state = unit_state(host, unit, kAskLimit);
  return state && (state->running() || state->active == "activating");
}

Status told(const Host& host, std::vector<std::string> words, std::chrono::seconds limit) {
  words.insert(words.begin(), "systemctl");
  const std::string unit = words.back();
  const std::string line = joined(words, " ");
  SLIPWAY_TRY(ran, host.run(words, limit));
  if (ran.exit_status == 0) return {};
  return Error{.code = ErrorCode::busy,
               .what = line + " failed: " + nvidia::cleaned(trimmed(ran.errors), 256),
               .where = unit,
               .next = "see `systemctl status " + unit + "`"};
}

std::vector<std::string> left(const Host& host) {
  std::vector<std::string> units;
  const auto root = RootDir::open(host.root_folder());
  if (!root) return units;
  const Json list = parse_foreign(read_regular(*root, kRecord, kLongestRecord).value_or(""));
  if (list.is_array())
    for (const Json& each : list)
      if (each.is_string() && is_service(each.get<std::string>())) units.push_back(each.get<std::string>());
  return units;
}

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

Result<StoppedClients> StoppedClients::stop(const Host& host, const std::vector<std::string>& units) {
  StoppedClients stopped(host);
  if (!host.live()) return stopped;
  stopped.units_ = left(host);
  for (const std::string& unit : units) {
    if (std::ranges::count(stopped.units_, unit) != 0 || !is_running(host, unit)) continue;
    stopped.units_.push_back(unit);
    SLIPWAY_CHECK(stopped.write());
    SLIPWAY_CHECK(told(host, {"stop", unit}, kStopLimit));
  }
  return stopped;
}

StoppedClients::StoppedClients(StoppedClients&& other) noexcept
    : host_(other.host_), units_(std::exchange(other.units_, {})) {}

StoppedClients::~StoppedClients() { (void)start().ok(); }

Status StoppedClients::write() const {
  SLIPWAY_TRY(root, RootDir::open(host_->root_folder()));
  return base::replace_file(root, kRecord, canonical(Json(units_)));
}

Status StoppedClients::start() {
  if (units_.empty()) return {};
  Status all;
  const std::vector<std::string> units = std::exchange(units_, {});
  for (auto unit = units.rbegin(); unit != units.rend(); ++unit)
    if (Status started = told(*host_, {"--no-block", "start", *unit}, kAskLimit); !started && all)
      all = std::move(started);
  const auto root = RootDir::open(host_->root_folder());
  const auto place = root ? root->parent_of(kRecord) : root.error();
  if (place) (void)::unlinkat(place->first.get(), place->second.c_str(), 0);
  return all;
}

bool StoppedClients::any_left(const Host& host) { return host.live() && !left(host).empty(); }

}  // namespace slipway::mig
