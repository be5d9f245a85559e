// SPDX-License-Identifier: Apache-2.0
#include "toolkit/nri/session.hpp"

#include <algorithm>

#include <slipway/json.hpp>

#include "slipway/nri/ttrpc.pb.h"
#include "toolkit/requests/report.hpp"

namespace slipway::nri {
namespace {

constexpr const char* kPluginService = "nri.pkg.api.v1alpha1.Plugin";
constexpr const char* kRuntimeService = "nri.pkg.api.v1alpha1.Runtime";
constexpr std::uint32_t kOurStream = 1;
constexpr int kCreateContainer = 1 << 3;  // event 4
// Codes of gRPC.
constexpr int kInvalidArgument = 3;
constexpr int kFailedPrecondition = 9;
constexpr int kUnimplemented = 12;
constexpr std::size_t kMaxReasonBytes = 4000;
// Events that slipway did not subscribe to; an empty answer fits all.
constexpr const char* kEvents[] = {
    "Shutdown",        "StateChange",      "RunPodSandbox",       "UpdatePodSandbox", "PostUpdatePodSandbox",
    "StopPodSandbox",  "RemovePodSandbox", "PostCreateContainer", "StartContainer",   "PostStartContainer",
    "UpdateContainer", "StopContainer",    "PostUpdateContainer", "RemoveContainer",  "ValidateContainerAdjustment"};

Error no_engine(const std::string& what) {
  return Error{ErrorCode::corrupt, what, {}, "make sure that it is a container engine that listens there", {}};
}

std::string encode_response(const Message& request, const wire::Response& response) {
  return encode({.channel = request.channel,
                 .stream = request.stream,
                 .type = Message::kResponse,
                 .flags = 0,
                 .payload = response.SerializeAsString()});
}

std::string accept(const Message& request, std::string payload) {
  wire::Response response;
  response.mutable_status();  // an engine's own implementation always sends one
  response.set_payload(std::move(payload));
  return encode_response(request, response);
}

std::string refuse(const Message& request, int code, const std::string& why) {
  wire::Response response;
  response.mutable_status()->set_code(code);
  response.mutable_status()->set_message(as_utf8(why.substr(0, kMaxReasonBytes)));
  return encode_response(request, response);
}

}  // namespace

std::string as_utf8(const std::string& text) { return Json::parse(canonical(Json(text))).get<std::string>(); }

std::string Session::registration() {
  wire::RegisterPluginRequest plugin;
  plugin.set_plugin_name(kPluginName);
  plugin.set_plugin_idx(kPluginIndex);
  wire::Request request;
  request.set_service(kRuntimeService);
  request.set_method("RegisterPlugin");
  request.set_payload(plugin.SerializeAsString());
  return encode({.channel = kRuntimeChannel,
                 .stream = kOurStream,
                 .type = Message::kRequest,
                 .flags = 0,
                 .payload = request.SerializeAsString()});
}

Result<std::string> Session::take(std::string_view bytes) {
  SLIPWAY_TRY(messages, frames_.take(bytes));
  std::string answers;
  for (const Message& message : messages) {
    if (message.channel == kRuntimeChannel) {
      SLIPWAY_CHECK(take_registered(message));
      continue;
    }
    SLIPWAY_TRY(bytes_of_answer, answer(message));
    answers += bytes_of_answer;
  }
  return answers;
}

/// The plugin sends only one request: the registration.
Status Session::take_registered(const Message& message) const {
  wire::Response response;
  if (message.type != Message::kResponse || message.stream != kOurStream || !response.ParseFromString(message.payload))
    return no_engine("its answer to the registration is invalid");
  if (response.status().code() == 0) return {};
  return Error{ErrorCode::denied,
               "the engine refuses the plugin: " + as_utf8(response.status().message()),
               {},
               "look into the engine's log",
               {}};
}

Result<std::string> Session::answer(const Message& message) {
  wire::Request request;
  if (message.type != Message::kRequest || message.stream % 2 == 0 || !request.ParseFromString(message.payload))
    return no_engine("it sends an invalid request");
  if (request.service() != kPluginService)
    return refuse(message, kUnimplemented, "there is no service " + request.service());
  if (request.method() == "Configure" || request.method() == "Synchronize") {
    const bool first = request.method() == "Configure";
    auto payload = first ? configure(request.payload()) : synchronize(request.payload());
    if (!payload) return std::move(payload).error();
    return accept(message, std::move(*payload));
  }
  if (request.method() == "CreateContainer") {
    wire::CreateContainerRequest create;
    if (!create.ParseFromString(request.payload()))
      return refuse(message, kInvalidArgument, "slipway: CreateContainer has a message that cannot be read");
    auto adjustment = adjust_(create);
    if (!adjustment) return refuse(message, kFailedPrecondition, shim::one_line("slipway", adjustment.error()));
    wire::CreateContainerResponse response;
    if (adjustment->ByteSizeLong() > 0) *response.mutable_adjust() = std::move(*adjustment);
    if (response.ByteSizeLong() > kMaxPayloadBytes / 2)
      return refuse(message, kFailedPrecondition, "slipway: the container has more devices than NRI accepts");
    return accept(message, response.SerializeAsString());
  }
  if (std::ranges::count(kEvents, request.method()) != 0) return accept(message, {});
  return refuse(message, kUnimplemented, "there is no method " + request.method());
}

Result<std::string> Session::configure(const std::string& payload) {
  wire::ConfigureRequest request;
  if (!request.ParseFromString(payload)) return no_engine("it sends a configuration that cannot be read");
  engine_ = as_utf8(request.runtime_name() + " " + request.runtime_version());
  wire::ConfigureResponse response;
  response.set_events(kCreateContainer);
  return response.SerializeAsString();
}

/// Existing containers keep their devices. Engines with many containers list them in parts.
Result<std::string> Session::synchronize(const std::string& payload) {
  wire::SynchronizeRequest request;
  if (!request.ParseFromString(payload)) return no_engine("it sends a list of containers that cannot be read");
  if (!request.more()) serving_ = true;
  wire::SynchronizeResponse response;
  response.set_more(request.more());
  return response.SerializeAsString();
}

}  // namespace slipway::nri
