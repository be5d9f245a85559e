// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/kubelet_version.hpp - which kubelet a machine has, without asking the cluster, and whether it
// passes on the CDI devices that a device plugin names (cdi-cri).
#pragma once

#include <string>
#include <string_view>

#include <slipway/host.hpp>

namespace slipway::deviceplugin {

struct KubeletVersion {
  std::string text;  ///< "v1.36.2", "1.28.2-1.1"; empty: there is no kubelet (yet), or its version is not known
  unsigned major = 0;
  unsigned minor = 0;

  bool known() const { return major != 0; }
};

/// "Kubernetes v1.36.2", "k3s version v1.30.2+k3s1 (…)", "v1.30.2+k0s.0", "1.28.2-1.1".
KubeletVersion parse_kubelet_version(std::string_view text);

/// Changes when another program is installed, without running it.
std::string kubelet_program_state(const Host& host);

/// What the program itself says on a live host (kubelet, else the distribution's that has it built in); in other roots
/// the package.
KubeletVersion read_kubelet_version(const Host& host);

/// Why cdi-cri does not work with that kubelet; empty: it does, or that is not known.
/// The gate DevicePluginCDIDevices is off in 1.28 unless kubelet's configuration has it, and on since 1.29.
std::string why_no_cdi_devices(const KubeletVersion& version, const Host& host, const std::string& kubelet_root);

}  // namespace slipway::deviceplugin
