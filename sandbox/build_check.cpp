// SPDX-License-Identifier: Apache-2.0
// sandbox/build_check.cpp - checks before a build that the root of its compiler has everything it needs.
#include <algorithm>

#include "sandbox/build.hpp"
#include "sandbox/tool.hpp"

namespace slipway::sandbox {
namespace {

std::vector<std::string> texts(const Json& build, const char* member) {
  const Json value = build.value(member, Json());
  return value.is_array() ? value.get<std::vector<std::string>>() : std::vector<std::string>{};
}

std::vector<std::string> programs_of(const Json& build) {
  std::vector<std::string> programs;
  if (const auto argv = texts(build, "argv"); !argv.empty()) programs.push_back(argv.front());
  const Json collect = build.value("collect", Json::array());
  const auto any = [&](const char* member, const Json& unset) {
    return std::any_of(collect.begin(), collect.end(),
                       [&](const Json& file) { return file.value(member, unset) != unset; });
  };
  if (any("strip", false)) programs.emplace_back("strip");
  return programs;
}

bool has_program(const Host& host, const std::string& program) {
  return program.starts_with('/') ? host.exists(program) : root_has_tool(host, program);
}

}  // namespace

Error build_needs(const Json& build, const std::string& missing, const std::string& root) {
  const auto hint = build.value("needs_hint", std::string());
  return Error{ErrorCode::not_found,
               build.value("name", "") + " cannot be compiled: there is no " + missing + " in " + root,
               missing,
               root == "/" ? hint : command_in_root(hint, root),
               {}};
}

Status check_build(const Json& build, const Host& host) {
  for (const std::string& path : texts(build, "needs"))
    if (!host.exists(path)) return build_needs(build, path, host.root_folder());
  for (const std::string& program : programs_of(build))
    if (!has_program(host, program)) return build_needs(build, program, host.root_folder());
  if (programs_of(build).empty()) return {};  // run_build() reports that error
  if (!host.live() && !root_runs_here(host)) return needs_the_processor(host, programs_of(build).front());
  if (Status runs = check_in_root(host); !runs) {
    Error error = runs.error();
    error.what = build.value("name", "") + " has to be compiled, but " + error.what;
    return error;
  }
  return {};
}

}  // namespace slipway::sandbox
