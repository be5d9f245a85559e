// SPDX-License-Identifier: Apache-2.0
#include <slipway/text.hpp>

#include "toolkit/programs/configure/changes.hpp"
#include "toolkit/runtime/containerd/config.hpp"
#include "toolkit/runtime/engine.hpp"
#include "toolkit/runtime/toml.hpp"

namespace slipway::toolkit {
namespace {

constexpr std::chrono::seconds kToolLimit{30};

using Words = std::vector<std::string>;

Result<Json> read_facts(const ConfigureArguments& arguments, const Host& host) {
  if (arguments.engine == "containerd") return read_containerd_files(arguments.settings, host);
  if (arguments.engine == "crio") return read_crio_files(arguments.settings, host);
  return read_docker_files(arguments.settings, host);
}

Status plan_engine(const ConfigureArguments& arguments, const Json& facts, Plan& plan) {
  if (arguments.engine == "containerd") return plan_containerd(arguments.settings, facts, false, plan);
  if (arguments.engine == "crio") return plan_crio(arguments.settings, facts, false, plan);
  return plan_docker(arguments.settings, facts, false, plan);
}

/// Returns the active configuration, from the first command that succeeds.
Result<Json> ask(const Host& host, const std::vector<Words>& commands) {
  Error error;
  for (const Words& argv : commands) {
    const std::string command = joined(argv, " ");
    const auto output = host.run(argv, kToolLimit);
    if (output && output->exit_status == 0) return parse_toml(output->output, "`" + command + "`");
    error = output ? Error{ErrorCode::io,
                           "`" + command + "` ended with status " + std::to_string(output->exit_status) + ": " +
                               output->errors.substr(0, output->errors.find('\n')),
                           argv.front(),
                           "start the engine, or leave --config-source out, so that its files are read",
                           {}}
                   : output.error();
  }
  return error;
}

/// Returns the handler to inherit from, according to the engine.
Result<Json> asked_base(const ConfigureArguments& arguments, const Json& facts, const Host& host) {
  const RuntimeSettings& settings = arguments.settings;
  const std::string named = settings.place(arguments.engine).program;
  if (arguments.engine == "crio") {
    const std::string program = named.empty() ? "crio" : named;
    SLIPWAY_TRY(dump, ask(host, {{program, "status", "config"}, {"crio-status", "config"}}));
    return crio_base_handler(settings.names, at_path(dump, {"crio", "runtime"}));
  }
  Words argv{named.empty() ? "containerd" : named};
  if (const std::string config = facts.value("config", ""); host.exists(config))
    argv.insert(argv.end(), {"--config", config});
  argv.insert(argv.end(), {"config", "dump"});
  SLIPWAY_TRY(dump, ask(host, {argv}));
  return base_handler(settings.names, at_path(dump, cri_plugin(config_version(dump)) + KeyPath{"containerd"}));
}

Error no_runtime(const std::string& engine) {
  return Error{ErrorCode::not_found,
               "no runtime program for GPUs is installed that " + engine + " could start",
               "--nvidia-runtime-path",
               "install slipway-runtime as /usr/bin/slipway-runtime, name one with --nvidia-runtime-path, or give "
               "devices only by CDI: --cdi.enabled",
               {}};
}

}  // namespace

Result<Plan> plan_configuration(const ConfigureArguments& arguments, const Host& host) {
  SLIPWAY_TRY(facts, read_facts(arguments, host));
  const bool by_cdi = arguments.settings.cdi || arguments.engine == "crio";
  if (facts.value("runtime", "").empty() && !by_cdi) return no_runtime(arguments.engine);
  if (arguments.ask_engine) {
    SLIPWAY_TRY(base, asked_base(arguments, facts, host));
    if (!base.empty()) facts["base"] = base;
  }
  Plan plan;
  SLIPWAY_CHECK(plan_engine(arguments, facts, plan));
  SLIPWAY_TRY(low_level, read_low_level_runtime(Json{{arguments.engine, facts}}, host));
  if (!low_level.is_null()) plan_low_level(low_level, arguments.settings, plan);
  return plan;
}

}  // namespace slipway::toolkit
