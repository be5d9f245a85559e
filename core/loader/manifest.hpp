// SPDX-License-Identifier: Apache-2.0
// core/loader/manifest.hpp - reads a plugin's manifest, which describes its components, without loading the plugin.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <slipway/json.hpp>
#include <slipway/result.hpp>

#include "core/loader/schema/schema_key.hpp"

namespace slipway::core {

/// One document of the manifest: a component.
struct Manifest {
  std::string component;
  std::string purpose;
  std::vector<std::string> after;              ///< names or capabilities: order only, and only for those in the spec
  std::vector<std::string> requires_;          ///< names or capabilities that must be in the spec, and ready
  std::vector<std::string> provides;           ///< capabilities, besides its own name
  std::vector<std::string> conflicts;          ///< names or capabilities that may not be in the same spec
  std::map<std::string, std::string> outputs;  ///< name to type ("string", "integer", "boolean")
  std::map<std::string, std::vector<std::string>> sections;  ///< keys that it reads of other components' sections
  bool has_tools = false;                                    ///< `tools: true`: answers the operation "tool"
  std::map<std::string, std::string> tool_programs;  ///< further tools, each a program of its own: tool to program
  enum class ServiceIn { none, plugin, beside, program };
  ServiceIn service = ServiceIn::none;            ///< its long-running part: in the plugin itself, or beside it in
                                                  ///< NAME.service.so or NAME-service
  std::map<std::string, std::string> service_if;  ///< the service exists only with these values of the spec's keys
  Json service_needs = Json::object();            ///< the access that its unit grants the service (docs/manifest.md)
  bool declares_needs = false;                    ///< the key is present, even if empty
  std::string service_device;  ///< the service is useless without a device that this modalias glob matches; empty: none
  std::vector<std::string> boot_before;   ///< units that wait until slipway-boot.service is done with it
  std::vector<std::string> verify_after;  ///< units that slipway-verify.service waits for at a boot
  bool per_kernel = false;                ///< its plan has files for each kernel: `slipway kernel` applies it again
  bool service_before = false;            ///< the service's unit also starts before those of `boot_before`
  bool service_hands_over = false;        ///< two processes of it may run at once during a handover
  bool unlimited_memory = false;          ///< `memory: unlimited`: its workers may use any amount
  SchemaKey spec;                         ///< an object
};

/// True when a component with that section has a service: the manifest declares one, and `service_if` holds.
bool has_service(const Manifest& component, const Json& section);

/// Parses a manifest: YAML, one document per component. Messages name `origin` (a file name).
/// Errors: `invalid`, with origin:line:column and what was expected.
Result<std::vector<Manifest>> parse_manifests(std::string_view yaml, const std::string& origin);

}  // namespace slipway::core
