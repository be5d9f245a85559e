// SPDX-License-Identifier: Apache-2.0
// plugins/driver/module/trusted_keys.hpp - whether a kernel loads only signed modules, and whose signatures it trusts.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <slipway/host.hpp>
#include <slipway/json.hpp>

#include "driver/module/key_id.hpp"

namespace slipway::driver {

/// Returns the reason why the running kernel refuses unsigned modules: "module.sig_enforce is on", "lockdown is
/// integrity"; empty: it does not, or there is no kernel view.
std::string running_kernel_enforces(const Host& host);

/// Returns the reason why that kernel will refuse unsigned modules when it boots: its configuration, or the command
/// line that the root configures; empty: neither says so. Secure Boot, which makes kernels do so too, is a property of
/// the machine.
std::string kernel_enforces(const Host& host, const std::string& release);

/// The keys that count for a module's signature.
struct TrustedKeys {
  bool listed = false;               ///< /proc/keys was read: `kernel` is complete
  std::vector<KeyId> kernel;         ///< keys of the running kernel's keyrings: name, and key id or serial number
  std::vector<KeyId> machine_owner;  ///< certificates of the machine's MOK list
  std::vector<KeyId> spec;           ///< certificates that the spec names
  bool spec_is_complete = false;     ///< the spec names all keys that the machine trusts besides the kernel's

  bool operator==(const TrustedKeys&) const = default;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(TrustedKeys, listed, kernel, machine_owner, spec, spec_is_complete)

/// Adds the keys of the running kernel and of the MOK list to those that the spec names; none without a kernel view.
TrustedKeys read_trusted_keys(const Host& host, TrustedKeys named);

/// Returns the asymmetric keys in the text of /proc/keys.
std::vector<KeyId> keys_in_proc(std::string_view proc_keys);

enum class Trust { yes, no, unknown };

/// Says whether a kernel trusts this signer.
/// @param own  signer of the kernel's own modules, which it trusts
Trust trust_of(const KeyId& signer, const std::optional<KeyId>& own, const TrustedKeys& keys);

}  // namespace slipway::driver
