// SPDX-License-Identifier: Apache-2.0
// base/http/web_config.hpp - the web-config file of Prometheus' exporters: TLS, and users with passwords.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <slipway/result.hpp>

namespace slipway {

/// Which state of a file was read: whoever changes it later changes this.
struct FileState {
  std::string root = "/";
  std::string path;  ///< in that root
  bool present = false;
  std::uint64_t inode = 0;
  std::int64_t size = 0;         ///< bytes
  std::int64_t modified_ns = 0;  ///< since 1970
  std::int64_t changed_ns = 0;   ///< the inode, also by who sets the former back
  bool operator==(const FileState&) const = default;
};

/// Whether clients show a certificate (client_auth_type).
enum class ClientAuth {
  none,      ///< NoClientCert
  if_given,  ///< VerifyClientCertIfGiven: one that is shown has to be right
  required   ///< RequireAndVerifyClientCert
};

struct WebConfig {
  std::string certificate;  ///< PEM; empty: no TLS
  std::string key;          ///< PEM
  bool only_tls13 = false;  ///< else TLS 1.2 as well
  bool only_tls12 = false;  ///< max_version
  ClientAuth client_auth = ClientAuth::none;
  std::string client_ca;                       ///< PEM: who signs the clients' certificates
  std::map<std::string, std::string> headers;  ///< of every answer
  std::map<std::string, std::string> users;    ///< name to bcrypt hash; empty: whoever asks is answered
  std::vector<FileState> files;                ///< that it was read from, as they were before they were read
  /// Any of the files is another one now than the one that was read.
  bool changed() const;
};

/// Takes tls_server_config (cert_file, key_file, cert, key, min_version, max_version, client_auth_type,
/// client_ca_file), http_server_config (headers; http2, which has to be false) and basic_auth_users; relative paths are
/// relative to the file. Errors: `invalid` with file:line:column and the key: an unknown or doubled key, a hash that is
/// not bcrypt or costs more than 2^12 rounds, more values than users can be; `not_found`, `denied` and the like for a
/// file that cannot be read; `denied` as well for one that somebody else could have written, and for one with a private
/// key that everybody may read.
///
/// @param root  the folder that is "/" for the path and for those in the file; no link in it leads out of it
Result<WebConfig> read_web_config(const std::string& path, const std::string& root = "/");
/// The same by a reader, which decides what becomes of each path; nothing is known of changes then. `has_secret`: there
/// is a private key in that file.
Result<WebConfig> read_web_config(
    const std::string& path, const std::function<Result<std::string>(const std::string& path, bool has_secret)>& read);

}  // namespace slipway
