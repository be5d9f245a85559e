// SPDX-License-Identifier: Apache-2.0
// sdk/http/slipway/http/web_config.hpp - the web-config file of Prometheus' exporters: TLS, and users with passwords.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <slipway/result.hpp>

namespace slipway {

struct WebConfig {
  std::string certificate;                   ///< PEM; empty: no TLS
  std::string key;                           ///< PEM
  bool only_tls13 = false;                   ///< else TLS 1.2 as well
  std::map<std::string, std::string> users;  ///< name to bcrypt hash; empty: whoever asks is answered
  std::vector<std::string> files;            ///< that it was read from
};

/// Takes tls_server_config (cert_file, key_file, min_version) and basic_auth_users; relative paths are relative to the
/// file. Errors: `invalid` with file:line:column and the key: an unknown or doubled key, a hash that is not bcrypt or
/// costs more than 2^14 rounds; `not_found`, `denied` and the like for a file that cannot be read.
Result<WebConfig> read_web_config(const std::string& path);

}  // namespace slipway
