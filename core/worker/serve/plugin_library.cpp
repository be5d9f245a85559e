// SPDX-License-Identifier: Apache-2.0
#define BOOST_DLL_USE_STD_FS  // no Boost library to load in a process that must start quickly
#include "core/worker/serve/plugin_library.hpp"

#include <boost/dll/shared_library.hpp>

namespace slipway::core {
namespace {

namespace load_mode = boost::dll::load_mode;

class LoadedPlugin final : public PluginLibrary {
 public:
  LoadedPlugin(boost::dll::shared_library library, const slipway_plugin& plugin)
      : library_(std::move(library)), plugin_(plugin) {}

  PluginAnswer call(const std::string& op, const Json& request) override { return call_plugin(plugin_, op, request); }

 private:
  boost::dll::shared_library library_;
  slipway_plugin plugin_;
};

Error cannot_load(const std::string& path, const std::string& why) {
  return Error{.code = ErrorCode::plugin_defect,
               .what = "cannot be loaded: " + why,
               .where = path,
               .next = "rebuild the plugin for this machine, or remove it from the plugin folder"};
}

}  // namespace

Result<std::unique_ptr<PluginLibrary>> PluginLibrary::load(const std::string& path, const slipway_services* services) {
  try {
    boost::dll::shared_library library(path, load_mode::rtld_now | load_mode::rtld_local);
    if (!library.has(SLIPWAY_ENTRY)) return cannot_load(path, "it has no " SLIPWAY_ENTRY);
    const auto plugin = open_entry(library.get<std::remove_pointer_t<slipway_plugin_open_fn>>(SLIPWAY_ENTRY), services);
    if (!plugin) return cannot_load(path, plugin.error().what);
    return std::unique_ptr<PluginLibrary>(std::make_unique<LoadedPlugin>(std::move(library), *plugin));
  } catch (const std::exception& problem) {
    return cannot_load(path, problem.what());
  } catch (...) {
    return cannot_load(path, "it threw an exception of an unknown type");
  }
}

}  // namespace slipway::core
