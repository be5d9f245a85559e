// SPDX-License-Identifier: Apache-2.0
#include "toolkit/runtime/docker/daemon_json.hpp"

#include <algorithm>

#include "base/merge/json_fault.hpp"
#include "toolkit/runtime/engine.hpp"

namespace slipway::toolkit {
namespace {

constexpr const char* kDockerNext = "correct the file; slipway leaves it as it is";

std::string place_of(const std::string& path, const std::string& text, std::size_t offset) {
  const std::string before = text.substr(0, offset);
  const auto line_begin = before.rfind('\n') + 1;  // 0 in the first line
  return path + ":" + std::to_string(std::ranges::count(before, '\n') + 1) + ":" +
         std::to_string(before.size() - line_begin + 1);
}

Error wrong_file(const std::string& what, const std::string& place, const std::string& next = kDockerNext) {
  return Error{ErrorCode::invalid, what, place, next, {}};
}

Error reserved(const std::string& name) {
  return Error{
      ErrorCode::unsupported,
      "Docker reserves the runtime name " + name + ", and does not start when its configuration has such a runtime",
      "spec.components.runtime.names",
      "choose another name, such as nvidia, or leave docker out of engines",
      {}};
}

/// dockerd does not start when its file and a flag set the same.
Error set_by_flag(const std::string& what, const std::string& flag, const Json& flags, const std::string& next) {
  return Error{ErrorCode::unsupported,
               "dockerd is started with " + flag + ", which sets " + what +
                   "; dockerd does not start when its configuration file sets the same",
               text_of(flags, "place"),
               next,
               {}};
}

Status check_name(const std::string& name, const std::string& program, const Json& file, const std::string& file_path,
                  const Json& flags) {
  if (name == "runc" || name.starts_with("io.containerd.")) return reserved(name);
  for (const char* other : {"runtimeType", "options"})
    if (!at_path(file, {"runtimes", name, other}).is_null())
      return Error{ErrorCode::unsupported,
                   "the runtime " + name + " of Docker is of another kind (it has " + other +
                       "), and dockerd does not start when that runtime has a path as well",
                   file_path,
                   "choose another name with `names`, or remove that runtime from the file",
                   {}};
  if (const std::string by_flag = text_of(at_path(flags, {"runtimes"}), name); !by_flag.empty() && by_flag != program)
    return set_by_flag("the runtime " + name, "--add-runtime=" + name + "=" + by_flag, flags,
                       "remove the flag, or choose another name with `names`");
  return {};
}

}  // namespace

Result<Json> read_daemon_json(const Host& host, const std::string& path) {
  const auto read = host.read(path);
  if (!read && read.error().code == ErrorCode::not_found) return Json::object();
  if (!read) return read.error();
  std::string text = *read;
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff"))
    return wrong_file("the file is UTF-16", path, "convert it to UTF-8: `iconv -f UTF-16 -t UTF-8 " + path + "`");
  if (text.starts_with("\xef\xbb\xbf")) text.erase(0, 3);
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) return Json::object();
  if (const auto fault = merge::find_json_fault(text))
    return wrong_file("the file is not JSON: " + fault->why, place_of(path, text, fault->offset_bytes));
  Json value = Json::parse(text);
  if (!value.is_object()) return wrong_file("the file is not a JSON object", path + ":1:1");
  return value;
}

Json docker_flags(const Daemon& daemon) {
  Json flags = Json::object();
  if (!daemon.place.empty()) flags["place"] = daemon.place;
  if (const std::string name = daemon.option({"--default-runtime"}); !name.empty()) flags["default-runtime"] = name;
  for (const std::string& runtime : daemon.options({"--add-runtime"}))
    if (const auto equals = runtime.find('='); equals != std::string::npos)
      flags["runtimes"][runtime.substr(0, equals)] = runtime.substr(equals + 1);
  for (const std::string& feature : daemon.options({"--feature"})) {
    const std::string value = feature.substr(std::min(feature.find('='), feature.size()));
    if (feature.substr(0, feature.size() - value.size()) == "cdi")
      flags["cdi"] = value.empty() || value == "=true";
    else if (!flags.contains("cdi"))
      flags["cdi"] = false;
  }
  if (const auto folders = daemon.options({"--cdi-spec-dir"}); !folders.empty()) flags["cdi-spec-dirs"] = folders;
  return flags;
}

Json docker_low_level(const Json& file, const Json& flags, const std::string& ours) {
  const auto program_of = [&](const std::string& name) {
    const std::string path = text_of(at_path(file, {"runtimes", name}), "path");
    return path.empty() ? text_of(at_path(flags, {"runtimes"}), name) : path;
  };
  std::string chosen = text_of(flags, "default-runtime");
  if (chosen.empty()) chosen = text_of(file, "default-runtime");
  return low_level_of(program_of(chosen.empty() ? "runc" : chosen), program_of("runc"), ours);
}

Status check_docker_change(const DockerChange& change, const Json& file, const std::string& file_path,
                           const Json& flags) {
  if (!change.program.empty())
    for (const std::string& name : change.names)
      SLIPWAY_CHECK(check_name(name, change.program, file, file_path, flags));
  if (const std::string named = text_of(flags, "default-runtime");
      change.as_default && !named.empty() && named != change.names.front())
    return set_by_flag("the default runtime", "--default-runtime=" + named, flags,
                       "remove the flag, or remove set_as_default from the spec");
  if (change.cdi && !flags.value("cdi", true))
    return set_by_flag("features without CDI", "--feature", flags,
                       "add --feature cdi to the command, or write cdi: false");
  return {};
}

}  // namespace slipway::toolkit
