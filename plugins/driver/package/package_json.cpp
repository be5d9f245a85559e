// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include <slipway/text.hpp>

#include "driver/package/package.hpp"

namespace slipway::driver {
namespace {

Error malformed(std::string_view member, std::string_view why) {
  return {ErrorCode::corrupt, fmt::format("the driver package's \"{}\" {}", member, why), {}, {}, {}};
}

// Names become part of paths in the root, so a name that is not plain is a defect or an attack.
bool is_plain_name(const std::string& name) {
  return !name.empty() && name.size() < 256 && name != "." && name != ".." &&
         std::ranges::none_of(name, [](char c) { return c == '/' || c == '\0' || c == '\n'; });
}

bool is_relative_path(const std::string& path) { return std::ranges::all_of(split(path, '/'), is_plain_name); }

Result<std::vector<std::string>> names_in(const Json& object, const char* member) {
  std::vector<std::string> names;
  const auto found = object.find(member);
  if (found == object.end()) return names;
  if (!found->is_array()) return malformed(member, "is not a list");
  for (const Json& name : *found) {
    if (!name.is_string() || !is_plain_name(name.get<std::string>()))
      return malformed(member, "contains names that are not plain");
    names.push_back(name);
  }
  return names;
}

Result<std::string> path_in(const Json& object, const char* member) {
  if (!object.is_object()) return malformed(member, "is missing");
  const auto found = object.find(member);
  if (found == object.end() || !found->is_string()) return malformed(member, "is missing");
  auto path = found->get<std::string>();
  if (!is_relative_path(path)) return malformed(member, "is not a relative path");
  return path;
}

}  // namespace

Json to_json(const PackageFiles& files) {
  return {{"libdir", files.libdir}, {"libraries", files.libraries}, {"tools", files.tools}, {"icds", files.icds}};
}

Result<PackageFiles> package_files_from_json(const Json& value) {
  SLIPWAY_TRY(libdir, path_in(value, "libdir"));
  SLIPWAY_TRY(libraries, names_in(value, "libraries"));
  SLIPWAY_TRY(tools, names_in(value, "tools"));
  SLIPWAY_TRY(icds, names_in(value, "icds"));
  return PackageFiles{libdir, libraries, tools, icds};
}

Json to_json(const SourceTree& source) { return {{"directory", source.directory}, {"modules", source.modules}}; }

Result<SourceTree> source_tree_from_json(const Json& value) {
  SLIPWAY_TRY(directory, path_in(value, "directory"));
  SLIPWAY_TRY(modules, names_in(value, "modules"));
  if (modules.empty()) return malformed("modules", "names none");
  return SourceTree{directory, modules};
}

}  // namespace slipway::driver
