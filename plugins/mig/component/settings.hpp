// SPDX-License-Identifier: Apache-2.0
// plugins/mig/component/settings.hpp - the component's section of the host spec, and the configs that it names.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <slipway/host.hpp>
#include <slipway/result.hpp>
#include <slipway/spec.hpp>

#include "mig/layout/gpu.hpp"
#include "mig/model/config.hpp"
#include "nvidia/drain/settings.hpp"
#include "nvidia/process/other_program.hpp"

namespace slipway::mig {

/// The layouts after a removal of the component: they stay, the layouts from before slipway come back, or
/// MIG is disabled.
enum class OnRemove { keep, restore, disable };

/// The action if nvidia-mig-manager.service is enabled: nothing, leave the GPUs to it, or mask it. If the manager runs
/// in a container, only leaving the GPUs to it is possible.
using OtherManager = nvidia::OtherProgramPolicy;

struct Settings {
  std::string config;        ///< name; empty: not set
  std::string file;          ///< path in the host's root; empty: none
  Json inline_configs;       ///< null: none
  std::string driver_root;   ///< "auto" or a path
  std::string label_file;    ///< path in the host's root; empty: none
  std::string state_file;    ///< likewise
  std::string clients_file;  ///< likewise
  OtherManager other_manager = OtherManager::report;
  Json managers;  ///< by PCI address or UUID; null: not set
  OnRemove on_remove = OnRemove::keep;
  nvidia::drain::Settings drain;
  std::string kubelet_socket;  ///< path in the host's root; empty: kubelet is not asked
};

/// Errors: `invalid` file and configs are both set; GPUs are left to another manager without on_remove `keep`; neither
/// a config nor a file of labels is set; those of drain::read_settings().
Result<Settings> read_settings(const Spec& spec);

/// Returns the entries of the chosen config. @param file_text  of Settings::file. Errors: those of the config format;
/// `not_found` no such config.
Result<Entries> chosen_entries(const Settings& settings, const std::string& file_text, const std::vector<Gpu>& gpus,
                               std::vector<std::string>& notes);

/// Checks, without a GPU, that the config of a file or of the spec is valid and has that name.
/// @return a remark for the user; empty: none
Result<std::string> check_configs(const Settings& settings, const std::string& file_text);

}  // namespace slipway::mig
