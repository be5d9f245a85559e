// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>
#include <string_view>

#include <slipway/text.hpp>

#include "toolkit/requests/document.hpp"
#include "toolkit/requests/request.hpp"

namespace slipway::shim {
namespace {

// The annotation with a pod's namespace in a bundle: containerd's name, and CRI-O's.
constexpr const char* kNamespaces[] = {"io.kubernetes.cri.sandbox-namespace", "io.kubernetes.pod.namespace"};

/// True for kubelet's group for pods, at the top or below a parent group.
bool is_for_pods(std::string_view group) { return group == "kubepods" || group.starts_with("kubepods-"); }

/// True when containerd's CRI or CRI-O has put the container into its cgroup. An image can set annotations through
/// podman, but never this path: "SLICE:cri-containerd:ID" and "SLICE:crio:ID" for systemd, else "/kubepods/…/ID",
/// "…/crio-ID".
bool is_in_a_pods_group(std::string_view path) {
  if (const auto colon = path.find(':'); colon != std::string_view::npos) {
    const std::string_view rest = path.substr(colon + 1);
    return rest.starts_with("cri-containerd:") || rest.starts_with("crio:");
  }
  const std::string_view last = path.substr(path.rfind('/') + 1);
  if (last.starts_with("crio-")) return true;
  if (last.starts_with("libpod")) return false;
  return std::ranges::any_of(split<std::string_view>(path, '/'), is_for_pods);
}

}  // namespace

std::string pod_namespace_of(const Json& bundle) {
  const auto annotations = bundle.find("annotations");
  const auto linux_part = bundle.find("linux");
  if (annotations == bundle.end() || !annotations->is_object() || linux_part == bundle.end()) return {};
  if (!is_in_a_pods_group(text_in(*linux_part, "cgroupsPath"))) return {};
  std::set<std::string> found;
  for (const char* key : kNamespaces)
    if (annotations->contains(key)) found.insert(text_in(*annotations, key));
  return found.size() == 1 ? *found.begin() : std::string();
}

}  // namespace slipway::shim
