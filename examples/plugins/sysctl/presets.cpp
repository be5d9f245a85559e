// SPDX-License-Identifier: Apache-2.0
#include "presets.hpp"

#include <algorithm>

namespace sysctl {
namespace {

using slipway::Error;
using slipway::ErrorCode;

Parameters preset(const std::string& name) {
  if (name == "none") return {};
  Parameters parameters{{"kernel.numa_balancing", "0"}, {"vm.max_map_count", "1048576"}, {"vm.zone_reclaim_mode", "0"}};
  if (name == "rdma")
    parameters.insert({{"net.core.rmem_max", "268435456"},
                       {"net.core.wmem_max", "268435456"},
                       {"net.ipv4.tcp_rmem", "4096 87380 134217728"},
                       {"net.ipv4.tcp_wmem", "4096 65536 134217728"}});
  return parameters;
}

/// Names have dots between their parts; a slash stands for a dot that is part of one (sysctl.d(5)).
bool is_parameter(const std::string& name) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string("._-/").find(c) != std::string::npos;
  };
  return name.find('.') != std::string::npos && name.find("..") == std::string::npos &&
         std::all_of(name.begin(), name.end(), allowed) && name.front() != '.' && name.back() != '.' &&
         name.front() != '/' && name.front() != '-';
}

}  // namespace

slipway::Result<Parameters> wanted_parameters(const slipway::Spec& spec) {
  Parameters parameters = preset(spec.text("preset"));
  const slipway::Json values = spec.value("values");
  if (!values.is_object()) return parameters;
  for (const auto& [name, value] : values.items()) {
    const std::string where = "sysctl.values." + name;
    if (!is_parameter(name))
      return Error{.code = ErrorCode::invalid,
                   .what = "'" + name + "' is no name of a kernel parameter",
                   .where = where,
                   .next = "write it as `sysctl -a` prints it, for example vm.max_map_count"};
    if (!value.is_string() || value.get<std::string>().find('\n') != std::string::npos)
      return Error{.code = ErrorCode::invalid, .what = "the value of " + name + " must be one line", .where = where};
    parameters[name] = value.get<std::string>();
  }
  return parameters;
}

std::string path_of(const std::string& parameter) {
  std::string path = parameter;
  for (char& c : path) c = c == '.' ? '/' : c == '/' ? '.' : c;
  return "/proc/sys/" + path;
}

}  // namespace sysctl
