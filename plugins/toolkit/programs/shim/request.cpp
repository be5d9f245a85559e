// SPDX-License-Identifier: Apache-2.0
#include "toolkit/programs/shim/request.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "toolkit/programs/shim/document.hpp"

namespace slipway::shim {
namespace {

using Environment = std::map<std::string, std::string>;

constexpr const char* kVisible = "NVIDIA_VISIBLE_DEVICES";
constexpr const char* kChannels = "NVIDIA_IMEX_CHANNELS";
constexpr std::string_view kMountRoot = "/var/run/nvidia-container-devices/";
constexpr std::string_view kJitVendor = "runtime.nvidia.com/";
constexpr std::string_view kManagement = "management.nvidia.com/";
// The namespace of a pod in a bundle: containerd's word, and CRI-O's.
constexpr const char* kNamespaces[] = {"io.kubernetes.cri.sandbox-namespace", "io.kubernetes.pod.namespace"};
constexpr const char* kManager = "io.container.manager";
constexpr std::size_t kMostNamed = 8;     // devices in a message
constexpr std::size_t kMostSource = 200;  // bytes of a variable in a message
// Variables that add the device `all` of a kind of its own.
constexpr const char* kFunctions[][2] = {{"NVIDIA_GDS", "nvidia.com/gds=all"},
                                         {"NVIDIA_MOFED", "nvidia.com/mofed=all"},
                                         {"NVIDIA_GDRCOPY", "nvidia.com/gdrcopy=all"},
                                         {"NVIDIA_NVSWITCH", "nvidia.com/nvswitch=all"}};
constexpr const char* kChannelKind = "nvidia.com/imex-channel=";

/// More than a node can have: 16 GPUs of 7 MIG devices each, and 2048 IMEX channels.
constexpr std::size_t kMostDevices = 4096;

std::string trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return std::string(text.substr(begin, text.find_last_not_of(" \t") - begin + 1));
}

std::vector<std::string> split_list(std::string_view text) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    if (std::string part = trimmed(text.substr(begin, end - begin)); !part.empty()) parts.push_back(std::move(part));
    begin = end + 1;
  }
  return parts;
}

