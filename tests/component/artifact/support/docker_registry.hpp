// SPDX-License-Identifier: Apache-2.0
// tests/component/artifact/support/docker_registry.hpp - Debian's docker-registry on loopback, plain or with TLS and a
// login.
#pragma once

#include <memory>
#include <string>

#include "tests/component/artifact/support/program.hpp"
#include "tests/unit/artifact/support/temp_dir.hpp"

namespace slipway::artifact::test {

class DockerRegistry {
 public:
  struct Options {
    bool tls = false;    ///< use a certificate of its own CA
    bool login = false;  ///< user "slipway", password "geheim"
  };
  explicit DockerRegistry(Options options);
  DockerRegistry() : DockerRegistry(Options{}) {}

  std::string authority() const { return "127.0.0.1:" + std::to_string(port_); }
  std::string repository(const std::string& name) const { return "oci://" + authority() + "/" + name; }
  std::string ca_file() const { return dir_ / "ca.pem"; }
  /// A docker config.json with the login.
  std::string auth_file() const { return dir_ / "auth.json"; }
  /// Options for skopeo, `side` being "src" or "dest" for copying and empty for inspecting.
  std::string skopeo_options(const std::string& side) const;

 private:
  void make_certificate() const;
  std::string config() const;
  void wait_until_up() const;

  Options options_;
  TempDir dir_;
  int port_;
  std::unique_ptr<Background> process_;
};

}  // namespace slipway::artifact::test
