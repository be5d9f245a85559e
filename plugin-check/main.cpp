// SPDX-License-Identifier: Apache-2.0
// plugin-check/main.cpp - slipway-author: does the work of `slipway plugin new` and `plugin check`. Its argument is the
// request as JSON, and it prints JSON: {"files"}, {"components", "findings", "passed"}, or {"error"}.
#include <csignal>
#include <cstdio>
#include <exception>

#include <sys/prctl.h>

#include <slipway/json.hpp>

#include "base/write/standard_output.hpp"
#include "core/exit_code.hpp"
#include "plugin-check/check_plugin.hpp"
#include "plugin-check/skeleton.hpp"

namespace slipway::plugin_check {
namespace {

Result<Json> answer(const Json& wanted) {
  if (wanted.contains("new")) {
    const Json& plugin = wanted["new"];
    SLIPWAY_TRY(files, write_skeleton(plugin.at("name"), plugin.at("folder")));
    return Json{{"files", files}};
  }
  const Json& asked = wanted.at("check");
  PluginTrial trial{.file = asked.at("file"), .spec = asked.at("spec")};
  if (asked.contains("sim")) trial.sim = asked["sim"];
  if (asked.contains("root")) trial.root = asked["root"];
  SLIPWAY_TRY(report, check_plugin(trial));
  return Json{
      {"components", report.components}, {"findings", to_json(report.findings)}, {"passed", report.findings.passed()}};
}

int run(const char* text) {
  const Json wanted = parse_foreign(text);
  if (!wanted.is_object() || !(wanted.contains("new") || wanted.contains("check"))) {
    std::fputs("slipway-author is started by `slipway plugin new` and `slipway plugin check`\n", stderr);
    return core::kExitUsage;
  }
  const auto done = answer(wanted);
  base::write_standard_output(canonical(done ? *done : Json{{"error", to_json(done.error())}}) + "\n");
  return base::standard_output_status() ? core::kExitDone : core::kExitError;
}

}  // namespace
}  // namespace slipway::plugin_check

int main(int count, char** values) {
  slipway::base::begin_program();
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);  // the caller has ended: no process reads the answer
  try {
    return slipway::plugin_check::run(count == 2 ? values[1] : "");
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "bug in slipway: %s\n", problem.what());
    return slipway::core::kExitError;
  }
}
