// SPDX-License-Identifier: Apache-2.0
// plugins/validator/toolkit_check.hpp - do container engines get GPUs? By CDI specs, or by NVIDIA's runtime; and does a
// container that one of them starts get them?
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
/// Not Docker's, which systemd holds: a look would start it.
inline constexpr EngineSocket kEngineSockets[] = {
    {"containerd", "/run/containerd/containerd.sock"},
    {"CRI-O", "/run/crio/crio.sock"},
    {"the containerd of K3s or RKE2", "/run/k3s/containerd/containerd.sock"},
    {"the containerd of k0s", "/run/k0s/containerd.sock"},
    {"the containerd of MicroK8s", "/var/snap/microk8s/common/run/containerd.sock"},
};

class ToolkitCheck {
 public:
  explicit ToolkitCheck(const Host& host) : host_(host), cdi_(host) {}
  /// What it goes by.
  const std::vector<CdiSpec>& specs() { return cdi_.read(); }
  /// Not exercised where there is neither a CDI spec nor an engine that is set up for a GPU runtime. On a running
  /// machine it fails where the socket of an engine is there and nobody answers.
  Finding run();

 private:
  Finding with_engine(Finding given) const;
  std::optional<Finding> check_cdi();
  std::optional<Finding> check_runtime() const;

  const Host& host_;
  CdiSpecs cdi_;
};

inline constexpr const char* kContainerCheck = "validator.container";
inline constexpr const char* kContainerProbe = "validator-container-probe";

/// Starts a container with the device `all` of the CDI specs, by podman, or by the containerd that listens at its usual
/// socket and knows CDI (1.7 or newer). Its root is a folder with nothing but `probe` in it, so that no image is
/// needed; the program opens each node of the GPUs for reading and writing. Both are gone afterwards, and a container
/// that does not end in time is killed and removed.
///
/// Not exercised where no such engine is there, naming the others, the root is not running, or no spec has GPUs.
/// @param probe  host path of the program (kContainerProbe), which needs no library
Finding check_container(const Host& host, const std::vector<CdiSpec>& specs, const std::string& probe);

}  // namespace slipway::validator
