// SPDX-License-Identifier: Apache-2.0
// plugins/driver/enroll/signing_key.hpp - a key pair that signs kernel modules: made new, or checked.
#pragma once

#include <string>
#include <string_view>

#include <slipway/result.hpp>

namespace slipway::driver {

struct SigningKey {
  std::string key;          ///< PEM, without a passphrase
  std::string certificate;  ///< DER
};

/// Makes an RSA key of 2048 bits, which every shim and kernel accepts, and its self-signed certificate. The certificate
/// is for kernel modules alone: shim accepts no boot loader or kernel that is signed by it.
/// @param name  common name of the subject
/// Errors: `io`.
Result<SigningKey> make_signing_key(const std::string& name);

/// Returns a certificate, DER or PEM, as DER. Errors: `invalid`.
Result<std::string> certificate_as_der(std::string_view text);

}  // namespace slipway::driver
