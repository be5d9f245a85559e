// SPDX-License-Identifier: Apache-2.0
// The C entry of slipway-sim-machine.so, which slipway's worker loads for --sim: JSON texts in and out, no exception
// across.
//
//   "enter"   {profile, folder, root} -> {kernel_view, kernel_release, environment, note?}: makes the machine below
//             `folder`; what stays of it from command to command lies below `root`, "" for this machine's own
//   "follow"  {root} -> null: the simulated driver becomes the one that `root` has by now
#include <exception>
#include <string>

#include <slipway/abi.h>

#include <slipway/json.hpp>
#include <slipway/result.hpp>

#include "sim/view/entered_machine.hpp"

namespace slipway::sim {
namespace {

EnteredMachine entered;  // one machine per worker process

Result<Json> enter(const Json& request) {
  SLIPWAY_TRY(made,
              enter_machine(request.value("profile", ""), request.value("folder", ""), request.value("root", "")));
  entered = std::move(made);
  Json answer{{"kernel_view", entered.kernel_view},
              {"kernel_release", entered.kernel_release},
              {"environment", entered.environment}};
  if (!entered.note.empty()) answer["note"] = entered.note;
  return answer;
}

Result<Json> follow(const Json& request) {
  SLIPWAY_CHECK(follow_root(entered, request.value("root", "/")));
  return Json();
}

int call(void*, const char* op, const char* json, std::size_t length, const slipway_reply* reply) noexcept {
  const auto answer = [&](int status, const Json& value) {
    const std::string text = canonical(value);
    reply->write(reply->context, text.data(), text.size());
    return status;
  };
  try {
    const std::string name = op;
    if (name != "enter" && name != "follow") return SLIPWAY_UNSUPPORTED;
    const Json request = Json::parse(json, json + length);
    const Result<Json> result = name == "enter" ? enter(request) : follow(request);
    return result ? answer(SLIPWAY_OK, *result) : answer(SLIPWAY_FAILED, to_json(result.error()));
  } catch (const std::exception& problem) {
    return answer(SLIPWAY_FAILED, to_json(Error{.what = std::string("the simulator failed: ") + problem.what()}));
  }
}

}  // namespace
}  // namespace slipway::sim

extern "C" __attribute__((visibility("default"))) int slipway_plugin_open(const slipway_services*,
                                                                          slipway_plugin* plugin) noexcept {
  if (plugin == nullptr || plugin->size < sizeof(slipway_plugin)) return SLIPWAY_FAILED;
  plugin->context = nullptr;
  plugin->call = slipway::sim::call;
  return SLIPWAY_OK;
}
