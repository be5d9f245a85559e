// SPDX-License-Identifier: Apache-2.0
// tests/unit/core/worker/plugins/raw.cpp - a plugin without the SDK that breaks the C contract, by the operation's
// name.
#include <cstring>
#include <string>

#include <slipway/abi.h>

namespace {

struct Foreign {};

void answer(const slipway_reply* reply, const std::string& text) {
  reply->write(reply->context, text.data(), text.size());
}

int call(void*, const char* op, const char*, size_t, const slipway_reply* reply) {
  const std::string name = op;
  if (name == "fine") {
    answer(reply, "[1]");
    return SLIPWAY_OK;
  }
  if (name == "throw") throw Foreign();
  if (name == "silent") return SLIPWAY_OK;
  if (name == "twice") {
    answer(reply, "1");
    answer(reply, "2");
    return SLIPWAY_OK;
  }
  if (name == "no json") {
    answer(reply, "{\"a\": ");
    return SLIPWAY_OK;
  }
  if (name == "deep") {
    answer(reply, std::string(100000, '[') + std::string(100000, ']'));
    return SLIPWAY_OK;
  }
  if (name == "huge") {
    answer(reply, '"' + std::string(70U << 20, 'x') + '"');
    return SLIPWAY_OK;
  }
  if (name == "strange error") {
    answer(reply, "\"out of luck\"");
    return SLIPWAY_FAILED;
  }
  if (name == "status 9") {
    answer(reply, "1");
    return 9;
  }
  return SLIPWAY_UNSUPPORTED;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int slipway_plugin_open(const slipway_services*,
                                                                          slipway_plugin* plugin) {
  plugin->call = call;
  return RAW_OPENS;
}
