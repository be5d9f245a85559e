// SPDX-License-Identifier: Apache-2.0
#include "mig/component/settings.hpp"

#include "mig/config/named_configs.hpp"

namespace slipway::mig {
namespace {

constexpr const char* kSection = "spec.components.mig";

Result<Configs> given_configs(const Settings& settings, const std::string& file_text) {
  if (!settings.file.empty()) return configs_from_yaml(file_text, settings.file);
  return read_configs(nvidia::config::node_from_json(settings.inline_configs, std::string(kSection) + ".configs"));
}

OnRemove on_remove_of(const std::string& word) {
  if (word == "restore") return OnRemove::restore;
  return word == "disable" ? OnRemove::disable : OnRemove::keep;
}

bool has_given(const Settings& settings) { return !settings.file.empty() || !settings.inline_configs.is_null(); }

}  // namespace

Result<Settings> read_settings(const Spec& spec) {
  Settings settings{.config = spec.text("config"),
                    .file = spec.text("file"),
                    .inline_configs = spec.value("configs"),
                    .driver_root = spec.text("driver_root"),
                    .label_file = spec.text("label_file"),
                    .state_file = spec.text("state_file"),
                    .clients_file = spec.text("clients_file"),
                    .other_manager = nvidia::other_program_policy(spec.text("other_manager")),
                    .managers = spec.value("managers"),
                    .on_remove = on_remove_of(spec.text("on_remove")),
                    .drain = {},
                    .kubelet_socket = spec.text("kubelet_socket")};
  if (!settings.file.empty() && !settings.inline_configs.is_null())
    return Error{.code = ErrorCode::invalid,
                 .what = "mig has both `file` and `configs`",
                 .where = kSection,
                 .next = "name the file that has the configs, or write them here, not both"};
  if (settings.config.empty() && settings.label_file.empty())
    return Error{
        .code = ErrorCode::invalid,
        .what = "mig has no config: `config` is empty, and there is no `label_file`",
        .where = kSection,
        .next =
            "choose a config, for example `config: all-balanced` (`slipway mig generate-config` prints the configs "
            "for the GPUs of this machine)"};
  if (!settings.state_file.empty() && settings.state_file == settings.label_file)
    return Error{.code = ErrorCode::invalid,
                 .what = "`state_file` and `label_file` of mig are the same file: the state would replace the labels",
                 .where = std::string(kSection) + ".state_file",
                 .next = "name another file than `label_file`"};
  if (settings.other_manager == OtherManager::yield && settings.on_remove != OnRemove::keep)
    return Error{.code = ErrorCode::invalid,
                 .what =
                     "with `other_manager: yield`, mig leaves the GPUs to nvidia-mig-manager, but `on_remove` asks "
                     "it to change them",
                 .where = std::string(kSection) + ".on_remove",
                 .next = "leave `on_remove` out, or choose another `other_manager` than yield"};
  SLIPWAY_TRY(drain, nvidia::drain::read_settings(spec.value("drain"), std::string(kSection) + ".drain"));
  settings.drain = drain;
  return settings;
}

Result<Entries> chosen_entries(const Settings& settings, const std::string& file_text, const std::vector<Gpu>& gpus,
                               std::vector<std::string>& notes) {
  if (has_given(settings)) {
    SLIPWAY_TRY(configs, given_configs(settings, file_text));
    notes.insert(notes.end(), configs.warnings.begin(), configs.warnings.end());
    return select_config(configs, settings.config);
  }
  SLIPWAY_TRY(generated, generate_configs(gpus));
  for (const std::string& note : generated.notes) notes.push_back(note);
  auto chosen = select_config(generated.configs, settings.config);
  if (chosen) return chosen;
  Error error = std::move(chosen).error();
  for (const std::string& note : generated.notes) error.details.emplace_back("note", note);
  return error;
}

Result<std::string> check_configs(const Settings& settings, const std::string& file_text) {
  if (!has_given(settings))
    return settings.config.empty() ? Result<std::string>(std::string()) : check_generated_name(settings.config);
  SLIPWAY_TRY(configs, given_configs(settings, file_text));
  if (!settings.config.empty()) SLIPWAY_CHECK(select_config(configs, settings.config));
  return std::string();  // the node's labels will name the config
}

}  // namespace slipway::mig
