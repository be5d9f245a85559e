// SPDX-License-Identifier: Apache-2.0
// base/http/web_config.hpp - the web-config file of Prometheus' exporters: TLS, and users with passwords.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <slipway/result.hpp>

namespace slipway::base {

/// Identifies the state of a file that was read: a later change of the file changes this.
struct FileState {
  std::string root = "/";
  std::string path;  ///< inside that root
  bool present = false;
  std::uint64_t inode = 0;
  std::int64_t size = 0;         ///< bytes
  std::int64_t modified_ns = 0;  ///< since 1970
  std::int64_t changed_ns = 0;   ///< of the inode; also changes when the modification time is set back
  bool operator==(const FileState&) const = default;
};

/// How clients have to show a certificate (client_auth_type).
enum class ClientAuth {
  none,      ///< NoClientCert
  if_given,  ///< VerifyClientCertIfGiven: one that is shown must be valid
  required   ///< RequireAndVerifyClientCert
};

struct WebConfig {
  std::string certificate;  ///< PEM; empty: no TLS
  std::string key;          ///< PEM
  bool only_tls13 = false;  ///< otherwise also TLS 1.2
  bool only_tls12 = false;  ///< max_version
  ClientAuth client_auth = ClientAuth::none;
  std::string client_ca;                       ///< PEM: the CA that signs the clients' certificates
  std::map<std::string, std::string> headers;  ///< for every answer
  std::map<std::string, std::string> users;    ///< name to bcrypt hash; empty: every client is answered
  std::vector<FileState> files;                ///< the files that were read, in their state before reading
  /// True when any of the files has changed since it was read.
  bool changed() const;
};

/// Reads tls_server_config (cert_file, key_file, cert, key, min_version, max_version, client_auth_type,
/// client_ca_file), http_server_config (headers; http2, which must be false) and basic_auth_users; relative paths are
/// relative to the file. Errors: `invalid` with file:line:column and the key: an unknown or duplicate key, a hash that
/// is not bcrypt or costs more than 2^12 rounds, more users than supported; `not_found`, `denied` and similar for an
/// unreadable file; also `denied` for a file that another user could have written, and for a file with a private key
/// that every user may read.
///
/// @param root  the folder used as "/" for the path and for those in the file; no link in it leads out of it
Result<WebConfig> read_web_config(const std::string& path, const std::string& root = "/");
/// The same with a function that reads each path; changes are not detected then. `has_secret`: the file contains a
/// private key.
Result<WebConfig> read_web_config(
    const std::string& path, const std::function<Result<std::string>(const std::string& path, bool has_secret)>& read);

}  // namespace slipway::base
