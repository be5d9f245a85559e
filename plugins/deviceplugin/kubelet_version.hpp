// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/kubelet_version.hpp - the kubelet version of a machine, without a call to the cluster, and
// whether it passes on the CDI devices that a device plugin names (cdi-cri).
#pragma once

#include <string>
#include <string_view>

#include <slipway/host.hpp>

namespace slipway::deviceplugin {

struct KubeletVersion {
  std::string text;  ///< "v1.36.2", "1.28.2-1.1"; empty: there is no kubelet (yet), or its version is unknown
  unsigned major = 0;
  unsigned minor = 0;

  bool known() const { return major != 0; }
};

/// Reads "Kubernetes v1.36.2", "k3s version v1.30.2+k3s1 (…)", "v1.30.2+k0s.0", "1.28.2-1.1".
KubeletVersion parse_kubelet_version(std::string_view text);

/// Returns a text that changes when another program is installed; does not run it.
std::string kubelet_program_state(const Host& host);

/// Runs the program on a live host (kubelet, or the distribution's program that contains it); reads the package in
/// other roots.
KubeletVersion read_kubelet_version(const Host& host);

/// Says why cdi-cri does not work with that kubelet; empty: it works, or that is unknown. The feature gate
/// DevicePluginCDIDevices is off by default in 1.28, and on since 1.29.
std::string why_no_cdi_devices(const KubeletVersion& version, const Host& host, const std::string& kubelet_root);

}  // namespace slipway::deviceplugin
