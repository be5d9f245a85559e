// SPDX-License-Identifier: Apache-2.0
#include "core/action/module/module_users.hpp"

#include <algorithm>
#include <charconv>

namespace slipway::core {
namespace {

std::string folder_of(std::string name) {
  std::replace(name.begin(), name.end(), '-', '_');
  return "/sys/module/" + name;
}

std::vector<std::string> holders_of(const Host& host, const std::string& name) {
  auto holders = host.list(folder_of(name) + "/holders").value_or(std::vector<std::string>{});
  std::sort(holders.begin(), holders.end());
  return holders;
}

/// The kernel has no cycles of holders.
void add_on_top(const Host& host, const std::string& name, std::vector<std::string>& order) {
  for (const std::string& holder : holders_of(host, name)) {
    if (std::find(order.begin(), order.end(), holder) != order.end()) continue;
    add_on_top(host, holder, order);
    order.push_back(holder);
  }
}

}  // namespace

std::string loaded_version(const Host& host, const std::string& name) {
  return host.attribute(folder_of(name) + "/version");
}

std::vector<std::string> modules_on_top(const Host& host, const std::string& name) {
  std::vector<std::string> order;
  add_on_top(host, name, order);
  return order;
}

std::vector<std::string> used_from_outside(const Host& host, const std::vector<std::string>& names) {
  std::vector<std::string> used;
  for (const std::string& name : names) {
    const std::string text = host.attribute(folder_of(name) + "/refcnt");
    std::size_t count = 0;
    std::from_chars(text.data(), text.data() + text.size(), count);
    const std::size_t modules = holders_of(host, name).size();  // each of them counts once
    if (count <= modules) continue;
    used.push_back(name + " (use count " + std::to_string(count - modules) + ")");
  }
  return used;
}

}  // namespace slipway::core
