// SPDX-License-Identifier: Apache-2.0
#include "nvidia/health/shared_health.hpp"

#include <algorithm>
#include <ctime>
#include <thread>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <slipway/regular_file.hpp>
#include <slipway/text.hpp>

#include "base/write/lock_file.hpp"
#include "base/write/new_file.hpp"
#include "base/write/paused_commands.hpp"
#include "nvidia/health/resets.hpp"

namespace slipway::nvidia::health {
namespace {

constexpr std::size_t kMostBytes = std::size_t{4} << 20U;
constexpr std::size_t kMostServices = 8;
constexpr std::size_t kMostGpus = 256;
constexpr std::size_t kMostFaults = 64;  // of one GPU
constexpr std::size_t kMostEnded = 16;
constexpr std::size_t kLongestText = 1024;

std::int64_t milliseconds_of(Moment moment) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(moment.time_since_epoch()).count();
}
Moment moment_of(const Json& json, const char* key) {
  const auto found = json.find(key);
  const bool is_number = found != json.end() && found->is_number_integer();
  // A time in the future cannot be right, and would never end. Compares milliseconds: the file may have any number of
  // them, and nanoseconds could overflow.
  const auto now = std::chrono::steady_clock::now();
  const auto latest = std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count();
  const std::int64_t told = is_number ? found->get<std::int64_t>() : 0;
  return told < latest ? Moment(std::chrono::milliseconds(std::max<std::int64_t>(told, 0))) : now;
}
std::string text_of(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>().substr(0, kLongestText) : std::string();
}
std::optional<unsigned> number_of(const Json& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_number_unsigned() || found->get<std::uint64_t>() > 0xffffffffU)
    return std::nullopt;
  return found->get<unsigned>();
}
/// Reads seconds since 1970, up to the year 9999.
std::int64_t seconds_of(const Json& json, const char* key) {
  constexpr std::int64_t kLatest = 253402300799;
  const auto found = json.find(key);
  const bool is_number = found != json.end() && found->is_number_integer();
  return is_number ? std::clamp<std::int64_t>(found->get<std::int64_t>(), 0, kLatest) : 0;
}
template <class T>
T word_of(const Json& json, const char* key, std::initializer_list<T> words, T otherwise) {
  const std::string text = text_of(json, key);
  const auto found = std::ranges::find_if(words, [&](T word) { return to_string(word) == text; });
  return found == words.end() ? otherwise : *found;
}
/// Visits the entries of a list that are objects, up to a limit.
template <class Take>
void each_of(const Json& json, const char* key, std::size_t most, const Take& take) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_array()) return;
  for (const Json& entry : *found) {
    if (most == 0) return;
    if (entry.is_object()) take(entry);
    --most;
  }
}

Json to_json(const Fault& fault) {
  Json json{{"code", fault.code},
            {"severity", to_string(fault.severity)},
            {"scope", to_string(fault.scope)},
            {"text", fault.text.substr(0, kLongestText)},
            {"remedy", fault.remedy.substr(0, kLongestText)},
            {"lastMs", milliseconds_of(fault.last)},
            {"seenAt", fault.seen_at}};
  if (fault.instance) json["gpuInstance"] = *fault.instance;
  if (fault.xid != 0) json["xid"] = fault.xid;
  if (fault.needs_reset) json["needsReset"] = true;
  if (fault.ends_at != 0) json["endsAt"] = fault.ends_at;
  return json;
}

Fault fault_from_json(const Json& json) {
  Fault fault{.code = text_of(json, "code"),
              .severity = word_of(json, "severity",
                                  {Severity::information, Severity::application, Severity::degraded, Severity::fatal},
                                  Severity::degraded),
              .scope = word_of(json, "scope", {Scope::job, Scope::mig, Scope::gpu, Scope::node}, Scope::gpu),
              .text = text_of(json, "text"),
              .remedy = text_of(json, "remedy"),
              .instance = number_of(json, "gpuInstance"),
              .xid = number_of(json, "xid").value_or(0),
              .needs_reset = json.contains("needsReset"),
              .last = moment_of(json, "lastMs")};
  fault.seen_at = seconds_of(json, "seenAt");
  fault.ends_at = seconds_of(json, "endsAt");
  return fault;
}

