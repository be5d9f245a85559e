// SPDX-License-Identifier: Apache-2.0
#include "core/journal/unproven.hpp"

#include <algorithm>
#include <string_view>

namespace slipway::core {
namespace {

constexpr std::size_t kMostStores = 64;

bool is_name(std::string_view text) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
  return !text.empty() && text.size() <= 128 && text.find_first_not_of(kPlain) == std::string_view::npos;
}

bool is_set(std::string_view text) { return text.starts_with("set-") && is_name(text); }

}  // namespace

Json to_json(const UnprovenChange& change) {
  Json stores = Json::object();
  for (const auto& [name, store] : change.stores)
    stores[name] = {{"component", store.component}, {"former", store.former}, {"set", store.set}};
  return {{"attempts", change.attempts},
          {"before", change.before},
          {"boot_id", change.boot_id},
          {"failed", change.failed},
          {"generation", change.generation},
          {"returned", change.returned},
          {"stores", stores},
          {"verified", change.verified}};
}

UnprovenChange unproven_from_json(const Json& value) {
  UnprovenChange change;
  change.generation = value.value("generation", 0);
  change.before = value.value("before", 0);
  change.boot_id = value.value("boot_id", "");
  change.verified = value.value("verified", false);
  change.failed = value.value("failed", false);
  change.attempts = value.value("attempts", 0);
  change.returned = value.value("returned", std::vector<std::string>{});
  for (const auto& [name, store] : value.at("stores").get<std::map<std::string, Json>>())
    change.stores[name] = {store.value("component", ""), store.value("set", ""),
                           store.value("former", std::vector<std::string>{})};
  return change;
}

bool has_store_names(const UnprovenChange& change) {
  return change.generation >= 0 && change.before >= 0 && change.stores.size() <= kMostStores &&
         std::ranges::all_of(change.stores, [](const auto& each) {
           const UnprovenStore& store = each.second;
           return is_name(each.first) && is_name(store.component) && is_set(store.set) && !store.former.empty() &&
                  store.former.size() <= kMostStores && std::ranges::all_of(store.former, is_set);
         });
}

}  // namespace slipway::core
