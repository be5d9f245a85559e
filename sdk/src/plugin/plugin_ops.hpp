// SPDX-License-Identifier: Apache-2.0
// sdk/src/plugin/plugin_ops.hpp - implements each operation of sdk/slipway/abi.h by calling a component, including its
// tools and its running service.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include <slipway/abi.h>

#include <slipway/commands.hpp>
#include <slipway/component.hpp>
#include <slipway/service.hpp>

namespace slipway::detail {

/// Reads the request, calls the component, and returns its answer. Errors: the component's; `unsupported` when it lacks
/// this ability; `invalid` when the request is incomplete.
using Operation = std::function<Result<Json>(Component&, const Json& request, const slipway_services&)>;

/// Returns nullptr for an unknown operation.
const Operation* find_operation(const std::string& name);

/// The result of ServiceIo::alive_every().
using AliveEvery = std::optional<std::chrono::milliseconds>;

/// Runs a component's service until it ends. Errors: the service's; `conflict` it is already running.
Status run_service(const std::string& component, Service& service, const Spec& spec, const Host& host,
                   AliveEvery alive_every, const slipway_services& services);

/// For another thread, while run_service() is running. Errors: `not_found` the service does not run; the service's.
Status quiesce_service(const std::string& component);
Status resume_service(const std::string& component);
Status stop_service(const std::string& component, bool runs_again);

/// Returns the reply to "tools".
Json tools_to_json(const std::vector<ToolInfo>& tools);
/// Reads the command line of the request "tool".
CommandWords words_from_json(const Json& request);

/// Sends a message to slipway and ignores the answer ("log", "ready").
void notify_slipway(const slipway_services& services, const char* op, const Json& message);

class ServiceToolIo final : public ToolIo {
 public:
  /// `services` is borrowed for the life of this object.
  explicit ServiceToolIo(const slipway_services& services) : services_(services) {}

  void print(std::string_view text) override;
  void log(std::string_view text) override;
  void warn(std::string_view text) override;
  void progress(std::string_view label, std::uint64_t done, std::uint64_t total) override;
  Result<Json> core(std::string_view op, const Json& request) override;

 private:
  void tell(const char* op, const Json& message) const { notify_slipway(services_, op, message); }
  const slipway_services& services_;
};

/// Improves an exception of nlohmann::json, which names types and no key. Names the keys in the request whose values
/// have the type that was found: the right one is among them, if the value came from the request at all.
/// @param request  of the operation that threw: {component, spec, facts, inputs, action}
/// @return `plugin_defect`
Error json_misuse(const Json::exception& problem, const Json& request);

}  // namespace slipway::detail
