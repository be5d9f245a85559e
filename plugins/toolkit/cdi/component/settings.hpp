// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/cdi/component/settings.hpp - the section of the component cdi in the spec, as types.
#pragma once

#include <string>
#include <vector>

#include <slipway/spec.hpp>

#include "toolkit/cdi/generate.hpp"

namespace slipway::toolkit {

/// See toolkit.component.yaml for what each key means.
struct CdiSettings {
  std::vector<Mode> modes;
  GenerateOptions options;  ///< for all modes; `mode` and the vendor of management differ per mode
  std::string folder;
  bool json = false;
  std::string driver_root;  ///< absolute, or "auto"
  std::string dev_root;     ///< likewise
  bool char_links = true;

  GenerateOptions options_for(Mode mode) const;
  /// Returns the kind of a mode's spec: "nvidia.com/gds".
  std::string kind_of(Mode mode) const;
  /// Returns the path of a kind's spec: "/run/cdi/nvidia.com-gpu.yaml".
  std::string path_of(std::string kind) const;
  std::string text_of(const nvidia::cdi::Spec& spec) const;
};

CdiSettings read_cdi_settings(const Spec& spec);

}  // namespace slipway::toolkit
