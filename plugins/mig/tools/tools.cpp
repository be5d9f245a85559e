// SPDX-License-Identifier: Apache-2.0
// plugins/mig/tools/tools.cpp - `slipway mig TOOL`, with the options and the output of nvidia-mig-parted; `show` is
// slipway's own.
#include "mig/tools/tools.hpp"

#include "nvidia/kubelet/pod_resources.hpp"

namespace slipway::mig {
namespace {

CommandOption config_file() {
  return {.name = "config-file",
          .value = "FILE",
          .help = "the file of configs; - reads standard input",
          .letter = 'f',
          .variables = {"MIG_PARTED_CONFIG_FILE"},
          .required = true};
}

CommandOption selected_config() {
  return {.name = "selected-config",
          .value = "NAME",
          .help = "the config to use (default: the only one in the file)",
          .letter = 'c',
          .variables = {"MIG_PARTED_SELECTED_CONFIG"}};
}

CommandOption mode_only(const char* help) {
  return {.name = "mode-only", .help = help, .letter = 'm', .variables = {"MIG_PARTED_MODE_CHANGE_ONLY"}};
}

CommandOption hooks_file() {
  return {.name = "hooks-file",
          .value = "FILE",
          .help = "programs to run before and after it, in the format of nvidia-mig-parted",
          .letter = 'k',
          .variables = {"MIG_PARTED_HOOKS_FILE"}};
}

CommandOption output_format() {
  return {.name = "output-format",
          .value = "yaml|json",
          .help = "output format (default: yaml)",
          .letter = 'o',
          .variables = {"MIG_PARTED_OUTPUT_FORMAT"}};
}

CommandTable apply_line() {
  return {.usage = "-f FILE [-c NAME] [options]",
          .about =
              "Gives the GPUs the MIG layouts of a config of nvidia-mig-parted. Instances that can stay are kept; when "
              "anything fails, every GPU gets its former layout back.",
          .options = {config_file(),
                      selected_config(),
                      hooks_file(),
                      mode_only("changes only the MIG mode; a GPU that already has that mode keeps its instances"),
                      {.name = "skip-reset",
                       .help = "with --mode-only, a mode that waits for a reset of the GPU is not an error",
                       .letter = 's',
                       .variables = {"MIG_PARTED_SKIP_RESET"}},
                      kubelet_socket()},
          .examples = {"slipway mig apply -f /etc/nvidia-mig-manager/config.yaml -c all-balanced",
                       "slipway mig generate-config | slipway mig apply -f - -c all-1g.10gb"},
          .last_counts = true};
}

CommandTable assert_line() {
  return {.usage = "-f FILE [-c NAME] [options]",
          .about = "Exit status 0 when the GPUs that the config selects have its layouts, else 1.",
          .options = {config_file(),
                      selected_config(),
                      mode_only("compares only the MIG mode"),
                      {.name = "valid-config",
                       .help = "only reads the file and looks for the config; asks no GPU",
                       .letter = 'a',
                       .variables = {"MIG_PARTED_VALID_CONFIG"}}},
          .examples = {"slipway mig assert -f config.yaml -c all-balanced",
                       "slipway mig assert -f config.yaml --valid-config"},
          .last_counts = true};
}

CommandTable export_line() {
  return {.about = "Prints the MIG layouts that the GPUs have now, as a config of nvidia-mig-parted.",
          .options = {output_format(),
                      {.name = "config-label",
                       .value = "NAME",
                       .help = "the config's name (default: current)",
                       .letter = 'l',
                       .variables = {"MIG_PARTED_CONFIG_LABEL"}}},
          .examples = {"slipway mig export", "slipway mig export -o json -l before"},
          .last_counts = true};
}

CommandTable generate_line() {
  return {.about =
              "Prints named configs for the GPUs of this machine: all-disabled, all-enabled, all-balanced and one "
              "for each profile.",
          .options = {{.name = "output-file",
                       .value = "FILE",
                       .help = "where to write them (default: standard output)",
                       .letter = 'f',
                       .variables = {"MIG_PARTED_OUTPUT_FILE"}},
                      output_format()},
          .examples = {"slipway mig generate-config", "slipway mig generate-config --sim h100x8 -o json"},
          .last_counts = true};
}

CommandOption checkpoint_file(const char* help) {
  return {.name = "checkpoint-file",
          .value = "FILE",
          .help = help,
          .letter = 'f',
          .variables = {"MIG_PARTED_CHECKPOINT_FILE"},
          .required = true};
}

CommandTable checkpoint_line() {
  return {.usage = "-f FILE",
          .about = "Writes down every MIG instance of every GPU, with its place, so that `restore` can make it again.",
          .options = {checkpoint_file("where to write it")},
          .examples = {"slipway mig checkpoint -f before.json"},
          .last_counts = true};
}

CommandTable restore_line() {
  return {.usage = "-f FILE [options]",
          .about =
              "Gives the GPUs of a checkpoint the instances that they had then. A GPU that has equal devices keeps "
              "them, wherever they lie.",
          .options = {checkpoint_file("what `checkpoint` has written"), hooks_file(),
                      mode_only("changes only the MIG mode; a GPU that already has that mode keeps its instances"),
                      kubelet_socket()},
          .examples = {"slipway mig restore -f before.json"},
          .last_counts = true};
}

}  // namespace

CommandOption kubelet_socket() {
  return {.name = "kubelet-socket",
          .value = "PATH",
          .help = "kubelet's socket, to find the pods that have a device (default: " +
                  std::string(nvidia::kubelet::kPodResourcesSocket) + "); \"\": kubelet is not asked"};
}

std::string kubelet_socket_of(const CommandWords& words) {
  return words.text("kubelet-socket", nvidia::kubelet::kPodResourcesSocket);
}

MigTools::MigTools()
    : ToolTable({{"show", "draws the GPUs with their MIG devices", show_line(), run_show},
                 {"apply", "gives the GPUs the MIG layouts of a config", apply_line(), run_apply},
                 {"assert", "compares the GPUs with a config", assert_line(), run_assert},
                 {"export", "prints the MIG layouts of the GPUs as a config", export_line(), run_export},
                 {"generate-config", "prints named configs for these GPUs", generate_line(), run_generate},
                 {"checkpoint", "writes the instances of the GPUs to a file", checkpoint_line(), run_checkpoint},
                 {"restore", "restores the instances from such a file", restore_line(), run_restore}}) {}

}  // namespace slipway::mig
