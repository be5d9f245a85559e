// SPDX-License-Identifier: Apache-2.0
#include "mig/component/nvml_session.hpp"

#include "mig/device/read.hpp"

namespace slipway::mig {
namespace {

std::shared_ptr<nvidia::nvml::Nvml>& of_apply() {
  static std::shared_ptr<nvidia::nvml::Nvml> nvml;
  return nvml;
}

}  // namespace

Result<NvmlSession> NvmlSession::open(const Host& host, const std::string& driver_root) {
  if (of_apply() && of_apply()->is_open()) return NvmlSession(of_apply());
  SLIPWAY_TRY(nvml, open_nvml(host, driver_root));
  return NvmlSession(std::move(nvml));
}

Result<NvmlSession> NvmlSession::open_for_apply(const Host& host, const std::string& driver_root) {
  if (!of_apply() || !of_apply()->is_open()) {
    SLIPWAY_TRY(nvml, open_nvml(host, driver_root, kChangeLimit));
    of_apply() = std::move(nvml);
  }
  return NvmlSession(of_apply());
}

}  // namespace slipway::mig
