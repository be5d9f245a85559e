// SPDX-License-Identifier: Apache-2.0
// sdk/src/plugin/plugin_tool_io.hpp - a tool's ToolIo over the services that slipway gives a plugin.
#pragma once

#include <string>

#include <slipway/abi.h>

#include <slipway/commands.hpp>

namespace slipway::detail {

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

}  // namespace slipway::detail
