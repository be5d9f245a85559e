// SPDX-License-Identifier: Apache-2.0
#include "artifact/confine.hpp"

#include <cstdlib>
#include <filesystem>
#include <optional>

#include <linux/capability.h>

#include <slipway/confine/powers.hpp>

#include "artifact/io/file.hpp"
#include "artifact/oci/json_field.hpp"

namespace slipway::artifact {
namespace {

/// An archive holds files with modes of their own, and a package's folder may be anybody's.
const std::vector<int>& file_capabilities() {
  static const std::vector<int> all{CAP_CHOWN, CAP_DAC_OVERRIDE, CAP_FOWNER, CAP_FSETID};
  return all;
}

/// Works on files alone: a layer's bytes are in the cache or in a layout by then.
bool works_on_files(const std::string& op) { return op == "stage" || op == "build"; }

std::string nearest(const std::string& path) {
  std::error_code ignored;
  std::filesystem::path folder(path);
  while (folder.has_relative_path() && !std::filesystem::exists(folder, ignored)) folder = folder.parent_path();
  return folder.string();
}

Result<Json> give_up(const Json& request) {
  const std::string op = text_at(request, "op");
  const Json asked = request.value("request", Json::object());
  SLIPWAY_TRY(landlock, limit_writes_to(writable_places(op, asked)));
  const bool registries = !works_on_files(op);
  const PowersLeft left =
      take_powers({.capabilities = file_capabilities(), .programs = registries, .network = registries});
  if (!left.what.empty()) return system_error(left.what, "the worker that reads archives", left.number);
  return Json{{"landlock", landlock}};
}

}  // namespace

std::vector<std::string> writable_places(const std::string& op, const Json& request) {
  std::vector<std::string> places{"/dev/null"};
  const auto add = [&](const std::string& path) {
    if (path.starts_with('/')) places.push_back(nearest(path));
  };
  add(text_at(request, "cache"));
  if (const std::string into = text_at(request, "into"); !into.empty()) add(parent_of(into));
  if (const std::string output = text_at(request, "output"); !output.empty()) add(parent_of(output));
  if (works_on_files(op)) return places;
  // Programs that know passwords (docker-credential-…) keep things of their own.
  places.emplace_back("/dev");
  for (const char* variable : {"HOME", "TMPDIR"})
    if (const char* const value = std::getenv(variable)) add(value);
  add("/tmp");
  return places;
}

Result<Json> confine(const Json& request) {
  static std::optional<Result<Json>> done;
  if (!done) done = give_up(request);
  return *done;
}

}  // namespace slipway::artifact
