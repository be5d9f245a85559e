// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/runtime/component/kubelet.hpp - whether kubelet is where `kubelet_root` says, and the sockets that
// the kernel knows.
#pragma once

#include <string>
#include <vector>

#include <slipway/findings.hpp>
#include <slipway/host.hpp>

#include "toolkit/runtime/settings.hpp"

namespace slipway::toolkit {

/// The paths with the file name `wanted` at which somebody listens, as the kernel's list has them; none in an image.
std::vector<std::string> listening_sockets(const Host& host, const std::string& wanted);

/// Finding "runtime.kubelet": kubelet, whose word counts for unprivileged containers, answers below `kubelet_root`. It
/// fails where kubelet is somewhere else, or does not answer; a machine without kubelet has nothing to exercise.
void verify_kubelet(const RuntimeSettings& settings, const Host& host, Findings& findings);

}  // namespace slipway::toolkit
