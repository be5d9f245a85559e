// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/requests/policy.hpp - the requested devices that a container may have, and the messages about the
// others.
#pragma once

#include <optional>
#include <string>

#include <slipway/result.hpp>

#include "toolkit/requests/config.hpp"
#include "toolkit/requests/request.hpp"

namespace slipway::shim {

/// The way in which a container requests a device.
enum class Way { annotation, fresh_annotation, mount, variable };

/// Decides for one container; read_request() lists the rules.
class Policy {
 public:
  /// @param privileged  the container has all devices of the host in any case
  /// @param where       the container, for errors; all three live as long as the policy
  Policy(const Config& config, const Origin& origin, const std::string& where, bool privileged)
      : config_(config), origin_(origin), where_(where), privileged_(privileged) {}

  bool allows(const std::string& device, Way way);
  /// True for a denied device that is skipped without an error: a device that a variable asks for, since images set
  /// variables; or a device that an annotation asks for which kubelet may have written, when the engine's own CDI
  /// support injects it without slipway.
  bool is_left_out(const std::string& device, Way way) const;
  /// Returns the devices that kubelet has given to the container; empty if kubelet cannot be asked.
  const KubeletDevices& given();
  /// True when kubelet could not be asked, and only device plugins use names like this one.
  bool is_in_doubt(const std::string& device);

  /// @param source  the setting that asks
  Error denied(const std::string& device, const std::string& source);
  Error undecided_error(const std::string& device, const std::string& source);
  std::string why_not(const std::string& device);
  std::string remedy(const std::string& device) const;

 private:
  bool is_given(const std::string& device, Way way);
  bool is_of_our_vendor(const std::string& device) const;

  const Config& config_;
  const Origin& origin_;
  const std::string& where_;
  bool privileged_;
  std::optional<KubeletDevices> given_;
};

}  // namespace slipway::shim
