// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/runtime/containerd/configuration.hpp - containerd's configuration as containerd puts it together:
// which files it reads, in which order, and which of their settings count.
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
  /// Files as they are planned, by path. They count instead of those of the host.
  using Planned = std::map<std::string, Json>;

  /// The main file, then what `imports` leads to: breadth first, each file once, as cmd/containerd/server/config reads
  /// them. A file that is missing counts as empty.
  /// Errors: `invalid` no TOML, or a version that is not a number, with the place; `unsupported` too many files.
  static Result<Configuration> read(const Host& host, const std::string& path, EngineVersion engine,
                                    const Planned& planned = {});

  const ConfigFile& top() const { return files_.front(); }
  /// In the order in which they are read.
  const std::vector<ConfigFile>& files() const { return files_; }
  bool reads(const std::string& path) const;
  /// The same without one of the imported files.
  Configuration without(const std::string& path) const;

  /// The version that decides how plugins are called: the highest of all files. Where no file has one it is 1 before
  /// containerd 2.0 and 3 from then on; 0: no file says anything, and the version of containerd is unknown.
  int version() const;
  KeyPath plugin_path() const { return cri_plugin(version()); }
  /// Tables of plugins are merged key by key. Otherwise a file's table of a plugin replaces those of earlier files.
  bool merges_tables() const { return engine_ >= kContainerdMergesImports; }

  /// The CRI plugin's table in one of the files; null: it has none.
  Json table_of(const ConfigFile& file) const;
  /// The CRI plugin's table that is in force; null: no file has one.
  Json table() const;
  /// The last file that has the CRI plugin's table; else the main file.
  const ConfigFile& deciding() const;
  /// Files with settings of the CRI plugin that do not count, since a later file's table replaces theirs.
  std::vector<std::string> hidden() const;
  /// The file that switches the CRI plugin off (disabled_plugins); empty: none does.
  std::string disabled_in() const;

 private:
  explicit Configuration(EngineVersion engine) : engine_(engine) {}

  EngineVersion engine_;
  std::vector<ConfigFile> files_;
};

/// An entry of the file's `imports` leads to that path, whether the path exists or not.
bool imports_path(const ConfigFile& file, EngineVersion engine, const std::string& path);
/// The folder of the file's first pattern by which a file of this name is read; empty: none does.
std::string import_folder(const ConfigFile& file, EngineVersion engine, const std::string& name);

}  // namespace slipway::toolkit
