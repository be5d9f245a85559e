// SPDX-License-Identifier: Apache-2.0
#include "core/engine/unit/units.hpp"

namespace slipway::core {
namespace {

std::string section_file(const std::string& component) { return "/etc/slipway/services/" + component + ".json"; }

std::string unit_text(const Manifest& manifest, const std::string& program) {
  return "[Unit]\nDescription=slipway: " + manifest.component + ", " + manifest.purpose +
         "\nAfter=local-fs.target slipway-boot.service\n" + unit_while_installed(program) +
         "\n[Service]\nType=notify\nExecStart=" + unit_word(program) + " service " + manifest.component + R"( --boot
ExecReload=/bin/kill -HUP $MAINPID
Restart=always
RestartSec=2
# A loop that does not turn any more is ended and started afresh.
WatchdogSec=90
TimeoutStopSec=30

[Install]
WantedBy=multi-user.target
)";
}

}  // namespace

Status add_service_unit(Session& session, const Manifest& manifest, const Json& section, Plan& plan) {
  if (!has_service(manifest, section)) return {};
  const std::string unit = "slipway-" + manifest.component + ".service";
  const PluginFile& plugin = session.plugins().file(manifest.component);
  SLIPWAY_TRY(digest, session.plugin_digest(plugin));
  const std::string file = service_file_name(plugin, manifest);
  const bool is_program = manifest.service == Manifest::ServiceIn::program;
  const Json left{{"component", manifest.component},
                  {"plugin", digest},
                  {"spec", section},
                  {is_program ? "program" : "library", file}};
  plan.add(action::file({.path = section_file(manifest.component), .content = pretty(left)}))
      .because("what the service is run with")
      .triggers({"restart:" + unit});
  const std::string program = unit_program(session);
  const bool installed = session.host().exists(program);
  plan.add(action::systemd_unit(
               {.name = unit, .content = unit_text(manifest, program), .enabled = true, .started = installed}))
      .because("the component has a service");
  if (!installed) plan.note("the root has no " + program + ", so " + unit + " is not started: install slipway there");
  return {};
}

Result<Json> read_service_section(const Session& session, const std::string& component) {
  const std::string file = section_file(component);
  auto text = session.host().read(file);
  if (!text) {
    Error error = text.error();
    error.next = "`slipway apply` with " + component + " in the spec writes it; by hand, name the spec with -f";
    return error;
  }
  const Json left = parse_foreign(*text);
  if (left.is_object() && left.contains("spec") && left["spec"].is_object()) return left["spec"];
  return Error{ErrorCode::corrupt, file + " does not hold a component's section", file, "run `slipway apply`", {}};
}

}  // namespace slipway::core
