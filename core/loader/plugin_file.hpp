// SPDX-License-Identifier: Apache-2.0
// core/loader/plugin_file.hpp - finds plugin files and those of their services, and reads their ELF note; nothing of
// them is loaded, and nobody else may write them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <slipway/result.hpp>

#include "core/loader/file_digest.hpp"
#include "core/loader/installation.hpp"
#include "core/loader/manifest.hpp"
#include "core/loader/plugin_note.hpp"

namespace slipway::core {

struct PluginFile {
  std::string path;            ///< absolute
  std::string plugin_version;  ///< the plugin's own
  std::uint16_t protocol_major = 0;
  std::uint16_t protocol_minor = 0;
  FileDigest digest;  ///< of the file
  std::vector<Manifest> components;
};

/// Reads the note (sdk/slipway/abi.h) with libelf.
/// Errors: `invalid` no note, a broken one, or another machine's ELF; `unsupported` built for another major or a later
/// minor protocol, saying what to do; `denied` when the file or a folder above it may be written by others than root
/// and the caller.
Result<PluginFile> read_plugin_file(const std::string& path, ElfKind kind = ElfKind::library);

struct ServiceFile {
  std::string path;
  bool is_program = false;  ///< runs by itself in the place of slipway-worker; else a library that the worker loads
};

/// The name of the file that holds a component's service; empty when it has none.
std::string service_file_name(const PluginFile& plugin, const Manifest& component);

/// The file that holds a component's service: the plugin itself, or one beside it which carries the same note: for
/// "acme.so" the library "acme.service.so" or the program "acme-service".
/// Errors: `unsupported` the component has no service; `not_found` its file is missing; those of read_plugin_file();
/// `conflict` the file was built from another version of the plugin.
Result<ServiceFile> service_file(const PluginFile& plugin, const Manifest& component);

/// Every plugin of these folders (*.so, but for services' libraries), by component name. A plugin that cannot be read
/// is left out and reported in `problems`. Errors: `conflict` when two files hold a component of the same name.
struct Plugins {
  std::map<std::string, PluginFile> files;               ///< by path
  std::map<std::string, std::string> component_to_path;  ///< component name to its plugin's path
  std::vector<Error> problems;
  const Manifest* manifest(const std::string& component) const;
  /// The file of a component that is there.
  const PluginFile& file(const std::string& component) const { return files.at(component_to_path.at(component)); }
};
Result<Plugins> discover_plugins(const std::vector<std::string>& folders);

}  // namespace slipway::core
