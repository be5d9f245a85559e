// SPDX-License-Identifier: Apache-2.0
#include "core/worker/frame.hpp"
#include "core/worker/serve/plugin_library.hpp"

namespace slipway::core {
namespace {

PluginAnswer defect(const std::string& what) {
  return {SLIPWAY_FAILED, to_json(Error{.code = ErrorCode::plugin_defect, .what = what})};
}

/// Collects the plugin's answer, and counts its answers.
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
    return defect("answered with more than the " + std::to_string(kMaxFrameBytes >> 20) +
                  " MiB that a message may have");
  Json value = Json::parse(collected.text, nullptr, false);
  if (value.is_discarded()) return defect("answered with invalid JSON: " + collected.text.substr(0, 80));
  return {status, std::move(value)};
}

}  // namespace

PluginAnswer call_plugin(const slipway_plugin& plugin, const std::string& op, const Json& request) {
  const std::string text = canonical(request);
  Collector collected;
  const slipway_reply reply{&collected, Collector::write};
  try {
    const int status = plugin.call(plugin.context, op.c_str(), text.data(), text.size(), &reply);
    return read_answer(status, collected);
  } catch (const std::exception& problem) {
    return defect(std::string("let an exception escape: ") + problem.what());
  } catch (...) {
    return defect("let an exception of an unknown type escape");
  }
}

Result<slipway_plugin> open_entry(slipway_plugin_open_fn entry, const slipway_services* services) {
  slipway_plugin plugin{.size = sizeof(slipway_plugin), .context = nullptr, .call = nullptr};
  const int status = entry(services, &plugin);
  if (status == SLIPWAY_OK && plugin.call != nullptr) return plugin;
  return Error{.code = ErrorCode::plugin_defect, .what = SLIPWAY_ENTRY " answered " + std::to_string(status)};
}

}  // namespace slipway::core
