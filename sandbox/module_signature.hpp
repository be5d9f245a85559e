// SPDX-License-Identifier: Apache-2.0
// sandbox/module_signature.hpp - signs kernel modules like the kernel's sign-file, in slipway's own process: no program
// of the compiling root ever sees the key.
#pragma once

#include <memory>
#include <string>

#include <slipway/result.hpp>

namespace slipway::sandbox {

/// A private key and its certificate, whose public half the kernel trusts.
class ModuleSigner {
 public:
  /// @param key          PEM, without a pass phrase
  /// @param certificate  PEM or DER
  /// Errors: `not_found`, `denied`, `io`; `invalid` for a file that is not a regular file, key or certificate, and for
  /// a certificate of another key; `unsupported` for a key in a token.
  static Result<ModuleSigner> open(const std::string& key, const std::string& certificate);
  ModuleSigner(ModuleSigner&&) noexcept;
  ~ModuleSigner();

  /// Returns the data to append to the module: a detached PKCS#7 signature of all bytes from the descriptor's position
  /// on, its description (struct module_signature) and the final mark. With an RSA key, equal modules get equal
  /// signatures.
  /// @param digest  CONFIG_MODULE_SIG_HASH of the kernel: "sha256"
  /// @param name    the module's name, for messages
  /// Errors: `unsupported` for a digest that no kernel uses; `io`.
  Result<std::string> signature_of(int module, const std::string& digest, const std::string& name) const;

 private:
  struct Pair;
  explicit ModuleSigner(std::unique_ptr<Pair> pair);
  std::unique_ptr<Pair> pair_;
};

}  // namespace slipway::sandbox
