// SPDX-License-Identifier: Apache-2.0
#include "toolkit/runtime/containerd/configuration.hpp"

#include <algorithm>
#include <deque>
#include <filesystem>
#include <set>

#include <fnmatch.h>

#include <slipway/text.hpp>

#include "toolkit/environment.hpp"

namespace slipway::toolkit {
namespace {

constexpr std::size_t kMostFiles = 256;     // of one configuration
constexpr std::size_t kMostFolders = 1024;  // that one pattern may match

bool is_pattern(const std::string& import) { return import.find('*') != std::string::npos; }

/// A relative pattern starts at the file's folder from containerd 2.0, 1.7.16 and 1.6.29 on; before, at containerd's
/// working directory, which is "/" under systemd.
bool counts_from_file(EngineVersion engine) {
  if (!engine.known() || engine.major > 1) return true;
  return engine.major == 1 && ((engine.minor == 7 && engine.patch >= 16) || (engine.minor == 6 && engine.patch >= 29));
}

/// Returns the entries of `imports`, made absolute like that containerd version does; a plain name starts at the file's
/// folder.
std::vector<std::string> entries_of(const ConfigFile& file, EngineVersion engine) {
  std::vector<std::string> entries;
  const Json imports = at_path(file.value, {"imports"});
  if (!imports.is_array()) return entries;
  for (const Json& import : imports) {
    if (!import.is_string()) continue;
    std::string entry = import.get<std::string>();
    const bool from_file = !is_pattern(entry) || counts_from_file(engine);
    if (!entry.starts_with('/')) entry = (from_file ? folder_of(file.path) : "") + "/" + entry;
    entries.push_back(std::filesystem::path(entry).lexically_normal().string());
  }
  return entries;
}

/// Reads the host's files, some replaced by planned contents.
class Files {
 public:
  Files(const Host& host, const Configuration::Planned& planned) : host_(host), planned_(planned) {}

  Result<ConfigFile> read(const std::string& path) const {
    if (const auto found = planned_.find(path); found != planned_.end()) return ConfigFile{path, found->second};
    return read_config(host_, path);
  }

  /// Returns the files that match a pattern, sorted (Go's filepath.Glob).
  Result<std::vector<std::string>> matching(const std::string& pattern) const {
    std::set<std::string> paths{""};
    for (const std::string& part : split(pattern, '/')) {
      if (part.empty()) continue;
      std::set<std::string> deeper;
      for (const std::string& path : paths) add_matches(path, part, deeper);
      if (deeper.size() > kMostFolders)
        return Error{ErrorCode::unsupported,
                     "the import " + pattern + " leads to more than " + std::to_string(kMostFolders) + " paths",
                     "imports",
                     "name fewer folders in it",
                     {}};
      paths = std::move(deeper);
    }
    std::erase_if(paths, [&](const std::string& path) { return !planned_.contains(path) && !host_.exists(path); });
    return std::vector<std::string>{paths.begin(), paths.end()};
  }

 private:
  void add_matches(const std::string& folder, const std::string& part, std::set<std::string>& into) const {
    if (part.find_first_of("*?[\\") == std::string::npos) {
      into.insert(folder + "/" + part);
      return;
    }
    std::vector<std::string> names = host_.list(folder.empty() ? "/" : folder).value_or({});
    for (const auto& [path, value] : planned_)
      if (folder_of(path) == folder) names.push_back(file_name(path));
    for (const std::string& name : names)
      if (::fnmatch(part.c_str(), name.c_str(), 0) == 0) into.insert(folder + "/" + name);
  }

