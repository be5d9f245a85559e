// SPDX-License-Identifier: Apache-2.0
#define BOOST_DLL_USE_STD_FS  // no Boost library to load in a process that shall start quickly
#include "core/worker/plugin_library.hpp"

#include <boost/dll/shared_library.hpp>

#include "core/worker/frame.hpp"

namespace slipway::core {
namespace {

namespace load_mode = boost::dll::load_mode;

PluginAnswer defect(const std::string& what) {
  return {SLIPWAY_FAILED, to_json(Error{.code = ErrorCode::plugin_defect, .what = what})};
}

/// Takes the plugin's answer, and counts how often it answered.
struct Collector {
  std::string text;
  int answers = 0;
  bool too_long = false;

  static void write(void* context, const char* json, std::size_t length) {
    auto& self = *static_cast<Collector*>(context);
    ++self.answers;
    self.too_long = length > kMaxFrameBytes;
    self.text.assign(json == nullptr ? "" : json, json == nullptr || self.too_long ? 0 : length);
  }
};

PluginAnswer read_answer(int status, const Collector& collected) {
  if (status != SLIPWAY_OK && status != SLIPWAY_FAILED && status != SLIPWAY_UNSUPPORTED)
    return defect("ended with the unknown status " + std::to_string(status));
  if (status == SLIPWAY_UNSUPPORTED && collected.answers == 0) return {status, nullptr};
  if (collected.answers != 1) return defect("answered " + std::to_string(collected.answers) + " times instead of once");
  if (collected.too_long)
    return defect("answered with more than the " + std::to_string(kMaxFrameBytes >> 20) + " MiB of a message");
  Json value = Json::parse(collected.text, nullptr, false);
  if (value.is_discarded()) return defect("answered with what is no JSON: " + collected.text.substr(0, 80));
  return {status, std::move(value)};
}

class LoadedPlugin final : public PluginLibrary {
 public:
  LoadedPlugin(boost::dll::shared_library library, const slipway_plugin& plugin)
      : library_(std::move(library)), plugin_(plugin) {}

  PluginAnswer call(const std::string& op, const Json& request) override {
    const std::string text = canonical(request);
    Collector collected;
    const slipway_reply reply{&collected, Collector::write};
    try {
      const int status = plugin_.call(plugin_.context, op.c_str(), text.data(), text.size(), &reply);
      return read_answer(status, collected);
    } catch (const std::exception& problem) {
      return defect(std::string("let an exception out: ") + problem.what());
    } catch (...) {
      return defect("let an exception of an unknown type out");
    }
  }

 private:
  boost::dll::shared_library library_;
  slipway_plugin plugin_;
};

Error cannot_load(const std::string& path, const std::string& why) {
  return Error{.code = ErrorCode::plugin_defect,
               .what = "cannot be loaded: " + why,
               .where = path,
               .next = "rebuild the plugin for this machine, or take it out of the plugin folder"};
}

}  // namespace

Result<std::unique_ptr<PluginLibrary>> PluginLibrary::load(const std::string& path, const slipway_services* services) {
  try {
    boost::dll::shared_library library(path, load_mode::rtld_now | load_mode::rtld_local);
    if (!library.has(SLIPWAY_ENTRY)) return cannot_load(path, "it has no " SLIPWAY_ENTRY);
    slipway_plugin plugin{.size = sizeof(slipway_plugin), .context = nullptr, .call = nullptr};
    const int status = library.get<std::remove_pointer_t<slipway_plugin_open_fn>>(SLIPWAY_ENTRY)(services, &plugin);
    if (status != SLIPWAY_OK || plugin.call == nullptr)
      return cannot_load(path, SLIPWAY_ENTRY " answered " + std::to_string(status));
    return std::unique_ptr<PluginLibrary>(std::make_unique<LoadedPlugin>(std::move(library), plugin));
  } catch (const std::exception& problem) {
    return cannot_load(path, problem.what());
  } catch (...) {
    return cannot_load(path, "it threw an exception of an unknown type");
  }
}

}  // namespace slipway::core
