// SPDX-License-Identifier: Apache-2.0
#include <exception>
#include <new>
#include <vector>

#include <slipway/plugin.hpp>

#include "plugin_ops.hpp"

namespace slipway {
namespace {

/// One opened plugin, to which `slipway_plugin::context` points.
struct Opened {
  ComponentFactories factories;
  slipway_services services;
};

void reply_with(const slipway_reply& reply, const Json& value) {
  const std::string text = canonical(value);
  reply.write(reply.context, text.data(), text.size());
}

int fail(const slipway_reply& reply, const Error& error) {
  reply_with(reply, to_json(error));
  return error.code == ErrorCode::unsupported ? SLIPWAY_UNSUPPORTED : SLIPWAY_FAILED;
}

Error defect(const std::string& what) {
  return Error{.code = ErrorCode::plugin_defect,
               .what = what,
               .next = "report this to the plugin's authors; the other components are not affected"};
}

Json known_components(const ComponentFactories& factories) {
  Json all = Json::object();
  for (const auto& [name, factory] : factories) all[name] = {{"check", factory.checks}, {"apply", factory.applies}};
  return all;
}

Result<Json> answer(const Opened& opened, const std::string& op, std::string_view text) {
  const detail::Operation* const operation = detail::find_operation(op);
  if (operation == nullptr && op != "components")
    return Error{.code = ErrorCode::unsupported, .what = "this plugin does not know the operation '" + op + "'"};
  const Json request = Json::parse(text, nullptr, false);
  if (!request.is_object()) return Error{.code = ErrorCode::invalid, .what = op + " needs a JSON object"};
  if (op == "components") return known_components(opened.factories);
  const std::string name = request.value("component", "");
  const auto factory = opened.factories.find(name);
  if (factory == opened.factories.end())
    return Error{.code = ErrorCode::unsupported, .what = "this plugin has no component '" + name + "'"};
  const std::unique_ptr<Component> component = factory->second.make();
  try {
    return (*operation)(*component, request, opened.services);
  } catch (const Json::exception& problem) {
    return detail::json_misuse(problem, request);
  }
}

int call(void* context, const char* op, const char* json, std::size_t length, const slipway_reply* reply) noexcept {
  if (context == nullptr || op == nullptr || reply == nullptr || (json == nullptr && length > 0)) return SLIPWAY_FAILED;
  try {
    try {
      const Result<Json> result = answer(*static_cast<const Opened*>(context), op, {json, length});
      if (!result) return fail(*reply, result.error());
      reply_with(*reply, *result);
      return SLIPWAY_OK;
    } catch (const std::bad_alloc&) {
      return fail(*reply, defect("ran out of memory"));
    } catch (const std::exception& problem) {
      return fail(*reply, defect(std::string("threw an exception: ") + problem.what()));
    } catch (...) {
      return fail(*reply, defect("threw an exception of an unknown type"));
    }
  } catch (...) {  // even making the error failed
    return SLIPWAY_FAILED;
  }
}

}  // namespace

int open_plugin(const ComponentFactories& factories, const slipway_services* services,
                slipway_plugin* plugin) noexcept {
  if (plugin == nullptr || plugin->size < sizeof(slipway_plugin)) return SLIPWAY_FAILED;
  if (services == nullptr || services->size < sizeof(slipway_services) || services->call == nullptr)
    return SLIPWAY_FAILED;
  try {
    static std::vector<std::unique_ptr<Opened>> all;  // slipway opens a plugin once and never closes it
    all.push_back(std::make_unique<Opened>(Opened{factories, *services}));
    plugin->context = all.back().get();
    plugin->call = call;
    return SLIPWAY_OK;
  } catch (...) {
    return SLIPWAY_FAILED;
  }
}

}  // namespace slipway
