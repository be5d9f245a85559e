// SPDX-License-Identifier: Apache-2.0
// NAME-service PLUGIN PARENT-PID: a worker linked with its plugin, for a service that would otherwise have to load
// large libraries (docs/manifest.md).
#include <malloc.h>

#include "core/worker/serve/plugin_library.hpp"
#include "core/worker/serve/serve.hpp"

extern "C" int slipway_plugin_open(const slipway_services* services, slipway_plugin* plugin);

namespace slipway::core {
namespace {

class LinkedPlugin final : public PluginLibrary {
 public:
  explicit LinkedPlugin(const slipway_plugin& plugin) : plugin_(plugin) {}
  PluginAnswer call(const std::string& op, const Json& request) override { return call_plugin(plugin_, op, request); }

 private:
  slipway_plugin plugin_;
};

Result<std::unique_ptr<PluginLibrary>> open_linked(const slipway_services* services) {
  SLIPWAY_TRY(plugin, open_entry(slipway_plugin_open, services));
  return std::unique_ptr<PluginLibrary>(std::make_unique<LinkedPlugin>(plugin));
}

}  // namespace
}  // namespace slipway::core

int main(int count, char** arguments) {
  // A service has many threads that are mostly idle: a memory arena for each costs more than waiting for a shared one.
  mallopt(M_ARENA_MAX, 1);
  return slipway::core::serve_as_worker(count, arguments, slipway::core::open_linked);
}
