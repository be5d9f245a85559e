// SPDX-License-Identifier: Apache-2.0
#include "plugin_ops.hpp"

#include <map>

#include <slipway/commands.hpp>
#include <slipway/importer.hpp>
#include <slipway/local_host.hpp>

#include "src/text/read.hpp"

/// Made by slipway_add_plugin() from the manifest: {COMPONENT: {"keys": [names], "defaults": {…}}}; null without it.
extern "C" __attribute__((weak, visibility("hidden"))) const char slipway_manifest[];  // NOLINT(*-naming): a symbol

namespace slipway::detail {
namespace {

Json object_at(const Json& request, std::string_view name) {
  const Json* value = member(request, name);
  return value != nullptr && value->is_object() ? *value : Json::object();
}

Spec spec_of(const Json& request) {
  static const Json known = slipway_manifest != nullptr ? Json::parse(slipway_manifest, nullptr, false) : Json();
  const Json* const component = member(known, text_at(request, "component"));
  if (component == nullptr) return Spec(object_at(request, "spec"));
  return {object_at(request, "spec"), texts_or_none(member(*component, "keys"))};
}

Result<std::unique_ptr<Host>> host_of(const Json& request) {
  return open_host(host_config_from_json(object_at(request, "host")));
}

Error not_offered(const std::string& what) { return Error{.code = ErrorCode::unsupported, .what = what}; }

Result<Json> detect(Component& component, const Json& request, const slipway_services&) {
  SLIPWAY_TRY(host, host_of(request));
  SLIPWAY_TRY(facts, component.detect(spec_of(request), *host));
  return to_json(facts);
}

Result<Json> plan(Component& component, const Json& request, const slipway_services&) {
  SLIPWAY_TRY(facts, facts_from_json(object_at(request, "facts")));
  SLIPWAY_TRY(plan, component.plan(spec_of(request), facts, Inputs(object_at(request, "inputs"))));
  return to_json(plan);
}

Result<Json> verify(Component& component, const Json& request, const slipway_services&) {
  SLIPWAY_TRY(host, host_of(request));
  SLIPWAY_TRY(findings, component.verify(spec_of(request), *host));
  return to_json(findings);
}

Result<Json> diagnose(Component& component, const Json& request, const slipway_services&) {
  SLIPWAY_TRY(host, host_of(request));
  SLIPWAY_TRY(findings, component.diagnose(spec_of(request), *host));
  return to_json(findings);
}

Result<Json> check(Component& component, const Json& request, const slipway_services&) {
  SLIPWAY_TRY(host, host_of(request));
  SLIPWAY_TRY(holds, component.check(Action(object_at(request, "action")), *host));
  return Json(static_cast<bool>(holds));
}

Result<Json> preflight(Component& component, const Json& request, const slipway_services&) {
  SLIPWAY_TRY(host, host_of(request));
  SLIPWAY_TRY(outcome, component.preflight(Action(object_at(request, "action")), *host));
  return to_json(outcome);
}

Result<Json> apply(Component& component, const Json& request, const slipway_services&) {
  SLIPWAY_TRY(host, host_of(request));
  SLIPWAY_TRY(outcome, component.apply(Action(object_at(request, "action")), *host));
  return to_json(outcome);
}

Result<Json> tools(Component& component, const Json&, const slipway_services&) {
  const Commands* const commands = component.commands();
  return tools_to_json(commands == nullptr ? std::vector<ToolInfo>() : commands->list());
}

Result<Json> tool(Component& component, const Json& request, const slipway_services& services) {
  const Commands* const commands = component.commands();
  if (commands == nullptr) return not_offered("this component has no tools");
  const std::string name = text_at(request, "tool");
  ServiceToolIo io(services);
  SLIPWAY_TRY(host, host_of(request));
  SLIPWAY_TRY(status, commands->run(name, words_from_json(request), *host, io));
  if (status < 0 || status > 255)
    return Error{.code = ErrorCode::plugin_defect,
                 .what = "ended the tool '" + name + "' with status " + std::to_string(status) + ", not 0 to 255"};
  return Json{{"exit", status}};
}

Result<Json> import(Component& component, const Json& request, const slipway_services&) {
  const Importer* const importer = component.importer();
  if (importer == nullptr) return not_offered("this component imports nothing");
  const Json document = object_at(request, "document");
  SLIPWAY_TRY(section, importer->import(text_at(document, "apiVersion"), text_at(document, "kind"), document));
  return Json{{"spec", section.spec}, {"warnings", section.warnings}};
}

Result<Json> service(Component& component, const Json& request, const slipway_services& services) {
  Service* const service = component.service();
  if (service == nullptr) return not_offered("this component has no service");
  SLIPWAY_TRY(host, host_of(request));
  AliveEvery alive_every;
  if (const auto asked = request.find("alive_ms"); asked != request.end() && asked->is_number_unsigned())
    alive_every = std::chrono::milliseconds(asked->get<std::uint32_t>());
  SLIPWAY_CHECK(run_service(text_at(request, "component"), *service, spec_of(request), *host, alive_every, services));
  return Json(nullptr);
}

Result<Json> service_quiesce(Component&, const Json& request, const slipway_services&) {
  SLIPWAY_CHECK(quiesce_service(text_at(request, "component")));
  return Json(nullptr);
}

Result<Json> service_resume(Component&, const Json& request, const slipway_services&) {
  SLIPWAY_CHECK(resume_service(text_at(request, "component")));
  return Json(nullptr);
}

Result<Json> service_stop(Component&, const Json& request, const slipway_services&) {
  const auto again = request.find("again");
  SLIPWAY_CHECK(stop_service(text_at(request, "component"), again != request.end() && *again == true));
  return Json(nullptr);
}

}  // namespace

const Operation* find_operation(const std::string& name) {
  static const std::map<std::string, Operation> all{{"detect", detect},
                                                    {"plan", plan},
                                                    {"verify", verify},
                                                    {"diagnose", diagnose},
                                                    {"check", check},
                                                    {"preflight", preflight},
                                                    {"apply", apply},
                                                    {"tools", tools},
                                                    {"tool", tool},
                                                    {"import", import},
                                                    {"service", service},
                                                    {"service.quiesce", service_quiesce},
                                                    {"service.resume", service_resume},
                                                    {"service.stop", service_stop}};
  const auto found = all.find(name);
  return found == all.end() ? nullptr : &found->second;
}

}  // namespace slipway::detail
