// SPDX-License-Identifier: Apache-2.0
// sdk/src/plugin/running_service.hpp - the services that run in this plugin just now, so that another thread can reach them.
#pragma once

#include <memory>
#include <stop_token>
#include <string>

#include <slipway/abi.h>

#include <slipway/service.hpp>

namespace slipway::detail {

/// Runs a component's service until it ends. Errors: the service's; `conflict` it runs already.
Status run_service(const std::string& component, Service& service, const Spec& spec, const Host& host,
                   const slipway_services& services);

/// For another thread, while run_service() is under way there. Errors: `not_found` it does not run; the service's.
Status quiesce_service(const std::string& component);
Status resume_service(const std::string& component);
Status stop_service(const std::string& component);

}  // namespace slipway::detail
