// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include <slipway/json.hpp>
#include <slipway/regular_file.hpp>

#include "dcgm/component/tools.hpp"
#include "dcgm/health/health_watch.hpp"
#include "nvidia/health/rules.hpp"

namespace slipway::dcgm {
namespace {

namespace health = nvidia::health;

CommandTable rules_line() {
  return {.about =
              "Prints what slipway knows about XIDs and counters, and what it does about each: the rules of the device "
              "plugin, doctor and the exporter, with the changes of the site's file.",
          .notes = "docs/health-rules.md explains the columns, and the keys of a site's file.",
          .options = {{"rules", "FILE",
                       std::string("a site's file (default: ") + health::kSiteFile + ", when it is there)"},
                      {"preset", "NAME", "as `preset` in that file: only these XIDs count"},
                      {"markdown", "", "as a page of Markdown"},
                      {"yaml", "", "prints the file of slipway's own rules, as a template"},
                      {"output", "text|json", "format of the tables (default: text)", 'o'}},
          .examples = {"slipway dcgm health-rules", "slipway dcgm health-rules --preset eks",
                       "slipway dcgm health-rules --yaml"}};
}

Error excluding(const char* one, const char* other) {
  return Error{.code = ErrorCode::usage,
               .what = std::string("--") + one + " and --" + other + " exclude each other",
               .next = "leave one of them out"};
}

/// Reads a named file from the working directory, and the site's file from the host.
Result<health::Rules> rules_of(const CommandWords& words, const Host& host) {
  const std::string file = words.text("rules");
  if (file.empty()) {
    SLIPWAY_TRY(rules, health::read_rules(host));
    SLIPWAY_CHECK(check_rule_fields(rules));
    return rules;
  }
  const std::string path = std::filesystem::absolute(file).lexically_normal().string();
  const auto text = read_regular(path, health::kMostRuleBytes);
  if (!text) {
    Error error = text.error();
    if (error.next.empty()) error.next = "name a file of health rules, or leave --rules out";
    return error;
  }
  health::Rules rules = health::default_rules();
  SLIPWAY_CHECK(rules.add(*text, file));
  SLIPWAY_CHECK(check_rule_fields(rules));
  return rules;
}

Result<int> print_rules(const CommandWords& words, const Host& host, ToolIo& io) {
  if (words.flag("yaml")) {
    for (const char* other : {"rules", "preset"})
      if (!words.text(other).empty()) return excluding("yaml", other);
    if (words.flag("markdown")) return excluding("yaml", "markdown");
    if (!words.text("output").empty()) return excluding("yaml", "output");
    io.print(health::default_rules_text());
    return 0;
  }
  const std::string form = words.text("output", "text");
  if (form != "text" && form != "json")
    return Error{.code = ErrorCode::usage,
                 .what = "'" + form + "' is not a format of the tables",
                 .next = "write `-o text` or `-o json`"};
  if (form == "json" && words.flag("markdown")) return excluding("output json", "markdown");
  SLIPWAY_TRY(rules, rules_of(words, host));
  if (const std::string preset = words.text("preset"); !preset.empty()) {
    if (const Status chosen = rules.choose(preset, "--preset"); !chosen) {
      Error error = chosen.error();
      error.code = ErrorCode::usage;
      return error;
    }
  }
  io.print(form == "json" ? pretty(health::rules_json(rules)) : health::rules_text(rules, words.flag("markdown")));
  return 0;
}

}  // namespace

Tool health_rules_tool() {
  return {"health-rules", "prints the rules by which slipway judges the health of GPUs", rules_line(), print_rules};
}

}  // namespace slipway::dcgm
