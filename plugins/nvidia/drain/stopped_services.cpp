// SPDX-License-Identifier: Apache-2.0
#include "nvidia/drain/stopped_services.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include <slipway/json.hpp>
#include <slipway/regular_file.hpp>
#include <slipway/root_dir.hpp>
#include <slipway/service/unit_state.hpp>
#include <slipway/text.hpp>

#include "base/write/new_file.hpp"
#include "nvidia/process/process.hpp"

namespace slipway::nvidia::drain {
namespace {

constexpr std::size_t kLongestList = 65536;
constexpr std::chrono::seconds kAskLimit{10};
constexpr std::chrono::seconds kStopLimit{120};

/// A unit that does not exist is "inactive".
bool unit_is_running(const Host& host, const std::string& unit) {
  const auto state = unit_state(host, unit, kAskLimit);
  return state && (state->running() || state->active == "activating");
}

Status tell_systemd(const Host& host, std::vector<std::string> words, std::chrono::seconds limit) {
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

std::vector<std::string> left_stopped(const Host& host, const std::string& record) {
  std::vector<std::string> units;
  const auto root = RootDir::open(host.root_folder());
  if (!root) return units;
  const Json list = parse_foreign(read_regular(*root, record, kLongestList).value_or(""));
  if (list.is_array())
    for (const Json& each : list)
      if (each.is_string() && is_service(each.get<std::string>())) units.push_back(each.get<std::string>());
  return units;
}

}  // namespace

bool is_service(std::string_view name) {
  const auto is_of_a_name = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("-_.@:\\").find(c) != std::string_view::npos;
  };
  return name.size() > std::string_view(".service").size() && name.ends_with(".service") && !name.starts_with('-') &&
         std::ranges::all_of(name, is_of_a_name);
}

Result<StoppedServices> StoppedServices::stop(const Host& host, std::string record,
                                              const std::vector<std::string>& units) {
  StoppedServices stopped(host, std::move(record));
  if (!host.live()) return stopped;
  stopped.units_ = left_stopped(host, stopped.record_);
  for (const std::string& unit : units) {
    if (std::ranges::count(stopped.units_, unit) != 0 || !unit_is_running(host, unit)) continue;
    stopped.units_.push_back(unit);
    SLIPWAY_CHECK(stopped.write());
    SLIPWAY_CHECK(tell_systemd(host, {"stop", unit}, kStopLimit));
  }
  return stopped;
}

StoppedServices::StoppedServices(StoppedServices&& other) noexcept
    : host_(other.host_), record_(std::move(other.record_)), units_(std::exchange(other.units_, {})) {}

StoppedServices::~StoppedServices() { (void)start().ok(); }

Status StoppedServices::write() const {
  SLIPWAY_TRY(root, RootDir::open(host_->root_folder()));
  return base::replace_file(root, record_, canonical(Json(units_)));
}

Status StoppedServices::start() {
  if (units_.empty()) return {};
  Status all;
  const std::vector<std::string> units = std::exchange(units_, {});
  for (auto unit = units.rbegin(); unit != units.rend(); ++unit)
    if (Status started = tell_systemd(*host_, {"--no-block", "start", *unit}, kAskLimit); !started && all)
      all = std::move(started);
  const auto root = RootDir::open(host_->root_folder());
  const auto place = root ? root->parent_of(record_) : root.error();
  if (place) (void)::unlinkat(place->first.get(), place->second.c_str(), 0);
  return all;
}

bool StoppedServices::any_left(const Host& host, const std::string& record) {
  return host.live() && !left_stopped(host, record).empty();
}

}  // namespace slipway::nvidia::drain
