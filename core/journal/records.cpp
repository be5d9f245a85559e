// SPDX-License-Identifier: Apache-2.0
#include "core/journal/records.hpp"

#include <algorithm>

namespace slipway::core {

const Owned* Ownership::find(const std::string& key) const {
  const auto found = std::ranges::find(items, key, &Owned::key);
  return found == items.end() ? nullptr : &*found;
}

const Ownership* owned_by(const std::string& component, const std::map<std::string, Ownership>& owned) {
  const auto found = owned.find(component);
  return found == owned.end() ? nullptr : &found->second;
}

Json to_json(const Ownership& ownership) {
  Json items = Json::array();
  for (const Owned& item : ownership.items) {
    items.push_back({{"action", item.action.json()}, {"original", item.original}, {"record", item.record}});
    if (!item.replaced.empty()) items.back()["replaced"] = item.replaced;
  }
  Json value{{"component", ownership.component},
             {"items", std::move(items)},
             {"order", ownership.order},
             {"outputs", ownership.outputs}};
  if (ownership.lost) value["lost"] = true;
  return value;
}

Ownership ownership_from_json(const Json& value) {
  Ownership ownership;
  ownership.component = value.value("component", "");
  ownership.order = value.value("order", 0);
  ownership.lost = value.value("lost", false);
  ownership.outputs = value.value("outputs", Json::object());
  for (const Json& item : value.value("items", Json::array())) {
    const Action action(item.value("action", Json::object()));
    ownership.items.push_back({with_normal_path(action).value_or(action), item.value("original", Json{}),
                               item.value("record", Json{}), item.value("replaced", std::map<std::string, Json>{})});
  }
  return ownership;
}

Json to_json(const Generation& generation) {
  const std::vector<std::string>& kernels = generation.kernels;
  Json value{{"before", generation.before},      {"kernel", kernels.empty() ? "" : kernels.front()},
             {"lock", generation.lock},          {"number", generation.number},
             {"plugins", generation.plugins},    {"spec", generation.spec},
             {"spec_file", generation.spec_file}};
  if (kernels.size() > 1) value["kernels"] = kernels;
  if (!generation.left_out.empty()) value["left_out"] = generation.left_out;
  if (!generation.time.empty()) value["time"] = generation.time;
  if (!generation.accepted.empty()) value["accepted"] = generation.accepted;
  return value;
}

Generation generation_from_json(const Json& value) {
  Generation generation;
  generation.number = value.value("number", 0);
  generation.before = value.value("before", 0);
  generation.time = value.value("time", "");
  generation.spec = value.value("spec", Json::object());
  generation.spec_file = value.value("spec_file", "");
  generation.lock = value.value("lock", Json{});
  generation.plugins = value.value("plugins", Json::object());
  generation.accepted =
      value.value("accepted", std::map<std::string, std::map<std::string, std::map<std::string, Json>>>{});
  const std::string kernel = value.value("kernel", "");
  generation.left_out = value.value("left_out", std::vector<std::string>{});
  if (!kernel.empty()) generation.kernels = value.value("kernels", std::vector<std::string>{kernel});
  return generation;
}

Json to_json(const std::map<std::string, Product>& products) {
  Json value = Json::object();
  for (const auto& [path, product] : products) {
    value[path] = {{"trigger", product.trigger}, {"original", product.original}};
    if (!product.store.empty()) value[path]["store"] = product.store;
  }
  return value;
}

std::map<std::string, Product> products_from_json(const Json& value) {
  std::map<std::string, Product> products;
  for (const auto& [path, product] : value.items())
    products[path] = {product.value("trigger", ""), product.value("store", ""), product.value("original", Json{})};
  return products;
}

}  // namespace slipway::core
