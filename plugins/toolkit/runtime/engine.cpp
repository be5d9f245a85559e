// SPDX-License-Identifier: Apache-2.0
#include "toolkit/runtime/engine.hpp"

#include <algorithm>
#include <charconv>
#include <sstream>

#include "nvidia/machine/dpkg.hpp"
#include "toolkit/environment.hpp"

namespace slipway::toolkit {
namespace {

constexpr const char* kFolders[] = {"/usr/bin", "/usr/local/bin", "/usr/sbin", "/usr/local/sbin"};
constexpr const char* kRuntimes[] = {"slipway-runtime", "nvidia-container-runtime"};
constexpr const char* kInstallerRuntime = "/usr/local/nvidia/toolkit/nvidia-container-runtime";
constexpr std::chrono::seconds kVersionLimit{10};

bool executable(const Host& host, const std::string& path) {
  const auto real = host.resolve(path);
  const auto info = real ? host.info(*real) : Result<FileInfo>(real.error());
  return info && info->type == FileInfo::Type::regular && (info->mode & 0111U) != 0;
}

}  // namespace

EngineVersion parse_engine_version(const std::string& text) {
  const auto epoch = text.find(':');
  const char* at = text.data() + (epoch == std::string::npos ? 0 : epoch + 1);
  const char* const end = text.data() + text.size();
  if (at != end && *at == 'v') ++at;
  EngineVersion version;
  const auto major = std::from_chars(at, end, version.major);
  if (major.ec != std::errc{} || major.ptr == end || *major.ptr != '.') return {};
  const auto minor = std::from_chars(major.ptr + 1, end, version.minor);
  if (minor.ec != std::errc{}) return {};
  if (minor.ptr != end && *minor.ptr == '.') std::from_chars(minor.ptr + 1, end, version.patch);
  return version;
}

std::string find_program(const Host& host, const std::string& name) {
  for (const std::string folder : kFolders)
    if (executable(host, folder + "/" + name)) return folder + "/" + name;
  return {};
}

std::string read_engine_version(const Host& host, const std::string& program,
                                const std::vector<std::string>& packages) {
  if (host.live()) {
    // "containerd github.com/containerd/containerd v1.7.24 HASH", "Docker version 26.1.5+dfsg1, build …"
    const auto output = host.run({program, "--version"}, kVersionLimit);
    std::istringstream words(output && output->exit_status == 0 ? output->output : "");
    for (std::string word; words >> word;)
      if (parse_engine_version(word).known()) return word;
  }
  return read_package_version(host, packages);
}

std::string read_package_version(const Host& host, const std::vector<std::string>& packages) {
  const std::string list = host.read(nvidia::kDpkgList, nvidia::kLongestDpkgList).value_or("");
  for (const std::string& package : packages)
    if (std::string version = nvidia::package_version(list, package); !version.empty()) return version;
  return {};
}

std::string find_runtime(const Host& host, const RuntimeSettings& settings) {
  if (!settings.runtime_path.empty() && settings.runtime_path != "auto") return settings.runtime_path;
  for (const char* name : kRuntimes)
    if (std::string path = find_program(host, name); !path.empty()) return path;
  return executable(host, kInstallerRuntime) ? kInstallerRuntime : "";
}

bool is_gpu_runtime(const std::string& program) {
  const std::string name = file_name(program);
  return std::ranges::any_of(kRuntimes, [&name](const char* each) { return name.starts_with(each); });
}

Json at_path(const Json& value, const std::vector<std::string>& names) {
  const Json* at = &value;
  for (const std::string& name : names) {
    if (!at->is_object() || !at->contains(name)) return nullptr;
    at = &(*at)[name];
  }
  return *at;
}

std::string text_of(const Json& object, const std::string& name) {
  const Json member = at_path(object, {name});
  return member.is_string() ? member.get<std::string>() : std::string();
}

void set_path(Json& value, const std::vector<std::string>& names, Json member) {
  Json* at = &value;
  for (const std::string& name : names) at = &(*at)[name];
  *at = std::move(member);
}

Error needs_runtime(const std::string& engine, const std::string& version) {
  return Error{ErrorCode::unsupported,
               engine + " " + version + " does not support CDI, and no runtime program for GPUs is installed",
               "spec.components.runtime",
               "install slipway-runtime as /usr/bin/slipway-runtime (it comes with slipway), or update " + engine,
               {}};
}

}  // namespace slipway::toolkit
