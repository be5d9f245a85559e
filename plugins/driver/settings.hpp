// SPDX-License-Identifier: Apache-2.0
// plugins/driver/settings.hpp - the component's section of the spec, as types.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <slipway/result.hpp>
#include <slipway/spec.hpp>

#include "driver/choose/choose.hpp"
#include "driver/choose/version_constraint.hpp"
#include "driver/detect/kernel_choice.hpp"
#include "driver/module/trusted_keys.hpp"
#include "nvidia/drain/settings.hpp"
#include "nvidia/gpus/gpu_table.hpp"

namespace slipway::driver {

/// See driver.component.yaml for what each key means.
struct Settings {
  VersionConstraint version;
  std::optional<nvidia::Flavour> modules;  ///< empty: auto, or both
  bool both_modules = false;               ///< [open, proprietary]
  std::vector<nvidia::Gpu> gpus;
  Precompiled precompiled = Precompiled::prefer;
  std::string sign_key;                           ///< path; empty: compiled modules are not signed
  std::string sign_certificate;                   ///< path
  std::vector<std::string> trusted_certificates;  ///< paths
  std::map<std::string, std::map<std::string, std::string>> parameters;  ///< module to name to value
  std::vector<std::string> load;  ///< in the order of nvidia::kModules, with the modules that they need
  bool blacklist_nouveau = true;
  std::string libdir;  ///< "auto", "none" or an absolute path
  bool keep_existing = false;
  KernelChoice kernels;
  bool holds_kernel = true;  ///< new_kernel.without_modules: hold
  nvidia::drain::Settings drain;
  std::string kubelet_socket;         ///< empty: kubelet is not asked
  bool note_missing_package = false;  ///< a further kernel without a package gives a note, not an error
};

/// Returns the keys of the certificates in signing.trusted, and of signing.certificate if that can be read. Errors:
/// `not_found`, `denied`, `invalid` for a file of signing.trusted.
Result<TrustedKeys> named_keys(const Settings& settings);

/// Errors: `invalid` an unknown GPU (with the nearest known one), half a signing pair, a parameter value that cannot be
/// written in modprobe.d.
/// @param table  knows the GPUs that the spec names
Result<Settings> read_settings(const Spec& spec, const nvidia::GpuTable& table = nvidia::GpuTable::built_in());

}  // namespace slipway::driver
