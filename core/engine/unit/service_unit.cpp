// SPDX-License-Identifier: Apache-2.0
#include <slipway/text/secret_name.hpp>

#include "core/engine/unit/units.hpp"
#include "sandbox/unit/unit_text.hpp"

namespace slipway::core {
namespace {

std::string section_file(const std::string& component) { return "/etc/slipway/services/" + component + ".json"; }

/// Returns the device for the udev rule and the unit's condition; empty when the service runs on every machine.
std::string device_of(const Session& session, const Manifest& manifest) {
  return session.assumes_hardware() ? std::string() : manifest.service_device;
}

std::string rule_text(const std::string& unit, const std::string& device) {
  return "# slipway: " + unit +
         " has no use without such a device, and starts when one appears.\nACTION!=\"remove\", SUBSYSTEM==\"" +
         device.substr(0, device.find(':')) + "\", ENV{MODALIAS}==\"" + device +
         "\", TAG+=\"systemd\", ENV{SYSTEMD_WANTS}+=\"" + unit + "\"\n";
}

}  // namespace

Status add_service_unit(Session& session, const Manifest& manifest, const Json& section, Plan& plan) {
  if (!has_service(manifest, section)) return {};
  const std::string unit = "slipway-" + manifest.component + ".service";
  const PluginFile& plugin = session.plugins().file(manifest.component);
  SLIPWAY_TRY(digest, plugin.digest.get());
  const std::string file = service_file_name(plugin, manifest);
  const bool is_program = manifest.service == Manifest::ServiceIn::program;
  const std::string device = device_of(session, manifest);
  Json left{{"component", manifest.component},
            {"plugin", digest},
            {"spec", section},
            {is_program ? "program" : "library", file}};
  if (!device.empty()) left["device"] = device;
  if (const Json& needs = manifest.service_needs; needs.contains("device_classes"))
    left["device_classes"] = needs["device_classes"];
  SLIPWAY_CHECK(sandbox::expect_plain_paths(manifest.component, manifest.service_needs, section));
  left["writes"] = sandbox::written_folders(manifest.service_needs, section);
  if (session.assumes_hardware()) left["hardware"] = "assume";
  const std::vector<std::string> before = manifest.service_before ? manifest.boot_before : std::vector<std::string>();
  if (!before.empty()) left["before"] = before;
  if (manifest.service_hands_over) left["hands_over"] = true;
  const unsigned mode = has_secret(section) ? 0600 : 0644;  // every user may read a section without secrets
  plan.add(action::file({.path = section_file(manifest.component), .content = pretty(left), .mode = mode}))
      .because("what the service is run with")
      .triggers({"reload:" + unit});
  if (!device.empty())
    plan.add(action::file({.path = "/etc/udev/rules.d/72-" + unit.substr(0, unit.find('.')) + ".rules",
                           .content = rule_text(unit, device)}))
        .because("udev starts the service when its device appears");
  const std::string program = unit_program(session);
  const bool installed = session.host().exists(program);
  plan.add(action::systemd_unit(
               {.name = unit,
                .content = sandbox::service_unit_text({manifest.component, manifest.purpose, program, !device.empty(),
                                                       manifest.service_needs, section, before}),
                .enabled = true,
                .started = installed}))
      .because("the component has a service");
  if (!manifest.declares_needs)
    plan.note("the plugin of " + manifest.component + " declares no service_needs (docs/manifest.md): " + unit +
              " gives it no network, no devices and no folder to write to");
  if (!installed) plan.note("the root has no " + program + ", so " + unit + " is not started: install slipway there");
  return {};
}

bool has_service_section(const Session& session, const std::string& component) {
  return session.host().exists(section_file(component));
}

Result<Json> read_service_file(const Session& session, const std::string& component) {
  const std::string file = section_file(component);
  auto text = session.host().read(file);
  if (!text) {
    Error error = text.error();
    error.next = "`slipway apply` with " + component +
                 " in the spec writes this file; to start the service by hand, name the spec with -f";
    return error;
  }
  const Json left = parse_foreign(*text);
  if (left.is_object() && left.contains("spec") && left["spec"].is_object()) return left;
  return Error{ErrorCode::corrupt, file + " does not hold a component's section", file, "run `slipway apply`", {}};
}

}  // namespace slipway::core
