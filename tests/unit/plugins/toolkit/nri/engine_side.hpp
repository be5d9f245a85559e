// SPDX-License-Identifier: Apache-2.0
// tests/unit/plugins/toolkit/nri/engine_side.hpp - an engine's messages on NRI's socket, and its reading of the
// answers.
#pragma once

#include <string>
#include <vector>

#include "slipway/nri/nri.pb.h"
#include "slipway/nri/ttrpc.pb.h"
#include "toolkit/nri/frames.hpp"

namespace slipway::nri {

inline constexpr const char* kPlugin = "nri.pkg.api.v1alpha1.Plugin";

inline std::string question(std::uint32_t stream, const std::string& method, const std::string& payload,
                            const std::string& service = kPlugin) {
  wire::Request request;
  request.set_service(service);
  request.set_method(method);
  request.set_payload(payload);
  return encode({kPluginChannel, stream, Message::kRequest, 0, request.SerializeAsString()});
}

inline std::string registered(const std::string& refusal = {}) {
  wire::Response response;
  if (!refusal.empty()) response.mutable_status()->set_code(2);
  response.mutable_status()->set_message(refusal);
  return encode({kRuntimeChannel, 1, Message::kResponse, 0, response.SerializeAsString()});
}

inline std::string configure(std::uint32_t stream, const std::string& engine, const std::string& version) {
  wire::ConfigureRequest request;
  request.set_runtime_name(engine);
  request.set_runtime_version(version);
  return question(stream, "Configure", request.SerializeAsString());
}

inline std::string synchronize(std::uint32_t stream, bool more) {
  wire::SynchronizeRequest request;
  request.set_more(more);
  return question(stream, "Synchronize", request.SerializeAsString());
}

inline std::string create(std::uint32_t stream, const wire::CreateContainerRequest& request) {
  return question(stream, "CreateContainer", request.SerializeAsString());
}

/// Returns a container of a pod with these variables.
inline wire::CreateContainerRequest container_with(const std::vector<std::string>& variables) {
  wire::CreateContainerRequest request;
  request.mutable_pod()->set_name("train-0");
  request.mutable_pod()->set_pod_namespace("team-a");
  request.mutable_container()->set_name("cuda");
  for (const std::string& variable : variables) request.mutable_container()->add_env(variable);
  return request;
}

inline void add_annotation(google::protobuf::RepeatedPtrField<wire::TextPair>& annotations, const std::string& key,
                           const std::string& value) {
  auto* const pair = annotations.Add();
  pair->set_key(key);
  pair->set_value(value);
}

/// Returns the answer in a message.
inline wire::Response response_in(const Message& message) {
  wire::Response response;
  if (message.type != Message::kResponse || !response.ParseFromString(message.payload))
    response.mutable_status()->set_code(-1);
  return response;
}

/// Returns the container's changes from an answer.
inline wire::ContainerAdjustment adjustment_in(const wire::Response& response) {
  wire::CreateContainerResponse created;
  (void)created.ParseFromString(response.payload());
  return created.adjust();
}

}  // namespace slipway::nri
