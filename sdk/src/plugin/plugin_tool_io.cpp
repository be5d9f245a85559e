// SPDX-License-Identifier: Apache-2.0
#include "plugin_ops.hpp"

namespace slipway::detail {
namespace {

void take_answer(void* context, const char* json, std::size_t length) {
  static_cast<std::string*>(context)->assign(json, length);
}

Result<Json> call(const slipway_services& services, const char* op, const Json& message) {
  const std::string text = canonical(message);
  std::string answer;
  const slipway_reply reply{&answer, take_answer};
  const int status = services.call(services.context, op, text.data(), text.size(), &reply);
  Json value = Json::parse(answer, nullptr, false);
  if (status == SLIPWAY_OK && !value.is_discarded()) return value;
  if (status == SLIPWAY_OK || value.is_discarded())
    return Error{.code = ErrorCode::internal, .what = std::string("slipway's answer to '") + op + "' is not JSON"};
  Error error = error_from_json(value);
  if (status == SLIPWAY_UNSUPPORTED) error.code = ErrorCode::unsupported;
  return error;
}

}  // namespace

void notify_slipway(const slipway_services& services, const char* op, const Json& message) {
  (void)call(services, op, message).ok();
}

void ServiceToolIo::print(std::string_view text) { tell("output", {{"text", text}}); }

void ServiceToolIo::log(std::string_view text) { tell("log", {{"level", "info"}, {"text", text}}); }

void ServiceToolIo::warn(std::string_view text) { tell("log", {{"level", "warning"}, {"text", text}}); }

void ServiceToolIo::progress(std::string_view label, std::uint64_t done, std::uint64_t total) {
  tell("progress", {{"label", label}, {"done", done}, {"total", total}});
}

Result<Json> ServiceToolIo::core(std::string_view op, const Json& request) {
  return call(services_, "core", {{"op", op}, {"request", request}});
}

}  // namespace slipway::detail
