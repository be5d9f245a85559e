// SPDX-License-Identifier: Apache-2.0
#include "core/action/action_kind.hpp"

#include <array>
#include <string_view>
#include <utility>

#include <slipway/text.hpp>

namespace slipway::core {
namespace {

using Entry = std::pair<std::string_view, const ActionKind& (*)()>;

constexpr std::array kKinds{
    Entry{"file", &file_kind},
    Entry{"merge", &merge_kind},
    Entry{"directory", &directory_kind},
    Entry{"symlink", &symlink_kind},
    Entry{"remove", &remove_kind},
    Entry{"service-file", &service_file_kind},
    Entry{"unpack", &unpack_kind},
    Entry{"kernel-module", &kernel_module_kind},
    Entry{"systemd-unit", &systemd_unit_kind},
    Entry{"device-node", &device_node_kind},
    Entry{"exec", &exec_kind},
    Entry{"custom", &custom_kind},
};

}  // namespace

std::string kept_words(const Action& action) {
  return action.target() + " was edited while slipway was at work, and was left as it is";
}

Result<const ActionKind*> action_kind(const std::string& kind) {
  for (const auto& [name, object] : kKinds)
    if (name == kind) return &object();
  return Error{ErrorCode::unsupported,
               "this slipway has no kind of action named '" + kind + "'; it has " + joined(kKinds, ", ", &Entry::first),
               {},
               "update slipway, or use a plugin that was made for this version",
               {}};
}

}  // namespace slipway::core
