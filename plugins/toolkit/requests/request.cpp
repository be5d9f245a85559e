// SPDX-License-Identifier: Apache-2.0
#include "toolkit/requests/request.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string_view>

#include <slipway/text.hpp>

#include "toolkit/requests/document.hpp"
#include "toolkit/requests/policy.hpp"
#include "toolkit/requests/report.hpp"

namespace slipway::shim {
namespace {

using Environment = std::map<std::string, std::string>;

constexpr const char* kVisible = "NVIDIA_VISIBLE_DEVICES";
constexpr const char* kChannels = "NVIDIA_IMEX_CHANNELS";
constexpr std::string_view kMountRoot = "/var/run/nvidia-container-devices/";
constexpr std::string_view kJitVendor = "runtime.nvidia.com/";
constexpr std::size_t kMostNamed = 8;      // devices listed in a message
constexpr std::size_t kMostWarnings = 16;  // of one container
// Variables that add the device `all` of their own kind.
constexpr const char* kFunctions[][2] = {{"NVIDIA_GDS", "nvidia.com/gds=all"},
                                         {"NVIDIA_MOFED", "nvidia.com/mofed=all"},
                                         {"NVIDIA_GDRCOPY", "nvidia.com/gdrcopy=all"},
                                         {"NVIDIA_NVSWITCH", "nvidia.com/nvswitch=all"}};
constexpr const char* kChannelKind = "nvidia.com/imex-channel=";

/// More than a node can have: 16 GPUs of 7 MIG devices each, and 2048 IMEX channels.
constexpr std::size_t kMostDevices = 4096;

/// The last value of a repeated name counts, as for programs that the engine's runtime starts.
Result<Environment> environment_of(const Json& bundle, const Members& members) {
  Environment environment;
  SLIPWAY_TRY(process, members.object_in(bundle, "process"));
  if (process == nullptr) return environment;
  SLIPWAY_TRY(list, members.list_in(*process, "env"));
  if (list == nullptr) return environment;
  for (const Json& entry : *list) {
    if (!entry.is_string()) return members.invalid("an element of process.env is not text");
    const auto& text = entry.get_ref<const std::string&>();
    const auto equals = text.find('=');
    if (equals != std::string::npos) environment[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return environment;
}

/// True when the container may have CAP_SYS_ADMIN: then access to GPUs gives it no further rights.
bool is_privileged(const Json& bundle) {
  const auto process = bundle.find("process");
  if (process == bundle.end() || !process->is_object()) return false;
  const auto all = process->find("capabilities");
  if (all == process->end() || !all->is_object()) return false;
  const auto bounding = all->find("bounding");
  return bounding != all->end() && bounding->is_array() &&
         std::ranges::any_of(*bounding, [](const Json& name) { return name == "CAP_SYS_ADMIN"; });
}

/// Returns "VENDOR/CLASS=NAME", with the default kind for a name alone. Names of NVIDIA's runtime in jit-cdi mode map
/// to those of the host's specs.
std::string qualified(const std::string& device, const Config& config) {
  if (device.find('=') == std::string::npos) return config.default_kind + "=" + device;
  return device.starts_with(kJitVendor) ? device.substr(kJitVendor.find('.') + 1) : device;
}

Error too_many() {
  return Error{ErrorCode::invalid,
               "the container asks for more than " + std::to_string(kMostDevices) +
                   " devices, by its annotations, mounts or environment",
               {},
               "name fewer devices there, or `all`",
               {}};
}

class Reader {
 public:
  Reader(const Json& bundle, const Config& config, const std::string& where, const Origin& origin)
      : bundle_(bundle),
        config_(config),
        origin_(origin),
        members_(where),
        policy_(config, origin, where, is_privileged(bundle)) {}

  Result<Request> read() {
    SLIPWAY_TRY(environment, environment_of(bundle_, members_));
    environment_ = std::move(environment);
    SLIPWAY_CHECK(from_annotations());
    if (request_.empty() && config_.accept_mounts) SLIPWAY_CHECK(from_mounts());
    if (request_.empty()) SLIPWAY_CHECK(from_environment());
    if (request_.empty()) return std::move(request_);
    SLIPWAY_CHECK(add_functions());
    if (config_.disable_require) return std::move(request_);
    SLIPWAY_TRY(requirements, requirements_of(environment_));
    request_.requirements = std::move(requirements);
    return std::move(request_);
  }

 private:
  /// Adds a requested device if the container may have it.
  /// @param source  the setting that asks, for messages
  Status want(const std::string& device, Way way, const std::string& source) {
    if (!known_.insert(device).second) return {};
    if (known_.size() > kMostDevices) return too_many();
    request_.asked = true;
    if (policy_.allows(device, way)) {
      request_.devices.push_back(device);
      return {};
    }
    if (policy_.is_in_doubt(device)) return policy_.undecided_error(device, source);
    if (!policy_.is_left_out(device, way)) return policy_.denied(device, source);
    if (way == Way::variable && device == config_.default_kind + "=all" && !policy_.given().devices.empty())
      take_given();
    else
      left_out_.push_back(device);
    return {};
  }

  void take_given() {
    for (const std::string& given : policy_.given().devices)
      if (known_.insert(given).second) request_.devices.push_back(given);
  }

  void warn(std::string text) {
    if (request_.warnings.size() < kMostWarnings) request_.warnings.push_back(std::move(text));
  }

  /// Adds one warning for all denied devices of a source.
  void warn_of_left_out(const std::string& source) {
    if (left_out_.empty()) return;
    std::vector<std::string> names;
    for (const std::string& name : left_out_) names.push_back(shortened(name));
    warn(shortened(source) + " was left out (" + first_few(names, kMostNamed) +
         "): " + policy_.why_not(left_out_.front()) + "; " + policy_.remedy(left_out_.front()));
    left_out_.clear();
  }

  Status from_annotations() {
    SLIPWAY_TRY(annotations, members_.object_in(bundle_, "annotations"));
    if (annotations == nullptr) return {};
    for (const auto& annotation : annotations->items()) {
      const std::string& key = annotation.key();
      const Json& value = annotation.value();
      const bool ours = std::ranges::any_of(config_.annotation_prefixes,
                                            [&](const std::string& prefix) { return key.starts_with(prefix); });
      if (!ours || !value.is_string()) continue;
      const Way way = origin_.fresh_annotations.contains(key) ? Way::fresh_annotation : Way::annotation;
      const std::string source = "the annotation " + key;
      for (const std::string& device : split_list(value.get_ref<const std::string&>()))
        SLIPWAY_CHECK(want(qualified(device, config_), way, source));
      warn_of_left_out(source);
      if (!request_.empty()) request_.source = shortened(source);
    }
    return {};
  }

  /// Reads "0", "cdi/VENDOR/CLASS/NAME", "cdi/VENDOR/CLASS=NAME" and "imex/N": the destination below the folder, for
  /// mounts of /dev/null.
  Status from_mounts() {
    SLIPWAY_TRY(mounts, members_.list_in(bundle_, "mounts"));
    if (mounts == nullptr) return {};
    std::vector<std::string> names;
    std::vector<std::string> channels;
    for (const Json& mount : *mounts) {
      if (std::filesystem::path(text_in(mount, "source")).lexically_normal() != "/dev/null") continue;
      const std::string target = std::filesystem::path(text_in(mount, "destination")).lexically_normal().string();
      if (!target.starts_with(kMountRoot)) continue;
      const std::string name = target.substr(kMountRoot.size());
      if (name.starts_with("imex/"))
        channels.push_back(name.substr(5));
      else if (!name.empty())
        names.push_back(name.starts_with("cdi/") ? cdi_name(name.substr(4)) : name);
    }
    std::erase(names, "");
    SLIPWAY_CHECK(take(names, Way::mount, "a mount below " + std::string(kMountRoot)));
    if (!request_.empty()) channels_from_mounts_ = std::move(channels);
    return {};
  }

  std::string cdi_name(const std::string& name) {
    if (name.find('=') != std::string::npos) return name;
    const auto device = name.find('/', name.find('/') + 1);
    if (name.find('/') != std::string::npos && device != std::string::npos)
      return name.substr(0, device) + "=" + name.substr(device + 1);
    warn("the mount " + std::string(kMountRoot) + "cdi/" + shortened(name) +
         " is not cdi/VENDOR/CLASS/NAME and was left out");
    return {};
  }

  Status from_environment() {
    std::vector<std::string> variables;
    for (const std::string& name : config_.swarm_resources)
      if (environment_.contains(name)) variables.push_back(name);
    if (variables.empty()) variables.emplace_back(kVisible);
    std::vector<std::string> names;
    std::string source;
    for (const std::string& variable : variables) {
      const auto found = environment_.find(variable);
      if (found == environment_.end()) continue;
      for (std::string& name : split_list(found->second)) names.push_back(std::move(name));
      source += (source.empty() ? "" : ", ") + variable + "=" + found->second;
    }
    if (source.empty() && is_old_cuda_image()) {
      names = {"all"};
      source = "CUDA_VERSION without NVIDIA_REQUIRE_CUDA, as images before CUDA 9 have it";
    }
    if (names.empty() || std::ranges::count(names, "void") != 0) return {};
    SLIPWAY_CHECK(take(names, Way::variable, source));
    warn_of_left_out(source);
    return {};
  }

  bool is_old_cuda_image() const {
    const auto set = [&](const char* name) {
      const auto found = environment_.find(name);
      return found != environment_.end() && !found->second.empty();
    };
    return set("CUDA_VERSION") && !set("NVIDIA_REQUIRE_CUDA");
  }

  /// `all` overrides other names, and any name overrides `none`.
  Status take(const std::vector<std::string>& names, Way way, const std::string& source) {
    const bool all = std::ranges::count(names, "all") != 0;
    for (const std::string& name : names) {
      if (name == "none") continue;
      if (all && name.find('=') == std::string::npos && name != "all") continue;
      SLIPWAY_CHECK(want(qualified(name, config_), way, source));
    }
    const bool none = !names.empty() && std::ranges::all_of(names, [](const auto& name) { return name == "none"; });
    if (none) SLIPWAY_CHECK(take_driver_only(way, source));
    request_.source = shortened(source);
    return {};
  }

  /// The driver's files come with its control nodes, so only containers that may have a GPU get them.
  Status take_driver_only(Way way, const std::string& source) {
    request_.asked = true;
    const std::string device = config_.default_kind + "=none";
    if (policy_.allows(device, way) || !policy_.given().devices.empty())
      request_.driver_only = true;
    else if (policy_.is_left_out(device, way))
      left_out_.push_back(device);
    else
      return policy_.denied(device, source);
    return {};
  }

  Status add_functions() {
    for (const auto& [variable, device] : kFunctions) {
      const auto found = environment_.find(variable);
      if (found == environment_.end() || found->second != "enabled") continue;
      SLIPWAY_CHECK(want(device, Way::variable, variable));
      warn_of_left_out(std::string(variable) + "=enabled");
    }
    if (config_.ignore_imex_channels) return {};
    if (!channels_from_mounts_.empty())
      return add_channels(channels_from_mounts_, Way::mount, "a mount below " + std::string(kMountRoot));
    const auto found = environment_.find(kChannels);
    if (found == environment_.end()) return {};
    SLIPWAY_CHECK(add_channels(split_list(found->second), Way::variable, kChannels));
    warn_of_left_out(std::string(kChannels) + "=" + found->second);
    return {};
  }

  Status add_channels(const std::vector<std::string>& channels, Way way, const std::string& source) {
    if (std::ranges::count(channels, "void") != 0) return {};
    for (const std::string& channel : channels)
      if (channel != "all" && channel != "none") SLIPWAY_CHECK(want(kChannelKind + channel, way, source));
    return {};
  }

  const Json& bundle_;
  const Config& config_;
  const Origin& origin_;
  Members members_;
  Policy policy_;
  Environment environment_;
  std::vector<std::string> channels_from_mounts_;
  std::set<std::string> known_;        // requested devices
  std::vector<std::string> left_out_;  // for the current source
  Request request_;
};

}  // namespace

Result<Request> read_request(const Json& bundle, const Config& config, const std::string& where, const Origin& origin) {
  return Reader(bundle, config, where, origin).read();
}

}  // namespace slipway::shim
