// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/requests/document.hpp - JSON documents of others that are edited in place.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <slipway/json.hpp>
#include <slipway/result.hpp>

#include "nvidia/cdi/spec.hpp"
#include "toolkit/requests/devices.hpp"

namespace slipway::shim {

/// An object. Errors: `invalid`, naming `where`: no JSON, no object, nested deeper than kMaxJsonDepth.
Result<Json> parse_document(std::string_view text, const std::string& where);

/// Members of a document that must be of one type where they are there; null counts as missing.
class Members {
 public:
  /// @param where  the file, for errors
  explicit Members(std::string where) : where_(std::move(where)) {}

  /// The member for reading; nullptr where it is missing. Errors: `invalid` when it is of another type.
  Result<const Json*> object_in(const Json& parent, const char* name) const;
  Result<const Json*> list_in(const Json& parent, const char* name) const;
  /// The member for an edit, made where it is missing.
  Result<Json*> make_object(Json& parent, const char* name) const;
  Result<Json*> make_list(Json& parent, const char* name) const;

  Error invalid(const std::string& what) const;

 private:
  Result<Json*> make(Json& parent, const char* name, Json::value_t type) const;
  Result<const Json*> find(const Json& parent, const char* name, Json::value_t type) const;
  std::string where_;
};

/// A text member; empty where it is missing or something else.
std::string text_in(const Json& object, const char* name);

/// Environment, nodes with their cgroup rules, network devices, mounts, hooks, Intel RDT and groups, as the CDI
/// specification has it: a variable, node or mount of the same name is replaced, mounts are put in the order of their
/// depth. A hook or rule that is there already is not added again, so that a second edit changes nothing.
///
/// Hooks of NVIDIA's legacy runtime are taken out, since they would inject the devices a second time.
///
/// @param bundle     members that CDI does not know are left alone; on an error it is half edited
/// @param read_node  where what a spec leaves out is read
/// @param where      the bundle's file, for errors
/// @param cgroups    false: without rules that let the container open the nodes
/// Errors: `invalid` when a member has another type than OCI's; those of complete_node().
Status apply_edits(Json& bundle, const nvidia::cdi::Edits& edits, const ReadNode& read_node, const std::string& where,
                   bool cgroups = true);

/// A line for each node, mount and hook, for logs.
std::vector<std::string> described(const nvidia::cdi::Edits& edits);

}  // namespace slipway::shim
