// SPDX-License-Identifier: Apache-2.0
// core/loader/manifest.hpp - what a plugin's manifest says of one component, without loading the plugin.
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
  std::vector<std::string> after;              ///< names or capabilities: order only, when they are in the spec
  std::vector<std::string> requires_;          ///< names or capabilities that must be in the spec, and ready
  std::vector<std::string> provides;           ///< capabilities, besides its own name
  std::vector<std::string> conflicts;          ///< names or capabilities that may not be in the same spec
  std::map<std::string, std::string> outputs;  ///< name to type ("string", "integer", "boolean")
  std::map<std::string, std::vector<std::string>> sections;  ///< keys of other components' sections that it reads
  bool has_tools = false;                                    ///< `tools: true`: answers the operation "tool"
  std::map<std::string, std::string> tool_programs;  ///< further tools, each a program of its own: tool to program
  enum class ServiceIn { none, plugin, beside, program };
  ServiceIn service = ServiceIn::none;            ///< its long-running part: in the plugin itself, or beside it in
                                                  ///< NAME.service.so, or NAME-service
  std::map<std::string, std::string> service_if;  ///< values of its spec's keys that all hold where it has the service
  Json service_needs = Json::object();            ///< what its unit lets the service have (docs/manifest.md)
  bool says_needs = false;                        ///< it is there, if empty
  std::string service_device;  ///< the service has no use without a device of this modalias, a glob; empty: none
  std::vector<std::string> boot_before;   ///< units that wait until slipway-boot.service is through with it
  std::vector<std::string> verify_after;  ///< units that slipway-verify.service waits for at a boot
  bool service_before = false;            ///< the service's unit comes before those of `boot_before`, too
  bool service_hands_over = false;        ///< two of the service may run at once while one takes over from the other
  bool unlimited_memory = false;          ///< `memory: unlimited`: its workers may use any amount
  SchemaKey spec;                         ///< an object
};

/// A component with that section has a service: one is declared, and `service_if` holds.
bool has_service(const Manifest& component, const Json& section);

/// Parses a manifest: YAML, one document per component. `origin` (a file name) goes into messages.
/// Errors: `invalid`, with origin:line:column and what was expected.
Result<std::vector<Manifest>> parse_manifests(std::string_view yaml, const std::string& origin);

}  // namespace slipway::core
