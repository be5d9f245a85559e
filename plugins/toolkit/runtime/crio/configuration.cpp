// SPDX-License-Identifier: Apache-2.0
#include "toolkit/runtime/crio/configuration.hpp"

#include <algorithm>

#include <slipway/text.hpp>

#include "toolkit/environment.hpp"
#include "toolkit/runtime/engine.hpp"
#include "toolkit/runtime/toml.hpp"

namespace slipway::toolkit {
namespace {

constexpr const char* kCrioConfig = "/etc/crio/crio.conf";
constexpr const char* kCrioFolder = "/etc/crio/crio.conf.d";
constexpr std::size_t kMostDepth = 16;
constexpr std::size_t kMostDropIns = 1000;

/// Returns the value of a flag, or of its variable; empty: neither is set.
std::optional<std::string> told(const Daemon& daemon, const std::vector<std::string>& flags, const std::string& name) {
  if (const auto values = daemon.options(flags); !values.empty()) return values.back();
  const auto variable = daemon.environment.find(name);
  if (variable == daemon.environment.end() || variable->second.empty()) return {};
  return variable->second;
}

std::string trimmed(const std::string& text) {
  const auto begin = text.find_first_not_of(" \t");
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

/// Returns all values of a flag that may be repeated. A single value, and that of a variable, is a list with commas.
std::vector<std::string> flag_values(const Daemon& daemon, const std::string& flag, const std::string& name) {
  std::vector<std::string> values = daemon.options({flag});
  if (values.empty()) {
    const auto variable = daemon.environment.find(name);
    if (variable != daemon.environment.end() && !variable->second.empty()) values = {variable->second};
  }
  if (values.size() == 1) values = split(values.front(), ',');
  for (std::string& value : values) value = trimmed(value);
  return values;
}

/// Reads "name:path:root:type:…"; CRI-O does not start with fewer than three fields.
void add_runtime(const std::string& text, Json& runtime) {
  const std::vector<std::string> fields = split(text, ':');
  if (fields.size() < 3) return;
  runtime["runtimes"][fields[0]] = {{"runtime_path", fields[1]},
                                    {"runtime_root", fields[2]},
                                    {"runtime_type", fields.size() > 3 ? fields[3] : "oci"}};
}

/// Returns the command's settings for crio.runtime.
Json runtime_of_command(const Daemon& daemon) {
  Json runtime = Json::object();
  if (const auto name = told(daemon, {"--default-runtime"}, "CONTAINER_DEFAULT_RUNTIME"))
    runtime["default_runtime"] = *name;
  for (const std::string& each : flag_values(daemon, "--runtimes", "CONTAINER_RUNTIMES")) add_runtime(each, runtime);
  if (const auto folders = flag_values(daemon, "--cdi-spec-dirs", "CONTAINER_CDI_SPEC_DIRS"); !folders.empty())
    runtime["cdi_spec_dirs"] = folders;
  return runtime;
}

/// Adds the files of a folder and its subfolders with any name, in the order of Go's filepath.Walk.
Status add_files(const Host& host, const std::string& folder, std::size_t depth, std::vector<std::string>& files) {
  const auto names = host.list(folder);
  if (!names && names.error().code == ErrorCode::not_found) return {};
  if (!names) return names.error();
  for (const std::string& name : *names) {
    const std::string path = folder + "/" + name;
    const auto info = host.info(path);
    if (depth > kMostDepth || files.size() > kMostDropIns)
      return Error{ErrorCode::invalid,
                   "CRI-O's drop-in folder is deeper, or has more files, than a configuration can have",
                   path,
                   "remove files that are not configuration from it: CRI-O reads every file below it",
                   {}};
    if (info && info->type == FileInfo::Type::directory)
      SLIPWAY_CHECK(add_files(host, path, depth + 1, files));
    else
      files.push_back(path);
  }
  return {};
}

/// Merges a later table into an earlier one. CRI-O decodes each file into the earlier result: a member of a struct is
/// replaced, and so is a whole handler.
void lay_over(Json& below, const Json& above) {
  static const Json::json_pointer kHandlers("/crio/runtime/runtimes");
  const Json handlers = at_path(above, {"crio", "runtime", "runtimes"});
  if (handlers.is_object() && below.contains(kHandlers) && below.at(kHandlers).is_object())
    for (const auto& [name, handler] : handlers.items()) below.at(kHandlers).erase(name);
  below.merge_patch(above);
}

}  // namespace

CrioPlaces crio_places(const std::optional<Daemon>& daemon) {
  CrioPlaces places{kCrioConfig, kCrioFolder};
  if (!daemon) return places;
  places.config = told(*daemon, {"--config", "-c"}, "CONTAINER_CONFIG").value_or(places.config);
  places.folder = told(*daemon, {"--config-dir", "-d"}, "CONTAINER_CONFIG_DIR").value_or(places.folder);
  while (places.folder.size() > 1 && places.folder.ends_with('/')) places.folder.pop_back();
  return places;
}

Result<CrioConfiguration> CrioConfiguration::read(const Host& host, const CrioPlaces& places,
                                                  const std::string& drop_in, const std::optional<Daemon>& daemon) {
  std::vector<std::string> files;
  SLIPWAY_CHECK(add_files(host, places.folder, 0, files));
  if (std::ranges::count(files, drop_in) == 0) files.insert(std::ranges::upper_bound(files, drop_in), drop_in);
  if (!places.config.empty()) files.insert(files.begin(), places.config);
  CrioConfiguration all;
  for (const std::string& path : files) {
    if (path == drop_in) {
      all.own_ = all.sources_.size();
      continue;
    }
    const auto text = host.read(path);
    if (!text && text.error().code == ErrorCode::not_found) continue;
    if (!text) return text.error();
    SLIPWAY_TRY(table, parse_toml(*text, path));
    all.sources_.push_back({path, table});
  }
  if (daemon)
    if (const Json runtime = runtime_of_command(*daemon); !runtime.empty())
      all.sources_.push_back(
          {daemon->place.empty() ? "the command of crio" : daemon->place, Json{{"crio", {{"runtime", runtime}}}}});
  return all;
}

Json CrioConfiguration::table() const {
  Json all = Json::object();
  for (const CrioSource& source : sources_) lay_over(all, source.table);
  return all;
}

const CrioSource* CrioConfiguration::later_with(const std::vector<std::string>& path) const {
  const CrioSource* found = nullptr;
  for (std::size_t i = own_; i < sources_.size(); ++i)
    if (!at_path(at_path(sources_[i].table, {"crio", "runtime"}), path).is_null()) found = &sources_[i];
  return found;
}

}  // namespace slipway::toolkit
