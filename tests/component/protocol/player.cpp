// SPDX-License-Identifier: Apache-2.0
// tests/component/protocol/player.cpp - a plugin from the time of a protocol's minor version: its note and its answers
// are the golden files, and nothing of today's SDK is in it.
#include <fstream>
#include <sstream>
#include <string>

#include <slipway/abi.h>

#include <nlohmann/json.hpp>

namespace {

int call(void*, const char* op, const char*, size_t, const slipway_reply* reply) {
  std::ifstream file(std::string(PROTOCOL_GOLDEN_FOLDER "/") + op + ".json");
  if (!file) return SLIPWAY_UNSUPPORTED;
  const auto recorded = nlohmann::json::parse(file);
  const std::string answer = recorded.at("reply").dump();
  reply->write(reply->context, answer.data(), answer.size());
  return recorded.at("status").get<int>();
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int slipway_plugin_open(const slipway_services*,
                                                                          slipway_plugin* plugin) {
  plugin->call = call;
  return SLIPWAY_OK;
}
