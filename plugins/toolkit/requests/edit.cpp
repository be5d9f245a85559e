// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include <slipway/text.hpp>

#include "toolkit/requests/document.hpp"

namespace slipway::shim {
namespace {

namespace cdi = nvidia::cdi;

constexpr const char* kLegacyHooks[] = {"nvidia-container-runtime-hook", "nvidia-container-toolkit"};

// Limits for an edited list: more than a container can use, and few enough to edit quickly.
constexpr std::size_t kMostElements = 10'000;
constexpr std::size_t kMostVariables = 100'000;

using Elements = std::vector<Json>;

/// Adds elements that the list does not have.
void add_once(Json& list, Elements elements) {
  std::set<Json, std::less<>> existing(list.begin(), list.end());
  for (Json& element : elements)
    if (existing.insert(element).second) list.push_back(std::move(element));
}

/// Replaces elements with the same key, and appends them. Of several with one key the last counts.
void replace_by(Json& list, Elements elements, const std::function<std::string(const Json&)>& key_of) {
  std::set<std::string> keys;
  Elements last;
  for (auto element = elements.rbegin(); element != elements.rend(); ++element)
    if (keys.insert(key_of(*element)).second) last.push_back(std::move(*element));
  std::erase_if(list.get_ref<Json::array_t&>(), [&](const Json& other) { return keys.contains(key_of(other)); });
  std::move(last.rbegin(), last.rend(), std::back_inserter(list.get_ref<Json::array_t&>()));
}

/// Returns "NAME=" for a variable; the whole element if it is not one.
std::string variable_of(const Json& element) {
  const std::string text = element.is_string() ? element.get<std::string>() : std::string();
  const auto equals = text.find('=');
  return equals == std::string::npos ? text : text.substr(0, equals + 1);
}

/// Returns how many folders a mount is below the root.
std::ptrdiff_t depth_of(const Json& mount) {
  std::string path = std::filesystem::path(text_in(mount, "destination")).lexically_normal().string();
  if (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return std::ranges::count(path, '/');
}

/// A mount inside a folder comes after the mount of the folder itself.
void put_in_order(Json::array_t& mounts) {
  std::vector<std::pair<std::ptrdiff_t, Json>> by_depth;
  for (Json& mount : mounts) {
    const std::ptrdiff_t depth = depth_of(mount);
    by_depth.emplace_back(depth, std::move(mount));
  }
  std::ranges::stable_sort(by_depth, {}, &std::pair<std::ptrdiff_t, Json>::first);
  for (std::size_t i = 0; i < mounts.size(); ++i) mounts[i] = std::move(by_depth[i].second);
}

class Editor {
 public:
  Editor(Json& bundle, const ReadNode& read_node, const std::string& where, bool cgroups)
      : bundle_(bundle), read_node_(read_node), members_(where), cgroups_(cgroups) {}

  Status apply(const cdi::Edits& edits) {
    SLIPWAY_CHECK(drop_legacy_hooks());
    if (!edits.env.empty()) SLIPWAY_CHECK(environment(edits.env));
    if (!edits.device_nodes.empty()) SLIPWAY_CHECK(device_nodes(edits.device_nodes));
    for (const auto& device : edits.net_devices) SLIPWAY_CHECK(net_device(device));
    if (!edits.mounts.empty()) SLIPWAY_CHECK(mounts(edits.mounts));
    SLIPWAY_CHECK(add_hooks(edits.hooks));
    if (edits.intel_rdt) SLIPWAY_CHECK(intel_rdt(*edits.intel_rdt));
    if (!edits.additional_gids.empty()) SLIPWAY_CHECK(groups(edits.additional_gids));
    return {};
  }

 private:
  Result<Json*> linux_member() { return members_.make_object(bundle_, "linux"); }
  Result<Json*> process() {
    if (!bundle_.contains("process"))
      return members_.invalid("it has no process, so there is nothing to give devices to");
    return members_.make_object(bundle_, "process");
  }

  /// Returns a list for an edit that adds `more` elements.
  Result<Json*> list_for(Json& parent, const char* name, std::size_t more, std::size_t most = kMostElements) {
    SLIPWAY_TRY(list, members_.make_list(parent, name));
    if (list->size() + more > most)
      return members_.invalid(std::string(name) + " would have more than " + std::to_string(most) + " elements");
    return list;
  }

  Status environment(const std::vector<std::string>& variables) {
    SLIPWAY_TRY(process, this->process());
    SLIPWAY_TRY(list, list_for(*process, "env", variables.size(), kMostVariables));
    replace_by(*list, {variables.begin(), variables.end()}, variable_of);
    return {};
  }

  /// A node without an owner is owned by the user of the container's process.
  Status give_to_user(cdi::DeviceNode& node) {
    SLIPWAY_TRY(process, members_.object_in(bundle_, "process"));
    if (process == nullptr) return {};
    SLIPWAY_TRY(user, members_.object_in(*process, "user"));
    if (user == nullptr) return {};
    if (const auto uid = user->find("uid"); !node.uid && uid != user->end() && uid->is_number_unsigned())
      if (const auto number = uid->get<std::uint32_t>(); number > 0) node.uid = number;
    if (const auto gid = user->find("gid"); !node.gid && gid != user->end() && gid->is_number_unsigned())
      if (const auto number = gid->get<std::uint32_t>(); number > 0) node.gid = number;
    return {};
  }

  Status device_nodes(const std::vector<cdi::DeviceNode>& wanted) {
    Elements entries;
    Elements allowed;
    for (const cdi::DeviceNode& one : wanted) {
      SLIPWAY_TRY(node, complete_node(one, read_node_));
      SLIPWAY_CHECK(give_to_user(node));
      entries.push_back(device_entry(node));
      if (cgroups_ && node.type != "p") allowed.push_back(cgroup_rule(node));
    }
    SLIPWAY_TRY(parent, linux_member());
    SLIPWAY_TRY(devices, list_for(*parent, "devices", entries.size()));
    replace_by(*devices, std::move(entries), [](const Json& entry) { return text_in(entry, "path"); });
    if (allowed.empty()) return {};
    SLIPWAY_TRY(resources, members_.make_object(*parent, "resources"));
    SLIPWAY_TRY(rules, list_for(*resources, "devices", allowed.size()));
    add_once(*rules, std::move(allowed));
    return {};
  }

  Status net_device(const cdi::NetDevice& device) {
    SLIPWAY_TRY(parent, linux_member());
    SLIPWAY_TRY(devices, members_.make_object(*parent, "netDevices"));
    (*devices)[device.host_interface_name] = Json{{"name", device.name}};
    return {};
  }

  Status mounts(const std::vector<cdi::Mount>& wanted) {
    Elements entries;
    for (const auto& mount : wanted) {
      Json entry{{"destination", mount.container_path}, {"source", mount.host_path}};
      if (!mount.type.empty()) entry["type"] = mount.type;
      if (!mount.options.empty()) entry["options"] = mount.options;
      entries.push_back(std::move(entry));
    }
    SLIPWAY_TRY(list, list_for(bundle_, "mounts", entries.size()));
    replace_by(*list, std::move(entries), [](const Json& entry) { return text_in(entry, "destination"); });
    put_in_order(list->get_ref<Json::array_t&>());
    return {};
  }

  Status add_hooks(const std::vector<cdi::Hook>& wanted) {
    std::map<std::string, Elements> by_name;
    for (const cdi::Hook& hook : wanted) {
      Json entry{{"path", hook.path}};
      if (!hook.args.empty()) entry["args"] = hook.args;
      if (!hook.env.empty()) entry["env"] = hook.env;
      if (hook.timeout) entry["timeout"] = *hook.timeout;
      by_name[hook.hook_name].push_back(std::move(entry));
    }
    for (auto& [name, entries] : by_name) {
      SLIPWAY_TRY(hooks, members_.make_object(bundle_, "hooks"));
      SLIPWAY_TRY(list, list_for(*hooks, name.c_str(), entries.size()));
      add_once(*list, std::move(entries));
    }
    return {};
  }

  Status intel_rdt(const cdi::IntelRdt& rdt) {
    SLIPWAY_TRY(parent, linux_member());
    Json entry = Json::object();
    if (!rdt.clos_id.empty()) entry["closID"] = rdt.clos_id;
    if (!rdt.l3_cache_schema.empty()) entry["l3CacheSchema"] = rdt.l3_cache_schema;
    if (!rdt.mem_bw_schema.empty()) entry["memBwSchema"] = rdt.mem_bw_schema;
    if (!rdt.schemata.empty()) entry["schemata"] = rdt.schemata;
    if (rdt.enable_cmt) entry["enableCMT"] = true;
    if (rdt.enable_mbm) entry["enableMBM"] = true;
    if (rdt.enable_monitoring) entry["enableMonitoring"] = true;
    (*parent)["intelRdt"] = std::move(entry);
    return {};
  }

  Status groups(const std::vector<std::uint32_t>& gids) {
    SLIPWAY_TRY(process, this->process());
    SLIPWAY_TRY(user, members_.make_object(*process, "user"));
    SLIPWAY_TRY(list, list_for(*user, "additionalGids", gids.size()));
    Elements groups;
    for (const std::uint32_t gid : gids)
      if (gid != 0) groups.emplace_back(gid);
    add_once(*list, std::move(groups));
    return {};
  }

  Status drop_legacy_hooks() {
    SLIPWAY_TRY(hooks, members_.object_in(bundle_, "hooks"));
    if (hooks == nullptr) return {};
    SLIPWAY_TRY(prestart, members_.list_in(*hooks, "prestart"));
    if (prestart == nullptr) return {};
    std::erase_if(bundle_["hooks"]["prestart"].get_ref<Json::array_t&>(), [](const Json& hook) {
      const std::string path = text_in(hook, "path");
      return std::ranges::count(kLegacyHooks, path.substr(path.rfind('/') + 1)) != 0;
    });
    return {};
  }

  Json& bundle_;
  const ReadNode& read_node_;
  Members members_;
  bool cgroups_;
};

}  // namespace

Status apply_edits(Json& bundle, const cdi::Edits& edits, const ReadNode& read_node, const std::string& where,
                   bool cgroups) {
  return Editor(bundle, read_node, where, cgroups).apply(edits);
}

std::vector<std::string> described(const cdi::Edits& edits) {
  std::vector<std::string> lines;
  for (const auto& node : edits.device_nodes) lines.push_back("node " + node.path);
  for (const auto& mount : edits.mounts) lines.push_back("mount " + mount.host_path + " at " + mount.container_path);
  for (const auto& hook : edits.hooks) lines.push_back("hook " + hook.hook_name + " " + joined(hook.args, " "));
  return lines;
}

}  // namespace slipway::shim
