// SPDX-License-Identifier: Apache-2.0
// plugins/driver/fits/fits.hpp - whether modules fit a kernel beyond its release: symbol checksums and signatures. The
// same for the plan, which has a package's description, and for apply, verify and `slipway driver build`, which have
// the modules.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <slipway/action.hpp>
#include <slipway/host.hpp>
#include <slipway/result.hpp>

#include "driver/module/kernel_symbols.hpp"
#include "driver/module/trusted_keys.hpp"

namespace slipway::driver {

/// What a module says about the kernel that it was compiled for.
struct ModuleRecord {
  std::string file;               ///< "nvidia.ko.xz"
  base::SymbolVersions versions;  ///< empty: none, or not recorded
  std::optional<KeyId> signer;    ///< empty: not signed, or not recorded
  bool is_signed = false;
};

/// Reads an uncompressed module. Errors: `corrupt`.
Result<ModuleRecord> module_record(std::string file, std::string_view elf);

/// What a kernel demands of its modules.
struct KernelDemands {
  std::string release;
  KernelSymbols symbols = {};
  std::string enforces = {};         ///< why it loads signed modules only; empty: it loads unsigned ones
  std::optional<KeyId> signer = {};  ///< of its own modules
  TrustedKeys keys = {};
};

/// The answer for some modules.
struct Fit {
  std::vector<Error> faults;             ///< `invalid` or `denied`, each without a place
  std::vector<std::string> not_checked;  ///< "not checked: …", each once
  std::size_t compared = 0;              ///< symbols, in all modules together
  bool signatures = false;               ///< the kernel enforces signatures, and all modules have a trusted one

  /// "712 symbol checksums agree with kernel 6.1.0-50-amd64", with what was not checked
  std::string text(const std::string& release) const;
};

/// Compares symbol checksums, and adds to `fit`.
/// @param foreign  returns true for a symbol of a module that is not the kernel's own; may be empty
void check_symbols(const std::vector<ModuleRecord>& modules, const KernelDemands& kernel,
                   const std::function<bool(std::string_view)>& foreign, Fit& fit);

/// Compares signatures, if the kernel enforces them, and adds to `fit`.
void check_signatures(const std::vector<ModuleRecord>& modules, const KernelDemands& kernel, Fit& fit);

/// Compares modules of a root with what a kernel of that root demands: all of the above.
Fit fit_of(const std::vector<ModuleRecord>& modules, const Host& host, const std::string& release,
           const TrustedKeys& named);

/// Compares the modules in unpacked layers of the store with the root's kernels, before an apply switches to them.
/// @param action  the unpack action, with `staged`: `as` to the folder of that layer in the root
/// Errors: those in Fit::faults, with the modules' folder; `corrupt` a module cannot be read.
Status check_staged_modules(const Action& action, const Host& host);

/// Reads what a kernel demands, for these modules: all symbols that they import.
KernelDemands read_demands(const Host& host, const std::string& release, const std::vector<ModuleRecord>& modules,
                           const TrustedKeys& named);

/// Returns true for symbols that a module outside of /lib/modules/RELEASE/kernel exports, according to depmod's files.
std::function<bool(std::string_view)> foreign_symbols(const Host& host, const std::string& release);

}  // namespace slipway::driver
