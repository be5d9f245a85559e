// SPDX-License-Identifier: Apache-2.0
#include "artifact/confine.hpp"

#include <optional>

#include <linux/capability.h>
#include <sys/stat.h>
#include <unistd.h>

#include "artifact/io/file.hpp"
#include "artifact/oci/artifact.hpp"
#include "artifact/oci/json_field.hpp"
#include "artifact/registry/login/credentials.hpp"
#include "base/confine/powers.hpp"

namespace slipway::artifact {
namespace {

/// True for operations that unpack or make an archive: a layer's bytes are already in the cache or in a layout.
bool works_on_archives(const std::string& op) { return op == "stage" || op == "build"; }

/// Returns the registry that the operation contacts; empty when it only uses files.
std::optional<Source> registry_of(const std::string& op, const Json& request) {
  if (works_on_archives(op) || !request.contains("source")) return std::nullopt;
  auto source = source_from_json(request["source"]);
  if (!source || !source->is_registry()) return std::nullopt;
  return std::move(*source);
}

/// True when root has access only by its power over other users' files, as when it works for a user with sudo.
bool belongs_to_other_user(const std::string& path) {
  if (path.empty()) return false;
  bool itself = true;
  for (std::string part = path; part != "/"; part = base::folder_of(part)) {
    struct stat info {};
    if (::stat(part.c_str(), &info) != 0) continue;
    const bool own = info.st_uid == ::geteuid();
    const mode_t wanted = S_ISDIR(info.st_mode) ? S_IRWXU : S_IRUSR;
    if (itself && (!own || (info.st_mode & wanted) != wanted)) return true;
    if ((info.st_mode & (own ? S_IXUSR : S_IXOTH)) == 0 && S_ISDIR(info.st_mode)) return true;
    itself = false;
  }
  return false;
}

std::vector<int> capabilities_for(const std::string& op, const Json& request, const std::optional<Source>& registry) {
  // An archive has files with any modes, and a package's folder may belong to any user.
  if (works_on_archives(op)) return {CAP_CHOWN, CAP_DAC_OVERRIDE, CAP_FOWNER, CAP_FSETID};
  if (!registry) return {CAP_DAC_OVERRIDE};
  const std::string cache = text_at(request, "cache");
  const std::string output = text_at(request, "output");
  const bool others = belongs_to_other_user(cache) ||
                      belongs_to_other_user(cache.empty() ? "" : cache + "/blobs/sha256") ||
                      belongs_to_other_user(output.empty() ? "" : base::folder_of(output)) ||
                      belongs_to_other_user(text_at(request, "layout")) || belongs_to_other_user(registry->ca_file);
  return others ? std::vector<int>{CAP_DAC_OVERRIDE} : std::vector<int>{};
}

/// Creates the folders that may be written to: the kernel's rules need existing ones. The operation itself reports
/// problems with them.
void make_places(const std::vector<std::string>& places) {
  for (const std::string& place : places) static_cast<void>(make_directories(place));
}

Result<Json> give_up(const Json& request) {
  const std::string op = text_at(request, "op");
  const Json asked = request.value("request", Json::object());
  const std::optional<Source> registry = registry_of(op, asked);
  if (registry)
    if (const auto reference = parse_reference(registry->repository))
      SLIPWAY_CHECK(keep_login(*reference, registry->auth_file));
  std::vector<std::string> places = writable_places(asked);
  make_places(places);
  places.emplace_back("/dev/null");
  SLIPWAY_TRY(landlock, base::limit_writes_to(places));
  const base::PowersLeft left = base::take_powers({.capabilities = capabilities_for(op, asked, registry),
                                                   .programs = false,
                                                   .network = registry.has_value(),
                                                   .local_sockets = false,
                                                   .uncharged_memory = false});
  if (!left.what.empty()) return system_error(left.what, "the worker that reads archives", left.number);
  return Json{{"filter", base::kernel_takes_filters()}, {"landlock", landlock}};
}

}  // namespace

std::vector<std::string> writable_places(const Json& request) {
  std::vector<std::string> places;
  const auto add = [&](const std::string& path) {
    if (path.starts_with('/')) places.push_back(path);
  };
  add(text_at(request, "cache"));
  for (const char* made : {"into", "output"})
    if (const std::string path = text_at(request, made); !path.empty()) add(base::folder_of(path));
  return places;
}

Result<Json> confine(const Json& request) {
  static std::optional<Result<Json>> done;
  if (!done) done = give_up(request);
  return *done;
}

}  // namespace slipway::artifact
