// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/runtime/containerd/configuration.hpp - containerd's configuration as containerd puts it together: the
// files that it reads, their order, and the settings that count.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <slipway/host.hpp>
#include <slipway/json.hpp>
#include <slipway/result.hpp>

#include "toolkit/runtime/containerd/config.hpp"

namespace slipway::toolkit {

class Configuration {
 public:
  /// Planned contents of files by path. They replace the host's files.
  using Planned = std::map<std::string, Json>;

  /// Reads the main file, then the files in `imports`: breadth first, each file once, like
  /// cmd/containerd/server/config. A missing file counts as empty. Errors: `invalid` invalid TOML, or a version that is
  /// not a number, with the place; `unsupported` too many files.
  static Result<Configuration> read(const Host& host, const std::string& path, EngineVersion engine,
                                    const Planned& planned = {});

  const ConfigFile& top() const { return files_.front(); }
  /// In the order of reading.
  const std::vector<ConfigFile>& files() const { return files_; }
  bool reads(const std::string& path) const;
  /// Returns the configuration without one of the imported files.
  Configuration without(const std::string& path) const;

  /// Returns the version that decides the names of plugins: the highest of all files. If no file has one it is 1 before
  /// containerd 2.0 and 3 from then on; 0: no file is present, and containerd's version is unknown.
  int version() const;
  KeyPath plugin_path() const { return cri_plugin(version()); }
  /// True when tables of plugins are merged key by key. Otherwise a file's table of a plugin replaces those of earlier
  /// files.
  bool merges_tables() const { return engine_ >= kContainerdMergesImports; }

  /// Returns the CRI plugin's table in one of the files; null: it has none.
  Json table_of(const ConfigFile& file) const;
  /// Returns the effective table of the CRI plugin; null: no file has one.
  Json table() const;
  /// Returns the last file with the CRI plugin's table; else the main file.
  const ConfigFile& deciding() const;
  /// Returns files whose CRI plugin settings have no effect, because a later file's table replaces them.
  std::vector<std::string> hidden() const;
  /// Returns the file that disables the CRI plugin (disabled_plugins); empty: none does.
  std::string disabled_in() const;

 private:
  explicit Configuration(EngineVersion engine) : engine_(engine) {}

  EngineVersion engine_;
  std::vector<ConfigFile> files_;
};

/// True when an entry of the file's `imports` matches that path, existing or not.
bool imports_path(const ConfigFile& file, EngineVersion engine, const std::string& path);
/// Returns the folder of the file's first pattern that matches a file of this name; empty: none does.
std::string import_folder(const ConfigFile& file, EngineVersion engine, const std::string& name);

}  // namespace slipway::toolkit
