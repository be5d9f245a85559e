// SPDX-License-Identifier: Apache-2.0
// tests/component/plugin-check/check_report.hpp - the report of `slipway plugin check` about the plugin faulty.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "tests/component/engine/scratch_host.hpp"

namespace slipway::testing {

struct CheckReport {
  int code = -1;
  std::map<std::string, std::string> failed = {};  ///< finding to text
  std::map<std::string, std::string> passed = {};
  std::map<std::string, std::string> warned = {};
  std::map<std::string, std::string> not_exercised = {};
  std::map<std::string, std::string>& of(const std::string& status) {
    if (status == "warning") return warned;
    return status == "fail" ? failed : status == "pass" ? passed : not_exercised;
  }
};

/// @param components      of the spec, YAML indented by four
/// @param plugins         SLIPWAY_PLUGIN_PATH; empty: the plugin's own folder
/// @param without_a_spec  one of the manifest's defaults and examples
inline CheckReport check_spec(const std::string& components, const std::string& plugins = "",
                              bool without_a_spec = false) {
  ScratchHost host;
  if (!plugins.empty()) host.plugins = plugins;
  host.spec(components);
  std::vector<std::string> words{"plugin", "check", SLIPWAY_FAULTY, "-o", "json"};
  if (!without_a_spec) words.insert(words.end(), {"-f", host.folder().at("host.yaml").string()});
  const Ran ran = host.slipway(words);
  CheckReport report{ran.code};
  const Json result = Json::parse(ran.out, nullptr, false);
  if (!result.is_object() || !result.contains("findings")) {
    ADD_FAILURE() << ran.out << ran.err;
    return report;
  }
  for (const Json& finding : result["findings"]) {
    std::string& text = report.of(finding["status"])[finding["name"]];
    text += (text.empty() ? "" : "\n") + finding["text"].get<std::string>() + " " + finding.value("remedy", "");
  }
  return report;
}

}  // namespace slipway::testing
