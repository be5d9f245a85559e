// SPDX-License-Identifier: Apache-2.0
#include "deviceplugin/service/grpc/grpc_log.hpp"

#include <cstdio>
#include <mutex>
#include <string_view>

#include <grpc/support/log.h>

namespace slipway::deviceplugin {
namespace {

struct Listener {
  std::mutex mutex;
  std::function<void(const char* level, const std::string& text)> log;
};

/// Never destroyed: gRPC's threads may outlive main().
Listener& listener() {
  static Listener& one = *new Listener;
  return one;
}

const char* level_of(gpr_log_severity severity) {
  if (severity == GPR_LOG_SEVERITY_ERROR) return "warning";
  return severity == GPR_LOG_SEVERITY_INFO ? "info" : "debug";
}

void take(gpr_log_func_args* entry) {
  std::string_view file = entry->file;
  file.remove_prefix(file.rfind('/') + 1);  // npos + 1 is 0
  const std::string text =
      "gRPC: " + std::string(entry->message) + " (" + std::string(file) + ":" + std::to_string(entry->line) + ")";
  const std::scoped_lock lock(listener().mutex);
  if (listener().log)
    listener().log(level_of(entry->severity), text);
  else
    std::fprintf(stderr, "%s\n", text.c_str());
}

}  // namespace

void set_grpc_log(std::function<void(const char* level, const std::string& text)> log) {
  {
    const std::scoped_lock lock(listener().mutex);
    listener().log = std::move(log);
  }
  gpr_set_log_function(take);
}

}  // namespace slipway::deviceplugin
