// SPDX-License-Identifier: Apache-2.0
// tests/component/service/beside.cpp - the service of the component that plans in another library.
#include <slipway/component.hpp>
#include <slipway/plugin.hpp>
#include <slipway/service.hpp>

#include "ticking.hpp"

namespace slipway::ticker {

class Neighbour final : public ServiceOnly {
 public:
  Service* service() override { return &service_; }

 private:
  Ticking service_;
};

}  // namespace slipway::ticker

SLIPWAY_PLUGIN(slipway::component<slipway::ticker::Neighbour>("neighbour"))
