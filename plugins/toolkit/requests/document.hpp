// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/requests/document.hpp - JSON documents of other programs that are edited in place.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <slipway/json.hpp>
#include <slipway/result.hpp>

#include "nvidia/cdi/spec.hpp"
#include "toolkit/requests/devices.hpp"

namespace slipway::shim {

/// Parses an object. Errors: `invalid`, with `where`: invalid JSON, not an object, nested deeper than kMaxJsonDepth.
Result<Json> parse_document(std::string_view text, const std::string& where);

/// Reads members of a document that must have one type if they exist; null counts as missing.
class Members {
 public:
  /// @param where  the file, for errors
  explicit Members(std::string where) : where_(std::move(where)) {}

  /// Returns the member for reading; nullptr if it is missing. Errors: `invalid` when it has another type.
  Result<const Json*> object_in(const Json& parent, const char* name) const;
  Result<const Json*> list_in(const Json& parent, const char* name) const;
  /// Returns the member for an edit; creates it if it is missing.
  Result<Json*> make_object(Json& parent, const char* name) const;
  Result<Json*> make_list(Json& parent, const char* name) const;

  Error invalid(const std::string& what) const;

 private:
  Result<Json*> make(Json& parent, const char* name, Json::value_t type) const;
  Result<const Json*> find(const Json& parent, const char* name, Json::value_t type) const;
  std::string where_;
};

/// Returns a text member; empty if it is missing or has another type.
std::string text_in(const Json& object, const char* name);

/// Applies environment, nodes with their cgroup rules, network devices, mounts, hooks, Intel RDT and groups by the
/// rules of the CDI specification: a variable, node or mount of the same name is replaced, mounts are sorted by depth.
/// An existing hook or rule is not added again, so that a second edit changes nothing.
///
/// Removes hooks of NVIDIA's legacy runtime, which would inject the devices a second time.
///
/// @param bundle     members outside of CDI are not changed; after an error it is partly edited
/// @param read_node  reads values that a spec leaves out
/// @param where      the bundle's file, for errors
/// @param cgroups    false: adds no rules that let the container open the nodes
/// Errors: `invalid` when a member has another type than in OCI; those of complete_node().
Status apply_edits(Json& bundle, const nvidia::cdi::Edits& edits, const ReadNode& read_node, const std::string& where,
                   bool cgroups = true);

/// Returns a line for each node, mount and hook, for logs.
std::vector<std::string> described(const nvidia::cdi::Edits& edits);

}  // namespace slipway::shim