/// Reads the file if root or this user has written it in this boot.
Json read_file(const RootDir& root) {
  const auto file = open_regular(root, kHealthFile, O_NOFOLLOW);
  struct stat info {};
  if (!file || ::fstat(file->get(), &info) != 0) return {};
  const bool is_ours = info.st_uid == 0 || info.st_uid == ::geteuid();
  if (!is_ours || (info.st_mode & (S_IWGRP | S_IWOTH)) != 0) return {};
  Json json = parse_foreign(read_all(file->get(), kHealthFile, kMostBytes).value_or(""));
  const bool is_of_this_boot = json.is_object() && text_of(json, "boot") == base::this_boot();
  return is_of_this_boot ? json : Json();
}

SharedHealth parts_of(const Json& file) {
  SharedHealth parts;
  const Json services = file.is_object() ? file.value("services", Json()) : Json();
  if (!services.is_object()) return parts;
  for (const auto& [service, gpus] : services.items())
    if (parts.size() < kMostServices) parts.emplace(service, health_from_json(gpus));
  return parts;
}

/// True for a fault that was reported once and ends by a reset; a counter is read again and again.
bool is_of_an_event(const Fault& fault) { return fault.xid != 0 || fault.code == kEccFault; }

/// Retries for a moment: a service that writes holds the lock only for that long.
Result<base::LockFile> take_lock(const RootDir& root) {
  constexpr int kTries = 20;
  constexpr std::chrono::milliseconds kPause{5};
  for (int i = 1;; ++i) {
    auto lock = base::LockFile::take(root, "/run/slipway/lock", "health.lock");
    if (lock || lock.error().code != ErrorCode::locked || i == kTries) return lock;
    std::this_thread::sleep_for(kPause);
  }
}

}  // namespace

bool GpuHealth::has_ended(std::optional<unsigned> instance, Moment last) const {
  return std::ranges::any_of(ended, [&](const EndedFaults& each) {
    const bool is_reset = !each.instance && each.how == kReset;
    return (is_reset || each.instance == instance) && last <= each.when;
  });
}

Json to_json(const HealthOfGpus& gpus) {
  Json all = Json::object();
  for (const auto& [uuid, gpu] : gpus) {
    if (all.size() >= kMostGpus) break;
    if (gpu.faults.empty() && gpu.ended.empty()) continue;
    Json json{{"name", gpu.name}, {"faults", Json::array()}, {"ended", Json::array()}};
    for (std::size_t i = 0; i < std::min(gpu.faults.size(), kMostFaults); ++i)
      json["faults"].push_back(to_json(gpu.faults[i]));
    for (std::size_t i = 0; i < std::min(gpu.ended.size(), kMostEnded); ++i) {
      const EndedFaults& each = gpu.ended[i];
      Json entry{{"how", each.how}, {"whenMs", milliseconds_of(each.when)}};
      if (each.instance) entry["gpuInstance"] = *each.instance;
      json["ended"].push_back(std::move(entry));
    }
    all[uuid] = std::move(json);
  }
  return all;
}

HealthOfGpus health_from_json(const Json& json) {
  HealthOfGpus gpus;
  if (!json.is_object()) return gpus;
  for (const auto& [uuid, value] : json.items()) {
    if (!value.is_object() || gpus.size() >= kMostGpus) continue;
    GpuHealth& gpu = gpus[uuid];
    gpu.name = text_of(value, "name");
    each_of(value, "faults", kMostFaults, [&](const Json& entry) {
      if (Fault fault = fault_from_json(entry); !fault.code.empty()) gpu.faults.push_back(std::move(fault));
    });
    each_of(value, "ended", kMostEnded, [&](const Json& entry) {
      gpu.ended.push_back({number_of(entry, "gpuInstance"), text_of(entry, "how"), moment_of(entry, "whenMs")});
    });
  }
  return gpus;
}

SharedHealth read_shared_health(const RootDir& root) { return with_resets(root, parts_of(read_file(root))); }

