// SPDX-License-Identifier: Apache-2.0
// core/journal/records.hpp - what is recorded of a root, and how that reads as JSON: who owns what, what was applied,
// and what triggers made.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <slipway/action.hpp>

#include "core/host/path_image.hpp"

namespace slipway::core {

/// One action that was carried out and is still held.
struct Owned {
  Action action;                   ///< as planned
  Image original;                  ///< what was there before slipway: removal brings it back
  Json record;                     ///< ActionKind::fingerprint() right after it was done
  Json replaced = Json::object();  ///< edits that were replaced: {GENERATION: image}, back with a rollback to it
  std::string key() const { return action.kind() + " " + action.target(); }
};

/// Everything that one component holds in this root.
struct Ownership {
  std::string component;
  int order = 0;  ///< place in the order of the apply that made it: removal goes backwards
  std::vector<Owned> items;
  Json outputs = Json::object();
  bool lost = false;  ///< what it holds was in a record that was damaged: an apply takes over what is as it plans
  const Owned* find(const std::string& key) const;
};

/// Null: the component holds nothing.
const Ownership* owned_by(const std::string& component, const std::map<std::string, Ownership>& owned);

Json to_json(const Ownership& ownership);
Ownership ownership_from_json(const Json& value);

/// What is applied in a root, by component, each as it was when its own turn went well: enough to apply it anew.
struct Generation {
  int number = 0;
  int before = 0;                 ///< the one that a rollback from here goes to; 0: none, or not recorded
  std::string time;               ///< when it was applied, RFC 3339 in UTC; empty: an image without SOURCE_DATE_EPOCH
  Json spec;                      ///< the host spec as written, with absolute paths
  std::string spec_file;          ///< where it came from; of an image the name alone
  Json lock;                      ///< core/engine/plan/lockfile.hpp
  Json plugins = Json::object();  ///< component to {version, digest}; only of those that are applied
  std::vector<std::string> kernels = {};   ///< --kernel, each, when it was given
  std::vector<std::string> left_out = {};  ///< components of the spec that are not applied, sorted
  Json accepted = Json::object();          ///< edits: {COMPONENT: {ITEM: …}}, see core/engine/plan/edits.hpp
};

Json to_json(const Generation& generation);
Generation generation_from_json(const Json& value);

/// What goes with the last component that names it: a file that a trigger made where there was none, or a store of
/// layers.
struct Product {
  std::string trigger;  ///< empty: it is a store's
  std::string store;    ///< its name; empty: it is a trigger's
  Image original;
};

/// {PATH: {"trigger", "original"}}, and of a store {PATH: {"trigger": "", "store", "original"}}.
Json to_json(const std::map<std::string, Product>& products);
std::map<std::string, Product> products_from_json(const Json& value);

}  // namespace slipway::core
