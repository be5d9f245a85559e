// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <filesystem>

#include "artifact/registry/http/http.hpp"

namespace slipway::artifact {
namespace {

constexpr std::array kFiles{
    "etc/ssl/certs/ca-certificates.crt",                 // Debian, Ubuntu, Alpine, Arch
    "etc/pki/tls/certs/ca-bundle.crt",                   // Red Hat, Fedora, Amazon Linux
    "etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",  // the same, without the old name
    "etc/ssl/ca-bundle.pem",                             // SUSE
};

}  // namespace

std::string system_ca_file(const std::string& root) {
  for (const char* name : kFiles) {
    std::error_code unknown;
    const std::filesystem::path file = std::filesystem::path(root) / name;
    if (std::filesystem::is_regular_file(file, unknown)) return file.string();
  }
  return {};
}

}  // namespace slipway::artifact
