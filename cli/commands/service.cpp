// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include <slipway/text.hpp>

#include "cli/command.hpp"
#include "core/loader/service_device.hpp"
#include "core/service/service_ui.hpp"
#include "core/service/supervisor.hpp"

namespace slipway::cli {
namespace {

/// Checks that the component has a service: some have one only with certain values of its keys.
Status expect_service(const core::Manifest& manifest, const Json& section) {
  if (core::has_service(manifest, section)) return {};
  const auto shown = [](const auto& entry) { return entry.first + ": " + entry.second; };
  return Error{ErrorCode::unsupported,
               manifest.component + " has a service only with " + joined(manifest.service_if, ", ", shown),
               "spec.components." + manifest.component,
               "set that key in the spec, or do not start the service",
               {}};
}

/// Returns the section and the other data of the service: from the spec, or with --boot from the file of the apply that
/// made the unit.
Result<Json> read_config(core::Session& session, const Options& options, const std::string& component) {
  if (options.boot) {
    SLIPWAY_TRY(left, core::read_service_file(session, component));
    if (left.contains("hardware") && left["hardware"] == "assume") session.set_hardware("assume");
    return left;
  }
  SLIPWAY_TRY(loaded, load_spec(session, options));
  const auto found = loaded.spec.components.find(component);
  if (found != loaded.spec.components.end()) return Json{{"spec", found->second}};
  return Error{ErrorCode::usage,
               "the spec has no component " + component,
               options.spec,
               "add `" + component + ": {}` to its components",
               {}};
}

/// systemd skips a unit whose condition fails, without a message. So an error counts as a present device: the service
/// starts, and reports the error.
bool may_start(const Options& options, TerminalUi& ui) {
  const auto session = open_session(options, ui);
  if (!session) return true;
  const auto left = core::read_service_file(**session, options.arguments.front());
  return !left || core::has_device(*left, "/sys");
}

}  // namespace

Result<int> run_service(const Options& options, TerminalUi& ui) {
  const std::string& component = options.arguments.front();
  if (options.condition) return may_start(options, ui) ? core::kExitDone : core::kExitError;
  SLIPWAY_TRY(session, open_session(options, ui));
  SLIPWAY_TRY(manifest, named_component(session->plugins(), component));
  SLIPWAY_TRY(file, core::service_file(session->plugins().file(component), *manifest));
  core::ServiceOptions service{component, options.boot, [&]() -> Result<core::ServiceConfig> {
                                 SLIPWAY_TRY(now, read_config(*session, options, component));
                                 SLIPWAY_CHECK(expect_service(*manifest, now["spec"]));
                                 return core::ServiceConfig{file,
                                                            now["spec"],
                                                            to_json(session->host_config()),
                                                            session->worker_environment(),
                                                            core::texts_in(now, "device_classes"),
                                                            core::texts_in(now, "writes"),
                                                            manifest->service_before,
                                                            manifest->service_hands_over};
                               }};
  core::ServiceUi log(options.log, session->root().root(),
                      [&](std::string text) { return core::advised(std::move(text), session->options()); });
  SLIPWAY_CHECK(core::run_supervised(service, session->root().root(), log));
  return core::kExitDone;
}

}  // namespace slipway::cli