SharedHealth without_reset(SharedHealth parts) {
  const auto resets = parts.find(kPausePart);
  if (resets == parts.end()) return parts;
  for (auto& [service, gpus] : parts)
    for (auto& [uuid, gpu] : gpus)
      if (const auto reset = resets->second.find(uuid); reset != resets->second.end())
        std::erase_if(gpu.faults, [&ended = reset->second](const Fault& fault) {
          return is_of_an_event(fault) && ended.has_ended(fault.instance, fault.last);
        });
  return parts;
}

void drop_stopped(SharedHealth& parts, const std::function<bool(const std::string& service)>& runs) {
  std::erase_if(parts, [&runs](const auto& part) { return part.first != kPausePart && !runs(part.first); });
}

std::string remedy_for(std::string remedy, std::string_view address) {
  constexpr std::string_view kAnyGpu = "-i UUID";
  if (address.empty()) return remedy;
  const std::string words = "-i " + std::string(address);
  for (std::size_t at = remedy.find(kAnyGpu); at != std::string::npos; at = remedy.find(kAnyGpu, at + words.size()))
    remedy.replace(at, kAnyGpu.size(), words);
  return remedy;
}

std::string wait_text(std::int64_t ends_at) {
  if (ends_at == 0) return {};
  const std::time_t seconds = ends_at;
  std::tm parts{};
  char when[32] = "";
  if (::gmtime_r(&seconds, &parts) != nullptr) (void)std::strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S UTC", &parts);
  return ". The GPU counts as unhealthy until the node reboots, until `slipway pause -- nvidia-smi -r -i UUID` has "
         "reset the GPU, or until " +
         std::string(when) + " if no new error comes: drivers before branch 570 do not report a reset";
}

HealthOfGpus merged(const SharedHealth& parts) {
  HealthOfGpus all;
  for (const auto& [service, gpus] : parts)
    for (const auto& [uuid, gpu] : gpus) {
      GpuHealth& into = all[uuid];
      if (into.name.empty()) into.name = gpu.name;
      for (const Fault& fault : gpu.faults) {
        const bool has_ended = std::ranges::any_of(parts, [&, &uuid = uuid, &service = service](const auto& part) {
          const auto other = part.second.find(uuid);
          return part.first != service && is_of_an_event(fault) && other != part.second.end() &&
                 other->second.has_ended(fault.instance, fault.last);
        });
        const auto same = std::ranges::find_if(into.faults, [&](const Fault& known) {
          return known.code == fault.code && known.instance == fault.instance;
        });
        if (has_ended) continue;
        if (same == into.faults.end()) {
          into.faults.push_back(fault);
          continue;
        }
        const std::int64_t ends_at = std::max(same->ends_at, fault.ends_at);  // only one service has a time
        if (same->last < fault.last) *same = fault;
        same->ends_at = ends_at;
      }
    }
  for (auto& [uuid, gpu] : all)
    std::ranges::stable_sort(gpu.faults,
                             [](const Fault& one, const Fault& other) { return one.severity > other.severity; });
  return all;
}

Status HealthPart::exchange(const HealthOfGpus& own) {
  const Json part = to_json(own);
  SharedHealth parts = read_shared_health(root_);
  const auto is_written = [&] {
    const auto found = parts.find(service_);
    return found != parts.end() && to_json(found->second) == part;
  };
  if (!is_written()) {
    const auto lock = take_lock(root_);
    if (!lock) return lock.error();
    Json file = read_file(root_);
    if (!file.is_object()) file = Json::object();
    if (!file.contains("services") || !file["services"].is_object()) file["services"] = Json::object();
    file["apiVersion"] = "slipway.dev/v1";
    file["kind"] = "GpuHealth";
    file["boot"] = base::this_boot();
    file["services"][service_] = part;
    SLIPWAY_CHECK(base::replace_file(root_, kHealthFile, pretty(file)));
    parts = with_resets(root_, parts_of(file));
  }
  parts.erase(service_);
  others_ = std::move(parts);
  return {};
}

HealthOfGpus HealthPart::own() const {
  SharedHealth parts = without_reset(read_shared_health(root_));
  const auto found = parts.find(service_);
  return found == parts.end() ? HealthOfGpus() : std::move(found->second);
}

}  // namespace slipway::nvidia::health
