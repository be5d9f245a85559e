// SPDX-License-Identifier: Apache-2.0
// plugin-check/manifest_tool.cpp - slipway-manifest: used by slipway_add_plugin() while a plugin is built, so that an
// error in its manifest stops the build with file and line, and not a user's plan.
//
//   slipway-manifest embed MANIFEST OUT.cpp    checks the manifest, and writes its keys and defaults as a source
//   slipway-manifest library PLUGIN MANIFEST   the finished library has the entry and the manifest's components
//   slipway-manifest service LIBRARY MANIFEST  likewise; a service's library holds some of the components
#define BOOST_DLL_USE_STD_FS  // no Boost library to link
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <fstream>
#include <sstream>
#include <type_traits>

#include <slipway/abi.h>
#include <unistd.h>

#include <boost/dll/shared_library.hpp>

#include <slipway/text.hpp>

#include "core/loader/manifest.hpp"
#include "core/loader/schema/check.hpp"

namespace slipway::plugin_check {
namespace {

namespace load_mode = boost::dll::load_mode;

/// Prints an error in a compiler's form, so that editors find the position.
int fail(const std::string& where, const std::string& what, const std::string& next = {}) {
  std::fprintf(stderr, "%s: error: %s%s\n", where.c_str(), what.c_str(), next.empty() ? "" : ("; " + next).c_str());
  return 1;
}

int fail(const Error& error) {
  const std::string place = error.where.substr(0, error.where.find("  "));
  const std::string key = place.size() < error.where.size() ? error.where.substr(place.size() + 2) : "";
  const bool names_it =
      key.empty() || error.what.starts_with(core::shown_key(key));  // most messages begin with the key
  fail(place, (names_it ? "" : key + ": ") + error.what, error.next);
  for (const auto& [label, text] : error.details) std::fprintf(stderr, "%s\n", text.c_str());
  return 1;
}

std::string text_of(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

Result<std::vector<core::Manifest>> read_manifest(const std::string& file) {
  if (::access(file.c_str(), R_OK) != 0) return system_error("read", file, errno);
  return core::parse_manifests(text_of(file), file);
}

/// {COMPONENT: {"keys": [names], "defaults": {…}}}
Json known_of(const std::vector<core::Manifest>& manifests) {
  Json all = Json::object();
  for (const core::Manifest& manifest : manifests) {
    Json keys = Json::array();
    for (const auto& [name, schema] : manifest.spec.keys) keys.push_back(name);
    all[manifest.component] = {{"keys", keys}, {"defaults", core::complete_value(Json::object(), manifest.spec, "/")}};
  }
  return all;
}

int embed(const std::string& manifest, const std::string& source) {
  const auto manifests = read_manifest(manifest);
  if (!manifests) return fail(manifests.error());
  // Every compiler accepts 64 KiB in a string; adjacent strings are joined.
  std::string text = "// Generated from " + manifest + " by slipway-manifest; changes will be lost.\nextern \"C\" {\n" +
                     "extern const char slipway_manifest[] __attribute__((visibility(\"hidden\")));\n" +
                     "const char slipway_manifest[] =\n";
  const std::string known = canonical(known_of(*manifests));
  constexpr std::size_t kPart = 8000;
  for (std::size_t at = 0; at < known.size(); at += kPart)
    text += "    R\"slipway(" + known.substr(at, kPart) + ")slipway\"\n";
  text += "    ;\n}\n";
  if (text_of(source) == text) return 0;  // an unchanged file is not compiled again
  std::ofstream out(source, std::ios::binary);
  out << text;
  out.close();
  return out ? 0 : fail(system_error("write", source, errno));
}

/// Returns FILE:LINE of a component's name.
std::string place_of(const std::string& component, const std::string& manifest) {
  std::istringstream lines(text_of(manifest));
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.starts_with("component:") && trimmed(line.substr(line.find(':') + 1)) == component)
      return manifest + ":" + std::to_string(number);
  }
  return manifest;
}

int no_service(void*, const char*, const char*, std::size_t, const slipway_reply*) { return SLIPWAY_UNSUPPORTED; }

/// Returns the plugin's description of its components; discarded when it has none (built with an older SDK) or cannot
/// be opened here.
Json components_of(slipway_plugin_open_fn open) {
  static const slipway_services services{sizeof(slipway_services), nullptr, no_service};
  slipway_plugin plugin{sizeof(slipway_plugin), nullptr, nullptr};
  std::string answer;
  const slipway_reply reply{&answer, [](void* context, const char* json, std::size_t length) {
                              static_cast<std::string*>(context)->assign(json, length);
                            }};
  if (open(&services, &plugin) != SLIPWAY_OK) return Json::value_t::discarded;
  if (plugin.call(plugin.context, "components", "{}", 2, &reply) != SLIPWAY_OK) return Json::value_t::discarded;
  return parse_foreign(answer);
}

int check_library(const std::string& file, const std::string& manifest, bool is_service) {
  const auto manifests = read_manifest(manifest);
  if (!manifests) return fail(manifests.error());
  boost::dll::shared_library library;
  try {
    library.load(file, load_mode::rtld_now | load_mode::rtld_local);
  } catch (const std::exception& problem) {  // with the words of dlerror(3)
    return fail(file, std::string("the library cannot be loaded: ") + problem.what());
  }
  if (!library.has(SLIPWAY_ENTRY))
    return fail(file, "the library has no function " SLIPWAY_ENTRY,
                "add SLIPWAY_PLUGIN(slipway::component<CLASS>(\"NAME\")) at the end of one of its sources");
  const Json known = components_of(library.get<std::remove_pointer_t<slipway_plugin_open_fn>>(SLIPWAY_ENTRY));
  if (!known.is_object()) return 0;
  std::vector<std::string> names;
  int status = 0;
  for (const auto& [name, what] : known.items()) names.push_back(name);
  std::vector<std::string> described;
  for (const core::Manifest& each : *manifests) described.push_back(each.component);
  for (const std::string& name : described)
    if (!known.contains(name) && !is_service)
      status = fail(place_of(name, manifest), "SLIPWAY_PLUGIN() has no component '" + name + "'",
                    names.empty() ? "it names no component" : "it names " + joined(names));
  for (const std::string& name : names)
    if (std::find(described.begin(), described.end(), name) == described.end())
      status = fail(manifest + ":1",
                    "SLIPWAY_PLUGIN() names the component '" + name + "', which this manifest does not describe",
                    "the manifest describes " + joined(described));
  return status;
}

int run(const std::vector<std::string>& words) {
  if (words.size() == 3 && words[0] == "embed") return embed(words[1], words[2]);
  if (words.size() == 3 && (words[0] == "library" || words[0] == "service"))
    return check_library(words[1], words[2], words[0] == "service");
  std::fputs("usage: slipway-manifest embed MANIFEST OUT.cpp | library PLUGIN MANIFEST | service LIBRARY MANIFEST\n",
             stderr);
  return 64;
}

}  // namespace
}  // namespace slipway::plugin_check

int main(int count, char** values) {
  const int status = slipway::plugin_check::run({values + std::min(count, 1), values + count});
  std::fflush(stderr);
  ::_exit(status);  // skips the library's destructors, which the build does not need
}
