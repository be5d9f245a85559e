// SPDX-License-Identifier: Apache-2.0
#include "cli/command.hpp"

namespace slipway::cli {
namespace {

core::ExpectedGpus found_gpus(const core::Session& session) {
  core::ExpectedGpus found;
  for (const PciDevice& gpu : core::gpus_on_bus(session)) {
    if (found.count == 0) found.product = core::pci_id(gpu);
    if (found.product != core::pci_id(gpu)) found.product.clear();  // several products
    ++found.count;
    found.addresses.push_back(gpu.address);
  }
  return found;
}

}  // namespace

// A component can suggest its section for this host: the fact "suggest", an object of spec keys.
Result<int> run_init(const Options& options, TerminalUi& ui) {
  SLIPWAY_TRY(session, open_session(options, ui));
  std::vector<const core::Manifest*> manifests;
  std::map<std::string, Json> suggested;
  for (const auto& [component, path] : session->plugins().component_to_path) {
    auto facts = core::detect_component(*session, component, Json::object());
    if (!facts) {
      ui.log(core::Ui::Level::warning, component,
             "left out: " + facts.error().what +
                 (facts.error().next.empty() ? "" : "; to have it in the spec, " + facts.error().next));
      continue;
    }
    if (!facts->applicable()) {
      ui.log(core::Ui::Level::warning, component, "left out: " + facts->why_not());
      continue;
    }
    manifests.push_back(session->plugins().manifest(component));
    const Json suggestion = facts->value("suggest");
    suggested[component] = suggestion.is_object() ? suggestion : Json::object();
  }
  if (manifests.empty())
    return Error{ErrorCode::not_found,
                 "no component has anything to do on this host",
                 options.session.root,
                 "`slipway explain` lists the components; use `--root` or `--sim` to look at another host",
                 {}};
  const std::string text = core::init_text(manifests, suggested, "host", found_gpus(*session));
  if (options.output == "text") {
    print(text);
  } else {
    SLIPWAY_TRY(spec, core::host_spec_from_text(text, "host.yaml", session->plugins()));
    print(json_text(spec.document, options.output));
  }
  return core::kExitDone;
}

}  // namespace slipway::cli
