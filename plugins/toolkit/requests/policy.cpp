// SPDX-License-Identifier: Apache-2.0
#include "toolkit/requests/policy.hpp"

#include <algorithm>
#include <string_view>

#include "toolkit/requests/report.hpp"

namespace slipway::shim {
namespace {

constexpr std::string_view kManagement = "management.nvidia.com/";
// The vendor of NVIDIA's device plugin, which writes its own CDI specs.
constexpr std::string_view kPluginVendor = "k8s.device-plugin.nvidia.com";
// Devices that device plugins add to GPUs because of the node's settings, not a pod's request. The first IMEX channel
// is shared by all jobs; the others are claimed by single jobs.
constexpr std::string_view kBesideGpus[] = {"gds=all", "mofed=all", "gdrcopy=all", "imex-channel=0"};
constexpr std::string_view kFirstChannel = "nvidia.com/imex-channel=0";

std::string_view vendor_in(std::string_view device) { return device.substr(0, device.find('/')); }

std::string name_in(const std::string& device) { return device.substr(device.find('=') + 1); }

/// True for names of GPUs and MIG devices that device plugins use.
bool is_uuid(std::string_view name) { return name.starts_with("GPU-") || name.starts_with("MIG-"); }

bool is_companion_device(std::string_view device, Way way) {
  if (way == Way::mount) return device == kFirstChannel;
  const std::string_view vendor = vendor_in(device);
  return way == Way::fresh_annotation && (vendor == "nvidia.com" || vendor == kPluginVendor) &&
         std::ranges::count(kBesideGpus, device.substr(vendor.size() + 1)) != 0;
}

}  // namespace

bool Policy::allows(const std::string& device, Way way) {
  if (toolkit::permits(config_.requests, origin_.pod_namespace, device)) return true;
  if (device.starts_with(kManagement)) return false;
  if (privileged_) return true;
  if (origin_.ask_kubelet) return is_given(device, way);
  if (!is_of_our_vendor(device)) return false;
  return way == Way::mount || config_.accept_env_when_unprivileged;
}

bool Policy::is_given(const std::string& device, Way way) {
  const KubeletDevices& kubelets = given();
  if (kubelets.names.contains(device)) return true;
  const std::string name = name_in(device);
  if (way == Way::fresh_annotation && is_uuid(name) && kubelets.names.contains(config_.default_kind + "=" + name))
    return true;  // under one of the device plugin's own kinds
  return !kubelets.devices.empty() && device.find('/') != std::string::npos && is_companion_device(device, way);
}

bool Policy::is_left_out(const std::string& device, Way way) const {
  if (way == Way::variable) return true;
  if (device.starts_with(kManagement)) return false;
  if (origin_.ask_kubelet) return way == Way::fresh_annotation;
  return way == Way::annotation && !is_of_our_vendor(device);
}

bool Policy::is_of_our_vendor(const std::string& device) const {
  const std::string_view vendor = vendor_in(device);
  return vendor == vendor_in(config_.default_kind) || vendor == kPluginVendor;
}

const KubeletDevices& Policy::given() {
  if (!given_) given_ = origin_.ask_kubelet ? origin_.ask_kubelet() : KubeletDevices();
  return *given_;
}

bool Policy::is_in_doubt(const std::string& device) {
  return origin_.ask_kubelet && is_uuid(name_in(device)) && !device.starts_with(kManagement) &&
         !given().problem.empty();
}

std::string Policy::why_not(const std::string& device) {
  if (device.starts_with(kManagement)) return "devices of that kind are given only to containers that a rule names";
  if (!is_of_our_vendor(device)) return "devices of other vendors are given only by a rule";
  if (!origin_.ask_kubelet)
    return "the container is not privileged, and " + config_path() +
           " does not accept variables and annotations of such containers";
  const std::string& problem = given().problem;
  return problem.empty() ? "kubelet has not given it to this container" : "kubelet does not answer: " + problem;
}

std::string Policy::remedy(const std::string& device) const {
  const std::string rule = toolkit::rule_for(origin_.pod_namespace, device);
  if (rule.empty()) return "request a resource of the pod, or a device by its name";
  return "request it as a resource of the pod, or permit it: " + rule + " in the spec of slipway";
}

Error Policy::denied(const std::string& device, const std::string& source) {
  return Error{ErrorCode::denied,
               shortened(source) + " asks for " + shortened(device) + ": " + why_not(device),
               where_,
               remedy(device),
               {}};
}

Error Policy::undecided_error(const std::string& device, const std::string& source) {
  return Error{
      ErrorCode::unreachable,
      shortened(source) + " asks for " + shortened(device) +
          ", but kubelet does not answer whether it has given this device to the container: " + given().problem,
      where_,
      "check kubelet; if its folder is not /var/lib/kubelet, set kubelet_root of the component runtime. kubelet "
      "retries the container by itself",
      {}};
}

}  // namespace slipway::shim