/// Where a name stands twice the last one counts, as for the programs that the engine's own runtime starts.
Result<Environment> environment_of(const Json& bundle, const Members& members) {
  Environment environment;
  SLIPWAY_TRY(process, members.object_in(bundle, "process"));
  if (process == nullptr) return environment;
  SLIPWAY_TRY(list, members.list_in(*process, "env"));
  if (list == nullptr) return environment;
  for (const Json& entry : *list) {
    if (!entry.is_string()) return members.invalid("an element of process.env is no text");
    const auto& text = entry.get_ref<const std::string&>();
    const auto equals = text.find('=');
    if (equals != std::string::npos) environment[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return environment;
}

/// CAP_SYS_ADMIN among those that the container may ever have; nobody gets more by asking for GPUs then.
bool is_privileged(const Json& bundle) {
  const auto process = bundle.find("process");
  if (process == bundle.end() || !process->is_object()) return false;
  const auto all = process->find("capabilities");
  if (all == process->end() || !all->is_object()) return false;
  const auto bounding = all->find("bounding");
  return bounding != all->end() && bounding->is_array() &&
         std::ranges::any_of(*bounding, [](const Json& name) { return name == "CAP_SYS_ADMIN"; });
}

/// "VENDOR/CLASS=NAME", with the default kind where only a name is given. Names of NVIDIA's runtime that makes specs by
/// itself are those of the specs on the host.
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

enum class Way { annotation, mount, variable };

std::string_view vendor_of(std::string_view kind) { return kind.substr(0, kind.find('/')); }

class Reader {
 public:
  Reader(const Json& bundle, const Config& config, const std::string& where, const Origin& origin)
      : bundle_(bundle), config_(config), where_(where), origin_(origin), members_(where) {}

  Result<Request> read() {
    SLIPWAY_TRY(environment, environment_of(bundle_, members_));
    environment_ = std::move(environment);
    privileged_ = is_privileged(bundle_);
    SLIPWAY_CHECK(from_annotations());
    if (request_.empty() && config_.accept_mounts) SLIPWAY_CHECK(from_mounts());
    if (request_.empty()) SLIPWAY_CHECK(from_environment());
    if (!request_.empty()) SLIPWAY_CHECK(add_functions());
    return std::move(request_);
  }

 private:
  /// Takes a device that the container asks for, if it may have it.
  /// @param source  what asks, for messages
  Status want(const std::string& device, Way way, const std::string& source) {
    if (!known_.insert(device).second) return {};
    if (known_.size() > kMostDevices) return too_many();
    request_.asked = true;
    const bool kubelets = way == Way::annotation && origin_.kubelets_annotations.contains(source);
    if (may_have(device, way, kubelets)) {
      request_.devices.push_back(device);
      return {};
    }
    if (way != Way::variable) return denied(device, (way == Way::mount ? "" : "the annotation ") + source);
    if (origin_.ask_kubelet && device == config_.default_kind + "=all" && !kubelet().devices.empty())
      take_given();
    else
      left_out_.push_back(device);
    return {};
  }

  void take_given() {
    for (const std::string& given : kubelet().devices)
      if (known_.insert(given).second) request_.devices.push_back(given);
  }

  bool may_have(const std::string& device, Way way, bool kubelets) {
    if (toolkit::permits(config_.requests, origin_.pod_namespace, device)) return true;
    if (device.starts_with(kManagement)) return false;
    if (kubelets || privileged_) return true;
    if (origin_.ask_kubelet) return kubelet().names.contains(device);
    if (vendor_of(device) != vendor_of(config_.default_kind)) return false;
    return way == Way::mount || config_.accept_env_when_unprivileged;
  }

  const KubeletDevices& kubelet() {
    if (!kubelet_) kubelet_ = origin_.ask_kubelet();
    return *kubelet_;
  }

  std::string why_not(const std::string& device) {
    if (device.starts_with(kManagement)) return "devices of that kind are given only to whom a rule names";
    if (origin_.ask_kubelet) {
      const std::string& problem = kubelet().problem;
      return problem.empty() ? "kubelet has not given it to this container" : "kubelet does not answer: " + problem;
    }
    if (vendor_of(device) != vendor_of(config_.default_kind))
      return "devices of other vendors are given only by a rule";
    return "the container is not privileged, and " + config_path() + " does not accept variables and annotations then";
  }

  std::string remedy(const std::string& device) const {
    return "request it as a resource of the pod, or permit it: " + toolkit::rule_for(origin_.pod_namespace, device) +
           " in the spec of slipway";
  }

  Error denied(const std::string& device, const std::string& source) {
    return Error{
        ErrorCode::denied, source + " asks for " + device + ": " + why_not(device), where_, remedy(device), {}};
  }

  /// One warning for all that variables asked for in vain.
  void warn_of_left_out(const std::string& source) {
    if (left_out_.empty()) return;
    std::string names;
    for (std::size_t i = 0; i < left_out_.size() && i < kMostNamed; ++i)
      names += (names.empty() ? "" : ", ") + left_out_[i];
    if (left_out_.size() > kMostNamed) names += " and " + std::to_string(left_out_.size() - kMostNamed) + " more";
    request_.warnings.push_back(source.substr(0, kMostSource) + " was left out (" + names +
                                "): " + why_not(left_out_.front()) + "; " + remedy(left_out_.front()));
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
      for (const std::string& device : split_list(value.get_ref<const std::string&>()))
        SLIPWAY_CHECK(want(qualified(device, config_), Way::annotation, key));
      if (!request_.empty()) request_.source = "the annotation " + key;
    }
    return {};
  }

  /// "0", "cdi/VENDOR/CLASS/NAME", "cdi/VENDOR/CLASS=NAME" and "imex/N": what is behind the folder, where the source is
  /// /dev/null.
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
    request_.warnings.push_back("the mount " + std::string(kMountRoot) + "cdi/" + name +
                                " is no cdi/VENDOR/CLASS/NAME and was left out");
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

  /// `all` outranks other names, and any name outranks `none`.
  Status take(const std::vector<std::string>& names, Way way, const std::string& source) {
    const bool all = std::ranges::count(names, "all") != 0;
    for (const std::string& name : names) {
      if (name == "none") continue;
      if (all && name.find('=') == std::string::npos && name != "all") continue;
      SLIPWAY_CHECK(want(qualified(name, config_), way, source));
    }
    const bool none = !names.empty() && std::ranges::all_of(names, [](const auto& name) { return name == "none"; });
    if (none) SLIPWAY_CHECK(take_driver_only(way, source));
    request_.source = source;
    return {};
  }

  /// The driver's files come with its control nodes, so they are for those who may have a GPU.
  Status take_driver_only(Way way, const std::string& source) {
    request_.asked = true;
    const std::string device = config_.default_kind + "=none";
    if (may_have(device, way, false) || (origin_.ask_kubelet && !kubelet().devices.empty()))
      request_.driver_only = true;
    else if (way == Way::variable)
      left_out_.push_back(device);
    else
      return denied(device, source);
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
  const std::string& where_;
  const Origin& origin_;
  Members members_;
  Environment environment_;
  bool privileged_ = false;
  std::vector<std::string> channels_from_mounts_;
  std::optional<KubeletDevices> kubelet_;
  std::set<std::string> known_;        // what was asked for
  std::vector<std::string> left_out_;  // by the variable at hand
  Request request_;
};

}  // namespace

Result<Request> read_request(const Json& bundle, const Config& config, const std::string& where, const Origin& origin) {
  return Reader(bundle, config, where, origin).read();
}

std::string pod_namespace_of(const Json& bundle) {
  const auto annotations = bundle.find("annotations");
  if (annotations == bundle.end() || !annotations->is_object() || text_in(*annotations, kManager) == "libpod")
    return {};
  std::set<std::string> found;
  for (const char* key : kNamespaces)
    if (annotations->contains(key)) found.insert(text_in(*annotations, key));
  return found.size() == 1 ? *found.begin() : std::string();
}

}  // namespace slipway::shim
