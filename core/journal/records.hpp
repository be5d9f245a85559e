// SPDX-License-Identifier: Apache-2.0
// core/journal/records.hpp - the records of a root and their JSON form: what each component owns, what was applied, and
// which files triggers made.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <slipway/action.hpp>

#include "core/host/path_image.hpp"

namespace slipway::core {

/// One action that was carried out and is still in place.
struct Owned {
  Action action;                   ///< as planned
  Image original;                  ///< the state before slipway, which removal restores
  Json record;                     ///< ActionKind::fingerprint() right after the action
  Json replaced = Json::object();  ///< replaced edits: {GENERATION: image}; a rollback to it restores them
  std::string key() const { return action.kind() + " " + action.target(); }
};

/// Everything that one component owns in this root.
struct Ownership {
  std::string component;
  int order = 0;  ///< position in the order of the apply that made it: removal goes backwards
  std::vector<Owned> items;
  Json outputs = Json::object();
  bool lost = false;  ///< its record was damaged: an apply takes over things that already match the plan
  const Owned* find(const std::string& key) const;
};

/// Null when the component owns nothing.
const Ownership* owned_by(const std::string& component, const std::map<std::string, Ownership>& owned);

Json to_json(const Ownership& ownership);
Ownership ownership_from_json(const Json& value);

/// The applied state of a root, by component, each as of its last success: enough to apply it again.
struct Generation {
  int number = 0;
  int before = 0;                 ///< the generation that a rollback from this one returns to; 0: none, or not recorded
  std::string time;               ///< when it was applied, RFC 3339 in UTC; empty: an image without SOURCE_DATE_EPOCH
  Json spec;                      ///< the host spec as written, with absolute paths
  std::string spec_file;          ///< the file of the spec; for an image the name without its folder
  Json lock;                      ///< core/engine/model/lockfile.hpp
  Json plugins = Json::object();  ///< component to {version, digest}; only for applied components
  std::vector<std::string> kernels = {};   ///< --kernel, each, when it was given
  std::vector<std::string> left_out = {};  ///< components of the spec that are not applied, sorted
  Json accepted = Json::object();          ///< edits: {COMPONENT: {ITEM: …}}, see core/engine/plan/edits.hpp
};

Json to_json(const Generation& generation);
Generation generation_from_json(const Json& value);

/// A thing that is removed with the last component that names it: a file that a trigger made and that did not exist
/// before, or a store of layers.
struct Product {
  std::string trigger;  ///< empty for a store
  std::string store;    ///< the store's name; empty for a trigger's file
  Image original;
};

/// {PATH: {"trigger", "original"}}, and for a store {PATH: {"trigger": "", "store", "original"}}.
Json to_json(const std::map<std::string, Product>& products);
std::map<std::string, Product> products_from_json(const Json& value);

}  // namespace slipway::core
