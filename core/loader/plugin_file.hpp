// SPDX-License-Identifier: Apache-2.0
// core/loader/plugin_file.hpp - finds plugin files and those of their services, and reads their ELF note. Does not load
// them, and accepts none that other users may write.
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
/// Errors: `invalid` the note is missing or broken, or the ELF is for another machine; `unsupported` built for another
/// major or a later minor protocol, with what to do; `denied` when users other than root and the caller may write the
/// file or a folder above it.
Result<PluginFile> read_plugin_file(const std::string& path, ElfKind kind = ElfKind::library);

struct ServiceFile {
  std::string path;
  bool is_program = false;  ///< runs by itself instead of slipway-worker; else a library that the worker loads
};

/// Returns the name of the file that contains a component's service; empty when it has no service.
std::string service_file_name(const PluginFile& plugin, const Manifest& component);

/// Finds the file that contains a component's service: the plugin itself, or a file beside it with the same note: for
/// "acme.so" the library "acme.service.so" or the program "acme-service".
/// Errors: `unsupported` the component has no service; `not_found` its file is missing; those of read_plugin_file();
/// `conflict` the file was built from another version of the plugin.
Result<ServiceFile> service_file(const PluginFile& plugin, const Manifest& component);

/// Every plugin in these folders (*.so, except libraries of services), by component name. A plugin that cannot be read
/// is left out and reported in `problems`. Errors: `conflict` when two files contain a component of the same name.
struct Plugins {
  std::map<std::string, PluginFile> files;               ///< by path
  std::map<std::string, std::string> component_to_path;  ///< component name to its plugin's path
  std::vector<Error> problems;
  const Manifest* manifest(const std::string& component) const;
  /// Returns the file of a known component.
  const PluginFile& file(const std::string& component) const { return files.at(component_to_path.at(component)); }
};
Result<Plugins> discover_plugins(const std::vector<std::string>& folders);

}  // namespace slipway::core