  const Host& host_;
  const Configuration::Planned& planned_;
};

int stated_version(const ConfigFile& file) {
  const Json version = at_path(file.value, {"version"});
  return version.is_number_integer() ? version.get<int>() : 0;
}

}  // namespace

bool imports_path(const ConfigFile& file, EngineVersion engine, const std::string& path) {
  return std::ranges::any_of(entries_of(file, engine), [&path](const std::string& entry) {
    return is_pattern(entry) ? ::fnmatch(entry.c_str(), path.c_str(), FNM_PATHNAME) == 0 : entry == path;
  });
}

std::string import_folder(const ConfigFile& file, EngineVersion engine, const std::string& name) {
  for (const std::string& entry : entries_of(file, engine))
    if (is_pattern(entry) && !is_pattern(folder_of(entry)) &&
        imports_path(file, engine, folder_of(entry) + "/" + name) &&
        ::fnmatch(file_name(entry).c_str(), name.c_str(), 0) == 0)
      return folder_of(entry);
  return {};
}

Result<Configuration> Configuration::read(const Host& host, const std::string& path, EngineVersion engine,
                                          const Planned& planned) {
  const Files look(host, planned);
  Configuration all(engine);
  std::deque<std::string> pending{path};
  while (!pending.empty()) {
    const std::string next = std::move(pending.front());
    pending.pop_front();
    if (all.reads(next)) continue;
    if (all.files_.size() == kMostFiles)
      return Error{ErrorCode::unsupported,
                   "containerd's configuration imports more than " + std::to_string(kMostFiles) + " files",
                   path,
                   "import fewer files",
                   {}};
    SLIPWAY_TRY(file, look.read(next));
    all.files_.push_back(std::move(file));
    for (const std::string& entry : entries_of(all.files_.back(), engine)) {
      SLIPWAY_TRY(found, is_pattern(entry) ? look.matching(entry) : Result<std::vector<std::string>>({entry}));
      pending.insert(pending.end(), found.begin(), found.end());
    }
  }
  return all;
}

bool Configuration::reads(const std::string& path) const {
  return std::ranges::any_of(files_, [&path](const ConfigFile& file) { return file.path == path; });
}

Configuration Configuration::without(const std::string& path) const {
  Configuration others(*this);
  const auto own = std::ranges::find(others.files_, path, &ConfigFile::path);
  if (own != others.files_.end() && own != others.files_.begin()) others.files_.erase(own);
  return others;
}

int Configuration::version() const {
  int highest = 0;
  bool empty = true;
  for (const ConfigFile& file : files_) {
    highest = std::max(highest, stated_version(file));
    empty = empty && file.value.empty();
  }
  if (highest >= 2) return highest;
  if (engine_ >= kContainerdWithVersion3)
    return 3;  // it reads the plugins of a file without a version as its own
               // version's
  if (!empty) return 1;
  return engine_.known() ? 2 : 0;
}

Json Configuration::table_of(const ConfigFile& file) const {
  const int version = this->version();
  const Json found = at_path(file.value, cri_plugin(version));
  // containerd 2 renames the plugins of an older file to those of version 2, not 3.
  if (found.is_null() && version == 2 && engine_ >= kContainerdWithVersion3 && stated_version(file) < 2)
    return at_path(file.value, cri_plugin(1));
  return found;
}

Json Configuration::table() const {
  if (!merges_tables()) return table_of(deciding());
  Json table;
  for (const ConfigFile& file : files_)
    if (const Json own = table_of(file); own.is_object()) {
      if (table.is_null()) table = Json::object();
      table.merge_patch(own);
    }
  return table;
}

const ConfigFile& Configuration::deciding() const {
  const ConfigFile* found = &top();
  for (const ConfigFile& file : files_)
    if (table_of(file).is_object()) found = &file;
  return *found;
}

std::vector<std::string> Configuration::hidden() const {
  std::vector<std::string> paths;
  if (merges_tables()) return paths;
  for (const ConfigFile& file : files_)
    if (&file != &deciding() && !table_of(file).empty()) paths.push_back(file.path);
  return paths;
}

std::string Configuration::disabled_in() const {
  for (const ConfigFile& file : files_) {
    const Json disabled = at_path(file.value, {"disabled_plugins"});
    if (!disabled.is_array()) continue;
    for (const Json& name : disabled)
      if (name == "cri" || name == "io.containerd.grpc.v1.cri" || name == "io.containerd.cri.v1.runtime")
        return file.path;
  }
  return {};
}

}  // namespace slipway::toolkit
