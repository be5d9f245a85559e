// SPDX-License-Identifier: Apache-2.0
// The C entry of slipway-artifact.so: takes and returns JSON texts, throws nothing.
#include <exception>
#include <string>

#include <slipway/abi.h>

#include <slipway/json.hpp>
#include <slipway/result.hpp>

#include "artifact/confine.hpp"
#include "artifact/oci/artifact.hpp"
#include "artifact/operations.hpp"

namespace slipway::artifact {
namespace {

void ignore_reply(void*, const char*, std::size_t) {}

/// Sends a message to slipway; ignores the answer.
void tell(const slipway_services& services, const char* op, const Json& message) {
  if (services.call == nullptr) return;
  const std::string text = canonical(message);
  const slipway_reply nowhere{nullptr, ignore_reply};
  services.call(services.context, op, text.data(), text.size(), &nowhere);
}

Reporter reporter_of(const slipway_services& services) {
  return Reporter{.log =
                      [&services](const std::string& level, const std::string& text) {
                        tell(services, "log", {{"level", level}, {"text", text}});
                      },
                  .progress =
                      [&services](const std::string& label, std::uint64_t done, std::uint64_t total) {
                        tell(services, "progress", {{"label", label}, {"done", done}, {"total", total}});
                      }};
}

void reply_with(const slipway_reply& reply, const Json& value) {
  const std::string text = canonical(value);
  reply.write(reply.context, text.data(), text.size());
}

/// `context` is the plugin's own copy of the services.
int call(void* context, const char* op, const char* json, std::size_t length, const slipway_reply* reply) noexcept {
  try {
    const bool confines = std::string_view(op) == "confine";
    if (!confines && !is_operation(op)) return SLIPWAY_UNSUPPORTED;
    const auto& services = *static_cast<const slipway_services*>(context);
    const Json request = Json::parse(json, json + length);
    const Result<Json> result = confines ? confine(request) : answer(op, request, reporter_of(services));
    reply_with(*reply, result ? *result : to_json(result.error()));
    return result ? SLIPWAY_OK : SLIPWAY_FAILED;
  } catch (const std::exception& problem) {
    const Error error{.what = std::string("the artifact worker failed at ") + op + ": " + problem.what()};
    reply_with(*reply, to_json(error));
    return SLIPWAY_FAILED;
  }
}

}  // namespace
}  // namespace slipway::artifact

extern "C" __attribute__((visibility("default"))) int slipway_plugin_open(const slipway_services* services,
                                                                          slipway_plugin* plugin) noexcept {
  static slipway_services known{};  // one plugin per worker process
  if (plugin == nullptr || plugin->size < sizeof(slipway_plugin)) return SLIPWAY_FAILED;
  if (services != nullptr && services->size >= sizeof(slipway_services)) known = *services;
  plugin->context = &known;
  plugin->call = slipway::artifact::call;
  return SLIPWAY_OK;
}
