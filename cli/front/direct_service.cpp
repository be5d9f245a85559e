// SPDX-License-Identifier: Apache-2.0
#include "cli/front/direct_service.hpp"

#include <filesystem>

#include <slipway/local_host.hpp>
#include <slipway/regular_file.hpp>

#include "cli/front/direct_tool.hpp"
#include "cli/front/handover.hpp"
#include "core/exit_code.hpp"
#include "core/loader/installation.hpp"
#include "core/loader/service_device.hpp"
#include "core/service/service_ui.hpp"
#include "core/service/supervisor.hpp"

namespace slipway::cli {
namespace {

constexpr std::size_t kLargestSection = std::size_t{16} << 20U;
constexpr std::string_view kServiceProgram = "-service";
constexpr std::string_view kServiceLibrary = ".service.so";

/// The data that an apply left for the service, with the name of its file.
struct Left {
  Json section;
  std::string file;
  bool is_program = false;
  Json all;
};

Error not_usable(const std::string& path) {
  return {ErrorCode::corrupt, path + " does not say what to run", path, "run `slipway apply`", {}};
}

Error mixed_versions_error(const std::string& file) {
  return {ErrorCode::conflict,
          "the plugin's files are of different versions",
          file,
          "finish the upgrade of slipway's packages, then reload the service again",
          {}};
}

Result<Left> read_left(const RootDir& root, const std::string& component) {
  const std::string path = "/etc/slipway/services/" + component + ".json";
  SLIPWAY_TRY(text, read_regular(root, path, kLargestSection));
  const Json value = parse_foreign(text);
  if (!value.is_object() || !value.contains("spec") || !value["spec"].is_object()) return not_usable(path);
  Left left{value["spec"], {}, value.contains("program"), value};
  const char* const key = left.is_program ? "program" : "library";
  if (!value.contains(key) || !value[key].is_string()) return not_usable(path);
  left.file = value[key].get<std::string>();
  if (left.file.find('/') != std::string::npos) return not_usable(path);
  return left;
}

/// Returns "gfd.so" for "gfd.service.so" and "gfd-service"; a plugin's own file for itself.
std::string plugin_of(const std::string& file) {
  for (const std::string_view ending : {kServiceLibrary, kServiceProgram})
    if (file.ends_with(ending)) return file.substr(0, file.size() - ending.size()) + ".so";
  return file;
}

/// Returns the file when it contains the component and has the same version as the plugin that planned.
std::optional<core::ServiceFile> find_file(const Left& left, const std::string& component) {
  const std::vector<std::string> folders = core::plugin_folders(false);
  if (folders.size() != 1) return std::nullopt;
  const auto plugin = read_safe_note(folders.front() + "/" + plugin_of(left.file), core::ElfKind::library);
  const auto service = read_safe_note(folders.front() + "/" + left.file,
                                      left.is_program ? core::ElfKind::program : core::ElfKind::library);
  if (!plugin || !service || plugin->note.plugin_version != service->note.plugin_version) return std::nullopt;
  if (!holds_component(service->note.manifest, component)) return std::nullopt;
  return core::ServiceFile{service->path, left.is_program};
}

Json host_of(const std::string& root, const Json& left) {
  const bool assumed = left.contains("hardware") && left["hardware"] == "assume";
  HostConfig host;
  host.root = root;
  host.live = root == "/";
  host.kernel_view = host.live ? "/" : "";
  host.hardware = host.live && !assumed ? "detect" : "assume";
  return to_json(host);
}

}  // namespace

std::optional<int> run_direct_service(const ServiceWords& words) {
  std::error_code problem;
  const std::string folder = std::filesystem::canonical(words.root, problem).string();
  const auto root = problem ? Result<RootDir>(Error{}) : RootDir::open(folder);
  if (!root) return std::nullopt;
  const auto left = read_left(*root, words.component);
  const auto file = left ? find_file(*left, words.component) : std::nullopt;
  // As in cli/commands/service.cpp: the service itself reports an error.
  if (words.condition) return !left || core::has_device(left->all, "/sys") ? core::kExitDone : core::kExitError;
  if (!file) return std::nullopt;
  const core::ServiceOptions service{words.component, true, [&]() -> Result<core::ServiceConfig> {
                                       SLIPWAY_TRY(now, read_left(*root, words.component));
                                       // The file may have been replaced since.
                                       const auto newest = find_file(now, words.component);
                                       if (!newest) return mixed_versions_error(now.file);
                                       return core::ServiceConfig{*newest,
                                                                  now.section,
                                                                  host_of(folder, now.all),
                                                                  {},
                                                                  core::texts_in(now.all, "device_classes"),
                                                                  core::texts_in(now.all, "writes"),
                                                                  !core::texts_in(now.all, "before").empty(),
                                                                  now.all.value("hands_over", Json()) == true};
                                     }};
  core::ServiceUi ui(words.log, *root);
  const Status status = core::run_supervised(service, *root, ui);
  if (status) return core::kExitDone;
  ui.failed(words.component, status.error());
  return core::exit_code(status.error());
}

}  // namespace slipway::cli
