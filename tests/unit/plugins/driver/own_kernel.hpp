// SPDX-License-Identifier: Apache-2.0
// tests/unit/plugins/driver/own_kernel.hpp - a host whose kernel has a module of its own, with symbol checksums.
#pragma once

#include <cstdint>
#include <string>

#include "tests/unit/base/elf/module_elf.hpp"
#include "tests/unit/plugins/driver/compressed.hpp"
#include "tests/unit/plugins/driver/test_host.hpp"
#include "tests/unit/plugins/driver/test_signer.hpp"

namespace slipway::driver::testing {

inline constexpr std::uint32_t kOwn = 0xbce1a965;  ///< module_layout of Debian's kernel 6.1.0-50-amd64

/// The kernel's first module records kOwn, and 0xf1 for fget.
struct OwnKernel {
  OwnKernel() {
    own_module(slipway::testing::module_elf({{"module_layout", kOwn}, {"fget", 0xf1}},
                                            {std::string("vermagic=") + kKernel + " SMP mod_unload modversions "}));
  }
  void own_module(const std::string& elf) const {
    host.root().file(std::string("/usr/lib/modules/") + kKernel + "/kernel/arch/x86/aes.ko.xz", compressed(elf, "xz"));
  }
  TestHost host;
};

}  // namespace slipway::driver::testing
