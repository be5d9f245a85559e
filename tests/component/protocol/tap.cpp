// SPDX-License-Identifier: Apache-2.0
// tests/component/protocol/tap.cpp - stands between slipway and a plugin and records their messages.
//
// $PROTOCOL_TAP_TARGET: the plugin. $PROTOCOL_TAP_LOG: a file that gets a line of JSON for each call:
// {"op", "request", "status", "reply", "says": [{"op", "message"}]}.
#include <condition_variable>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>

#include <dlfcn.h>
#include <fcntl.h>
#include <slipway/abi.h>
#include <unistd.h>

#include <slipway/json.hpp>

namespace {

using slipway::Json;

struct Tap {
  slipway_plugin target{};
  const slipway_services* services = nullptr;
  slipway_services ours{};
  std::mutex mutex;
  Json says = Json::array();
  std::condition_variable written;
  int told = 0;  ///< calls in progress besides that of the service
} tap;

struct Copy {
  std::string text;
  static void write(void* context, const char* json, size_t length) {
    static_cast<Copy*>(context)->text.assign(json, length);
  }
};

void write_down(const Json& line) {
  const int file = ::open(std::getenv("PROTOCOL_TAP_LOG"), O_WRONLY | O_CREAT | O_APPEND, 0644);
  const std::string text = slipway::canonical(line) + "\n";
  (void)!::write(file, text.data(), text.size());
  ::close(file);
}

int output(void*, const char* op, const char* json, size_t length, const slipway_reply* reply) {
  {
    const std::lock_guard lock(tap.mutex);
    tap.says.push_back({{"op", op}, {"message", Json::parse(json, json + length)}});
  }
  return tap.services->call(tap.services->context, op, json, length, reply);
}

/// slipway ends this process once it has the service's answer, whatever else runs in it.
void wait_for_messages() {
  std::unique_lock lock(tap.mutex);
  tap.written.wait(lock, [] { return tap.told == 0; });
}

int pass_on(const std::string& op, const char* json, size_t length, const slipway_reply* reply) {
  Copy copy;
  const slipway_reply inner{&copy, Copy::write};
  const int status = tap.target.call(tap.target.context, op.c_str(), json, length, &inner);
  Json line{{"op", op}, {"request", Json::parse(json, json + length)}, {"status", status}, {"reply", nullptr}};
  if (!copy.text.empty()) line["reply"] = Json::parse(copy.text);
  {
    const std::lock_guard lock(tap.mutex);
    line["says"] = std::exchange(tap.says, Json::array());
  }
  write_down(line);
  if (op == "service") wait_for_messages();
  if (!copy.text.empty()) reply->write(reply->context, copy.text.data(), copy.text.size());
  return status;
}

void count(int step) {
  const std::lock_guard lock(tap.mutex);
  tap.told += step;
  tap.written.notify_all();
}

int call(void*, const char* op, const char* json, size_t length, const slipway_reply* reply) {
  const bool beside = std::string(op) != "service";
  if (beside) count(1);
  const int status = pass_on(op, json, length, reply);
  if (beside) count(-1);
  return status;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int slipway_plugin_open(const slipway_services* services,
                                                                          slipway_plugin* plugin) {
  tap.services = services;
  tap.ours = {sizeof(slipway_services), nullptr, output};
  tap.target.size = sizeof(slipway_plugin);
  void* const library = ::dlopen(std::getenv("PROTOCOL_TAP_TARGET"), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return SLIPWAY_FAILED;
  const auto open = reinterpret_cast<slipway_plugin_open_fn>(::dlsym(library, SLIPWAY_ENTRY));
  if (open == nullptr || open(&tap.ours, &tap.target) != SLIPWAY_OK) return SLIPWAY_FAILED;
  plugin->call = call;
  return SLIPWAY_OK;
}
