// SPDX-License-Identifier: Apache-2.0
// sdk/slipway/plugin.hpp - turns Component classes into a plugin: the C entry behind SLIPWAY_PLUGIN.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include <slipway/abi.h>

#include <slipway/component.hpp>

namespace slipway {

/// Makes the components of a plugin by their manifest names.
using ComponentFactories = std::map<std::string, std::function<std::unique_ptr<Component>()>>;

/// Answers slipway_plugin_open() for these components. Exceptions end here, as errors of code `plugin_defect`.
int open_plugin(const ComponentFactories& factories, const slipway_services* services, slipway_plugin* plugin) noexcept;

template <class T>
std::pair<const std::string, std::function<std::unique_ptr<Component>()>> component(std::string name) {
  return {std::move(name), [] { return std::make_unique<T>(); }};
}

}  // namespace slipway

/// Once per plugin: `SLIPWAY_PLUGIN(slipway::component<Driver>("driver"))`. The manifest goes in by CMake.
#define SLIPWAY_PLUGIN(...)                                                                                    \
  extern "C" __attribute__((visibility("default"))) int slipway_plugin_open(const slipway_services* services,  \
                                                                            slipway_plugin* plugin) noexcept { \
    return ::slipway::open_plugin(::slipway::ComponentFactories{__VA_ARGS__}, services, plugin);               \
  }
