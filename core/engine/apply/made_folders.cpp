// SPDX-License-Identifier: Apache-2.0
#include "core/engine/apply/transaction.hpp"

namespace slipway::core {
namespace {

constexpr const char* kMember = "missing_parents";  // of a PathImage

/// Some kinds nest images in their own: a device node and its link.
void collect(const Json& image, std::set<std::string>& folders) {
  if (!image.is_object()) return;
  for (const auto& [name, value] : image.items()) {
    if (name != kMember) {
      collect(value, folders);
      continue;
    }
    for (const Json& folder : value) folders.insert(folder.get<std::string>());
  }
}

}  // namespace

std::set<std::string> made_folders(const std::map<std::string, Ownership>& owned,
                                   const std::map<std::string, Product>& products) {
  std::set<std::string> folders;
  for (const auto& [component, ownership] : owned)
    for (const Owned& item : ownership.items) collect(item.original, folders);
  for (const auto& [path, product] : products) collect(product.original, folders);
  return folders;
}

void add_made_parents(Image& image, const std::string& path, const std::set<std::string>& made) {
  if (!is_absent(image)) return;
  std::set<std::string> missing;
  collect(image, missing);
  Json all = Json::array();
  for (const std::string& folder : folders_above(path))
    if (missing.contains(folder) || made.contains(folder)) all.push_back(folder);
  if (!all.empty()) image[kMember] = std::move(all);
}

void add_made_parents(Image& image, const PlannedItem& item, const std::set<std::string>& made) {
  for (const auto& [path, part] : item.kind->paths(item.action, image)) add_made_parents(*part, path, made);
}

}  // namespace slipway::core
