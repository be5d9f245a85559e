// SPDX-License-Identifier: Apache-2.0
// plugins/driver/detect/kernel_config.hpp - the parts of a kernel's configuration and headers that matter for building
// modules, and the generator of its initramfs.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <slipway/host.hpp>
#include <slipway/json.hpp>

namespace slipway::driver {

/// Returns the value of `name` in a kernel's .config: "y", "m", a number, a text without its quotes; empty when it is
/// not set.
std::string config_value(std::string_view config, std::string_view name);

/// Returns the compiler's program in CONFIG_CC_VERSION_TEXT: "gcc-12 (Debian 12.2.0-14) 12.2.0" gives "gcc-12".
std::string compiler_program(std::string_view version_text);

/// The headers of one kernel, for building modules.
struct KernelHeaders {
  std::string path;      ///< where /lib/modules/REL/build leads
  std::string compiler;  ///< CONFIG_CC_VERSION_TEXT
  bool preempt_rt = false;
  Json identity;  ///< everything that a compiled module depends on: compiler text, digests of .config and
                  ///< Module.symvers
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(KernelHeaders, path, compiler, preempt_rt, identity)

/// Empty when the headers are not installed or incomplete (no .config or Makefile).
std::optional<KernelHeaders> read_kernel_headers(const Host& host, const std::string& release);

/// Returns the path of a program in a root; empty when it is missing.
std::string find_program(const Host& root, const std::string& name);

/// Returns the compression of that kernel's own modules: "", "xz", "zstd" or "gz"; the root's kmod can surely read it.
std::string module_compression(const Host& host, const std::string& release);

/// Returns the path of the first module, by name, below /lib/modules/RELEASE/kernel; empty if there are no modules.
std::string first_own_module(const Host& host, const std::string& release);

/// Returns the EFI variable SecureBoot; empty without EFI or a kernel's view.
std::optional<bool> secure_boot(const Host& host);

struct Initramfs {
  std::string tool;               ///< "initramfs-tools", "dracut", "mkinitcpio"; empty: none
  bool may_hold_nouveau = false;  ///< or nova_core: then the initramfs needs the blacklist too
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Initramfs, tool, may_hold_nouveau)

Initramfs read_initramfs(const Host& host, const std::string& kernel_release);

}  // namespace slipway::driver
