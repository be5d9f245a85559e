// SPDX-License-Identifier: Apache-2.0
// sdk/src/plugin_tool_io.hpp - a tool's ToolIo over the services that slipway gives a plugin.
#pragma once

#include <string>

#include <slipway/abi.h>

#include <slipway/commands.hpp>

namespace slipway::detail {

class ServiceToolIo final : public ToolIo {
 public:
  /// `services` is borrowed for the life of this object.
  explicit ServiceToolIo(const slipway_services& services) : services_(services) {}

  void print(std::string_view text) override;
  void log(std::string_view text) override;
  void progress(std::string_view label, std::uint64_t done, std::uint64_t total) override;
  Result<Json> core(std::string_view op, const Json& request) override;

 private:
  Result<Json> call(const char* op, const Json& message) const;
  void tell(const char* op, const Json& message) const;
  const slipway_services& services_;
};

}  // namespace slipway::detail
