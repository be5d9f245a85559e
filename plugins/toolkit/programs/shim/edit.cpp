// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>

#include "toolkit/programs/shim/document.hpp"

namespace slipway::shim {
namespace {

namespace cdi = nvidia::cdi;

constexpr const char* kLegacyHooks[] = {"nvidia-container-runtime-hook", "nvidia-container-toolkit"};

void add_once(Json& list, Json element) {
  if (std::ranges::count(list, element) == 0) list.push_back(std::move(element));
}

/// Puts an element in the place of the one with the same text in `key`, or at the end.
void replace_by(Json& list, const char* key, Json element) {
  const std::string name = text_in(element, key);
  std::erase_if(list.get_ref<Json::array_t&>(), [&](const Json& other) { return text_in(other, key) == name; });
  list.push_back(std::move(element));
}

std::string clean(const std::string& path) {
  std::string text = std::filesystem::path(path).lexically_normal().string();
  if (text.size() > 1 && text.ends_with('/')) text.pop_back();
  return text;
}

class Editor {
 public:
  Editor(Json& bundle, const ReadNode& read_node, const std::string& where)
      : bundle_(bundle), read_node_(read_node), members_(where) {}

  Status apply(const cdi::Edits& edits) {
    SLIPWAY_CHECK(drop_legacy_hooks());
    if (!edits.env.empty()) SLIPWAY_CHECK(environment(edits.env));
    for (const auto& node : edits.device_nodes) SLIPWAY_CHECK(device_node(node));
    for (const auto& device : edits.net_devices) SLIPWAY_CHECK(net_device(device));
    if (!edits.mounts.empty()) SLIPWAY_CHECK(mounts(edits.mounts));
    for (const auto& hook : edits.hooks) SLIPWAY_CHECK(add_hook(hook));
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

  Status environment(const std::vector<std::string>& variables) {
    SLIPWAY_TRY(process, this->process());
    SLIPWAY_TRY(list, members_.make_list(*process, "env"));
    for (const std::string& variable : variables) {
      const std::string start = variable.substr(0, variable.find('=') + 1);
      std::erase_if(list->get_ref<Json::array_t&>(), [&](const Json& other) {
        return other.is_string() && other.get_ref<const std::string&>().starts_with(start);
      });
      list->push_back(variable);
    }
    return {};
  }

  /// A node without an owner belongs to the user that the container's program runs as.
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

  Status device_node(const cdi::DeviceNode& wanted) {
    SLIPWAY_TRY(node, complete_node(wanted, read_node_));
    SLIPWAY_CHECK(give_to_user(node));
    SLIPWAY_TRY(parent, linux_member());
    SLIPWAY_TRY(devices, members_.make_list(*parent, "devices"));
    replace_by(*devices, "path", device_entry(node));
    if (node.type == "p") return {};
    SLIPWAY_TRY(resources, members_.make_object(*parent, "resources"));
    SLIPWAY_TRY(rules, members_.make_list(*resources, "devices"));
    add_once(*rules, cgroup_rule(node));
    return {};
  }

  Status net_device(const cdi::NetDevice& device) {
    SLIPWAY_TRY(parent, linux_member());
    SLIPWAY_TRY(devices, members_.make_object(*parent, "netDevices"));
    (*devices)[device.host_interface_name] = Json{{"name", device.name}};
    return {};
  }

  Status mounts(const std::vector<cdi::Mount>& wanted) {
    SLIPWAY_TRY(list, members_.make_list(bundle_, "mounts"));
    for (const auto& mount : wanted) {
      Json entry{{"destination", mount.container_path}, {"source", mount.host_path}};
      if (!mount.type.empty()) entry["type"] = mount.type;
      if (!mount.options.empty()) entry["options"] = mount.options;
      replace_by(*list, "destination", std::move(entry));
    }
    // What is mounted on a folder comes after the mount of the folder itself.
    const auto depth = [](const Json& mount) { return std::ranges::count(clean(text_in(mount, "destination")), '/'); };
    std::ranges::stable_sort(list->get_ref<Json::array_t&>(), {}, depth);
    return {};
  }

  Status add_hook(const cdi::Hook& hook) {
    SLIPWAY_TRY(hooks, members_.make_object(bundle_, "hooks"));
    SLIPWAY_TRY(list, members_.make_list(*hooks, hook.hook_name.c_str()));
    Json entry{{"path", hook.path}};
    if (!hook.args.empty()) entry["args"] = hook.args;
    if (!hook.env.empty()) entry["env"] = hook.env;
    if (hook.timeout) entry["timeout"] = *hook.timeout;
    add_once(*list, std::move(entry));
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
    SLIPWAY_TRY(list, members_.make_list(*user, "additionalGids"));
    for (const std::uint32_t gid : gids)
      if (gid != 0) add_once(*list, gid);
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
};

}  // namespace

Status apply_edits(Json& bundle, const cdi::Edits& edits, const ReadNode& read_node, const std::string& where) {
  return Editor(bundle, read_node, where).apply(edits);
}

}  // namespace slipway::shim
