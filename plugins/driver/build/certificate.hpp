// SPDX-License-Identifier: Apache-2.0
// plugins/driver/build/certificate.hpp - whose certificate it is, for the package's signer annotation.
#pragma once

#include <string>

#include <slipway/result.hpp>

namespace slipway::driver {

/// The common name of a certificate's subject, or the whole subject when it has none. PEM or DER.
/// Errors: `not_found`; `invalid` when it is no certificate.
Result<std::string> certificate_subject(const std::string& file);

}  // namespace slipway::driver
