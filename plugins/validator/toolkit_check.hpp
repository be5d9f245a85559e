// SPDX-License-Identifier: Apache-2.0
// plugins/validator/toolkit_check.hpp - checks that container engines get GPUs, by CDI specs or by NVIDIA's runtime.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <slipway/host.hpp>

#include "validator/cdi_specs.hpp"
#include "validator/check.hpp"

namespace slipway::validator {

inline constexpr const char* kToolkitCheck = "validator.toolkit";

struct EngineSocket {
  const char* name;
  const char* path;
};
inline constexpr EngineSocket kCrio{"CRI-O", "/run/crio/crio.sock"};
/// Docker's socket is not among them: systemd holds it, and a connection would start Docker.
inline constexpr EngineSocket kEngineSockets[] = {
    {"containerd", "/run/containerd/containerd.sock"},
    kCrio,
    {"the containerd of K3s or RKE2", "/run/k3s/containerd/containerd.sock"},
    {"the containerd of k0s", "/run/k0s/containerd.sock"},
    {"the containerd of MicroK8s", "/var/snap/microk8s/common/run/containerd.sock"},
};

class ToolkitCheck {
 public:
  explicit ToolkitCheck(const Host& host) : host_(host), cdi_(host) {}
  /// Returns the specs that it depends on.
  const std::vector<CdiSpec>& specs() { return cdi_.read(); }
  /// Not exercised if there is neither a CDI spec nor an engine that is configured for a GPU runtime. On a running
  /// machine it fails if engines' sockets exist and none has a listener.
  Finding run();
  /// Returns the paths that the last run() depends on: specs and their files, configs and sockets of engines.
  std::vector<std::string> paths() const;

 private:
  Finding with_engine(Finding given) const;
  std::optional<Finding> check_cdi();
  std::optional<Finding> check_runtime();

  const Host& host_;
  CdiSpecs cdi_;
  std::string runtime_;  ///< the program in an engine's config
};

}  // namespace slipway::validator
