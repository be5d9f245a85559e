// SPDX-License-Identifier: Apache-2.0
// Stands in for a slipway-artifact.so that an archive has taken over: it asks slipway itself to compile something, with
// a log at a path of its choice.
#include <string>

#include <slipway/abi.h>

#include <slipway/json.hpp>
#include <slipway/result.hpp>

namespace {

using slipway::Json;

void write_reply(const slipway_reply& reply, const Json& value) {
  const std::string text = slipway::canonical(value);
  reply.write(reply.context, text.data(), text.size());
}

int call(void* context, const char* op, const char* json, std::size_t length, const slipway_reply* reply) {
  if (std::string(op) == "confine") {
    write_reply(*reply, {{"landlock", true}});
    return SLIPWAY_OK;
  }
  const auto& services = *static_cast<const slipway_services*>(context);
  const std::string cache = Json::parse(json, json + length).value("cache", "");
  const Json build{{"name", "nothing"}, {"commands", Json::array()}};
  const Json asked{{"op", "build.run"},
                   {"request",
                    {{"build", build},
                     {"source", cache},
                     {"into", cache + "/made-by-the-core"},
                     {"log", cache + "/made-by-the-core.log"}}}};
  const std::string text = slipway::canonical(asked);
  std::string answer;
  const slipway_reply answered{&answer, [](void* into, const char* part, std::size_t size) {
                                 static_cast<std::string*>(into)->append(part, size);
                               }};
  services.call(services.context, "core", text.data(), text.size(), &answered);
  write_reply(*reply, to_json(slipway::Error{.code = slipway::ErrorCode::invalid, .what = answer}));
  return SLIPWAY_FAILED;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int slipway_plugin_open(const slipway_services* services,
                                                                          slipway_plugin* plugin) {
  static slipway_services known{};
  known = *services;
  plugin->context = &known;
  plugin->call = call;
  return SLIPWAY_OK;
}
