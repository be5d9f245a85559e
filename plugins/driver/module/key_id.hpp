// SPDX-License-Identifier: Apache-2.0
// plugins/driver/module/key_id.hpp - the keys of module signatures: as a signature names its key, and as a certificate
// does.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <slipway/json.hpp>
#include <slipway/result.hpp>

namespace slipway::driver {

/// A signing key. A signature names it by issuer and serial number, or by the key's id; a certificate has all of them.
struct KeyId {
  std::string name;    ///< common name: of a certificate its subject's, of a signature its issuer's
  std::string issuer;  ///< distinguished name on one line; empty: unknown
  std::string serial;  ///< small hexadecimal digits; empty: unknown
  std::string key;     ///< subject key identifier, small hexadecimal digits; empty: unknown

  /// "Debian Secure Boot CA (serial 32a0…)"
  std::string text() const;
  bool operator==(const KeyId&) const = default;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(KeyId, name, issuer, serial, key)

/// True when both name the same key by the same means.
bool is_same_key(const KeyId& one, const KeyId& other);

/// Returns the key of an uncompressed module's signature; nothing when the module is not signed. Errors: `corrupt` the
/// signature cannot be read.
Result<std::optional<KeyId>> signer_of_module(std::string_view elf);

/// Reads a certificate, DER or PEM. Errors: `invalid` it is neither.
Result<KeyId> key_of_certificate(std::string_view text);

/// Reads the file of a certificate, on the machine that slipway runs on. Errors: those above; `not_found`, `denied`.
Result<KeyId> key_of_certificate_file(const std::string& path);

/// Returns the keys of the certificates in a list of EFI signature lists (EFI_SIGNATURE_LIST), such as MokListRT's
/// value. Other kinds of entries, and everything after a broken entry, are left out.
std::vector<KeyId> keys_of_signature_lists(std::string_view lists);

}  // namespace slipway::driver
