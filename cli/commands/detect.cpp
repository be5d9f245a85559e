// SPDX-License-Identifier: Apache-2.0
#include <sstream>

#include "cli/command.hpp"

namespace slipway::cli {
namespace {

void append(std::ostringstream& text, const std::string& name, const Json& value) {
  if (value.is_object() && !value.empty()) {
    for (const auto& [key, member] : value.items()) append(text, name.empty() ? key : name + "." + key, member);
    return;
  }
  text << "  " << name << " = " << (value.is_string() ? value.get<std::string>() : canonical(value)) << '\n';
}

}  // namespace

Result<int> run_detect(const Options& options, TerminalUi& ui) {
  SLIPWAY_TRY(session, open_session(options, ui));
  SLIPWAY_TRY(loaded, load_spec(*session, options));
  SLIPWAY_CHECK(core::check_names(options.only, loaded.spec, {}));
  Json components = Json::object();
  std::ostringstream text;
  for (const auto& [name, section] : loaded.spec.components) {
    if (!options.only.empty() && std::find(options.only.begin(), options.only.end(), name) == options.only.end())
      continue;
    SLIPWAY_TRY(facts, core::detect_component(*session, name, section));
    components[name] = to_json(facts);
    text << name << (facts.applicable() ? "" : ": not applicable, " + facts.why_not()) << '\n';
    append(text, "", facts.values());
  }
  if (options.output == "text")
    print_wrapped(text.str());
  else
    print(json_text(envelope("Facts", {{"components", components}}), options.output));
  return core::kExitDone;
}

}  // namespace slipway::cli
