// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/nri/service.cpp - `slipway service runtime`: containers get their devices through the engine's NRI.
#include <slipway/component.hpp>
#include <slipway/plugin.hpp>
#include <slipway/service.hpp>

#include "nvidia/kubelet/pod_resources.hpp"
#include "toolkit/nri/adjustment.hpp"
#include "toolkit/nri/given_devices.hpp"
#include "toolkit/nri/link.hpp"

namespace slipway::nri {
namespace {

class NriService final : public Service {
 public:
  Status run(const Spec& spec, const Host& host, const std::stop_token& stop, ServiceIo& io) override {
    const auto log = [&io](const char* level, const std::string& text) { io.log(level, text); };
    const std::string kubelet = spec.text("kubelet_root") + nvidia::kubelet::kPodResourcesBelowRoot;
    // The settings are read again for each container, as slipway-runtime does.
    const auto adjust_container = [&](const wire::CreateContainerRequest& request) {
      Devices devices = devices_below(host.root_folder());
      devices.ask_kubelet = [&](const ContainerName& name) { return ask_kubelet(host, kubelet, name); };
      return adjust(request, devices, log);
    };
    return Link(host, io, spec.text("nri_socket"), adjust_container).run(stop);
  }
  // The service does not use the driver: it reads and closes the specs for each container.
  Status quiesce() override { return {}; }
  Status resume() override { return {}; }
};

}  // namespace
}  // namespace slipway::nri

SLIPWAY_PLUGIN(slipway::component<slipway::ServiceOnly<slipway::nri::NriService>>("runtime"))
