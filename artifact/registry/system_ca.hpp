// SPDX-License-Identifier: Apache-2.0
// artifact/registry/system_ca.hpp - where a distribution keeps the certificate authorities that it trusts.
#pragma once

#include <string>

namespace slipway::artifact {

/// The first that is there, as a path of `root`; empty when none is. The library's own choice is that of the
/// distribution which it was built on, so that it fails on others.
std::string system_ca_file(const std::string& root);

}  // namespace slipway::artifact
