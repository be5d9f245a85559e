// SPDX-License-Identifier: Apache-2.0
#include "toolkit/cdi/component/settings.hpp"

#include <algorithm>

#include "nvidia/cdi/text.hpp"

namespace slipway::toolkit {

GenerateOptions CdiSettings::options_for(Mode mode) const {
  GenerateOptions wanted = options;
  wanted.mode = mode;
  if (mode == Mode::management) wanted.vendor.clear();
  return wanted;
}

std::string CdiSettings::kind_of(Mode mode) const { return toolkit::kind_of(options_for(mode)); }

std::string CdiSettings::path_of(std::string kind) const {
  std::ranges::replace(kind, '/', '-');
  return folder + "/" + kind + (json ? ".json" : ".yaml");
}

std::string CdiSettings::text_of(const nvidia::cdi::Spec& spec) const {
  return json ? nvidia::cdi::to_json_text(spec) : nvidia::cdi::to_yaml(spec);
}

CdiSettings read_cdi_settings(const Spec& spec) {
  CdiSettings settings;
  const std::vector<std::string> modes = spec.texts("modes");
  for (const std::string& word : modes)
    if (const auto mode = parse_mode(word); mode && std::ranges::count(settings.modes, *mode) == 0)
      settings.modes.push_back(*mode);
  const std::vector<std::string> names = spec.texts("names");
  settings.options.names.clear();
  for (const std::string& word : names)
    if (const auto naming = parse_naming(word); naming && std::ranges::count(settings.options.names, *naming) == 0)
      settings.options.names.push_back(*naming);
  settings.options.hooks.path = spec.text("hook_path");
  if (spec.text("hooks") == "none") settings.options.hooks.disabled = {"all"};
  settings.options.vendor = spec.text("vendor");
  settings.options.all_device = spec.flag("all_device");
  if (const std::string folder = spec.text("container_library_folder"); folder != "auto")
    settings.options.container_library_folder = folder;
  settings.options.explicit_libraries = spec.flag("explicit_libraries");
  settings.options.coherent = spec.flag("coherent");
  settings.folder = spec.text("folder");
  settings.json = spec.text("format") == "json";
  settings.driver_root = spec.text("driver_root");
  settings.dev_root = spec.text("dev_root");
  settings.char_links = spec.flag("char_links");
  return settings;
}

}  // namespace slipway::toolkit
