// SPDX-License-Identifier: Apache-2.0
#include "nvidia/drain/waiting.hpp"

#include <ctime>

#include <fmt/format.h>
#include <unistd.h>

#include <slipway/json.hpp>
#include <slipway/regular_file.hpp>
#include <slipway/root_dir.hpp>

#include "base/write/new_file.hpp"
#include "nvidia/process/process.hpp"

namespace slipway::nvidia::drain {
namespace {

constexpr std::size_t kLongestRecord = 65536;

std::string file_of(const std::string& name) { return "/run/slipway/drain/" + name + ".json"; }

std::int64_t number_at(const Json& value, const char* key) {
  const auto found = value.find(key);
  return found != value.end() && found->is_number_integer() ? found->get<std::int64_t>() : -1;
}

}  // namespace

std::chrono::seconds now_since_boot() {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  return std::chrono::seconds(now.tv_sec);
}

std::optional<Waiting> read_waiting(const Host& host, const std::string& name, const std::string& change) {
  if (host.borrows_root()) return std::nullopt;
  const auto root = RootDir::open(host.root_folder());
  if (!root) return std::nullopt;
  const Json left = parse_foreign(read_regular(*root, file_of(name), kLongestRecord).value_or(""));
  if (!left.is_object() || left.value("change", Json()) != change) return std::nullopt;
  const std::chrono::seconds begun(number_at(left, "boottime"));
  const Json since = left.value("since", Json());
  if (begun.count() < 0 || begun > now_since_boot() || !since.is_string()) return std::nullopt;
  return Waiting{begun, cleaned(since.get<std::string>())};
}

Result<Waiting> begin_waiting(const Host& host, const std::string& name, const std::string& change) {
  if (const auto begun = read_waiting(host, name, change)) return *begun;
  const Waiting waiting{now_since_boot(), utc_text(std::time(nullptr))};
  if (host.borrows_root()) return waiting;  // a simulated machine's GPUs are not those recorded in this root's /run
  const Json json{{"change", change}, {"boottime", waiting.begun.count()}, {"since", waiting.since}};
  SLIPWAY_TRY(root, RootDir::open(host.root_folder()));
  SLIPWAY_CHECK(base::replace_file(root, file_of(name), canonical(json)));
  return waiting;
}

void end_waiting(const Host& host, const std::string& name) {
  if (host.borrows_root()) return;
  const auto root = RootDir::open(host.root_folder());
  const auto place = root ? root->parent_of(file_of(name)) : root.error();
  if (place) (void)::unlinkat(place->first.get(), place->second.c_str(), 0);
}

}  // namespace slipway::nvidia::drain
