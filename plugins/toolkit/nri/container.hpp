// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/nri/container.hpp - a container as NRI tells of it, in the form of an OCI configuration, and back.
#pragma once

#include <slipway/json.hpp>

#include "slipway/nri/nri.pb.h"

namespace slipway::nri {

/// The parts of an OCI configuration that a request and the edits of CDI specs are about. Annotations of the pod count
/// where the container has none of that name. NRI does not tell a container's capabilities: one that may write to sysfs
/// is privileged (Kubernetes mounts it read-only for others), and stands here with CAP_SYS_ADMIN.
Json bundle_of(const wire::PodSandbox& pod, const wire::Container& container);

/// Variables, mounts, device nodes and hooks that `after` has and `before` has not.
wire::ContainerAdjustment difference(const Json& before, const Json& after);

}  // namespace slipway::nri
