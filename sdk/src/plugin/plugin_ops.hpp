// SPDX-License-Identifier: Apache-2.0
// sdk/src/plugin/plugin_ops.hpp - what a component answers to each operation of sdk/slipway/abi.h, its tools and its
// running service among them.
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

/// Reads the request, asks the component, and writes its answer. Errors: the component's; `unsupported` when it has no
/// such ability; `invalid` when the request lacks something.
using Operation = std::function<Result<Json>(Component&, const Json& request, const slipway_services&)>;

/// nullptr for an operation that is not known.
const Operation* find_operation(const std::string& name);

/// As ServiceIo::alive_every() has it.
using AliveEvery = std::optional<std::chrono::milliseconds>;

/// Runs a component's service until it ends. Errors: the service's; `conflict` it runs already.
Status run_service(const std::string& component, Service& service, const Spec& spec, const Host& host,
                   AliveEvery alive_every, const slipway_services& services);

/// For another thread, while run_service() is under way there. Errors: `not_found` it does not run; the service's.
Status quiesce_service(const std::string& component);
Status resume_service(const std::string& component);
Status stop_service(const std::string& component, bool runs_again);

/// The reply to "tools".
Json tools_to_json(const std::vector<ToolInfo>& tools);
/// What the request "tool" has of a command line.
CommandWords words_from_json(const Json& request);

/// A message to slipway that has no answer worth waiting for ("log", "ready").
void tell_slipway(const slipway_services& services, const char* op, const Json& message);

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
  void tell(const char* op, const Json& message) const { tell_slipway(services_, op, message); }
  const slipway_services& services_;
};

/// What nlohmann::json throws names types and no key. The keys are those in the request of a call whose values have the
/// type that was found: the one that was meant is among them, if the value came from there at all.
/// @param request  of the operation that threw: {component, spec, facts, inputs, action}
/// @return `plugin_defect`
Error json_misuse(const Json::exception& problem, const Json& request);

}  // namespace slipway::detail
