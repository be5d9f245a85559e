// SPDX-License-Identifier: Apache-2.0
// core/action/kinds.hpp - every kind of action that there is, one object each, made at the first call.
#pragma once

#include "core/action/action_kind.hpp"

namespace slipway::core {

const ActionKind& file_kind();
const ActionKind& directory_kind();
const ActionKind& symlink_kind();
const ActionKind& remove_kind();
const ActionKind& service_file_kind();
const ActionKind& merge_kind();
const ActionKind& unpack_kind();
const ActionKind& kernel_module_kind();
const ActionKind& systemd_unit_kind();
const ActionKind& device_node_kind();
const ActionKind& exec_kind();
const ActionKind& custom_kind();

}  // namespace slipway::core
