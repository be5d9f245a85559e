// SPDX-License-Identifier: Apache-2.0
#include <slipway/component.hpp>

namespace slipway {
namespace {

Error no_custom_actions(const Action& action) {
  return Error{.code = ErrorCode::plugin_defect,
               .what = "the component plans the custom action '" + action.target() + "' but cannot carry it out",
               .next = "please report this to the plugin's authors: it needs check() and apply()"};
}

}  // namespace

Result<Findings> Component::diagnose(const Spec&, const Host&) const { return Findings(); }

Result<bool> Component::check(const Action& action, const Host&) const { return no_custom_actions(action); }

Result<Outcome> Component::apply(const Action& action, const Host&) const { return no_custom_actions(action); }

}  // namespace slipway
