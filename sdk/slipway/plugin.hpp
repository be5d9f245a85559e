// SPDX-License-Identifier: Apache-2.0
// sdk/slipway/plugin.hpp - turns Component classes into a plugin: the C entry behind SLIPWAY_PLUGIN.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <type_traits>

#include <slipway/abi.h>

#include <slipway/component.hpp>

namespace slipway {

/// Makes a component, and knows which functions its class has.
struct ComponentFactory {
  std::function<std::unique_ptr<Component>()> make;
  bool checks = true;   ///< it has its own check() for custom actions
  bool applies = true;  ///< and an apply()
};

/// Makes the components of a plugin by their manifest names.
using ComponentFactories = std::map<std::string, ComponentFactory>;

/// Answers slipway_plugin_open() for these components. Exceptions end here, as errors of code `plugin_defect`.
int open_plugin(const ComponentFactories& factories, const slipway_services* services, slipway_plugin* plugin) noexcept;

template <class T>
std::pair<const std::string, ComponentFactory> component(std::string name) {
  ComponentFactory factory{[] { return std::make_unique<T>(); }};
  if constexpr (requires { &T::check; })  // a class with a private check() has one
    factory.checks = !std::is_same_v<decltype(&T::check), decltype(&Component::check)>;
  if constexpr (requires { &T::apply; })
    factory.applies = !std::is_same_v<decltype(&T::apply), decltype(&Component::apply)>;
  return {std::move(name), std::move(factory)};
}

}  // namespace slipway

/// Once per plugin: `SLIPWAY_PLUGIN(slipway::component<Driver>("driver"))`. CMake adds the manifest.
#define SLIPWAY_PLUGIN(...)                                                                                    \
  extern "C" __attribute__((visibility("default"))) int slipway_plugin_open(const slipway_services* services,  \
                                                                            slipway_plugin* plugin) noexcept { \
    return ::slipway::open_plugin(::slipway::ComponentFactories{__VA_ARGS__}, services, plugin);               \
  }
