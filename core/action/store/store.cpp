// SPDX-License-Identifier: Apache-2.0
#include "core/action/store/store.hpp"

#include <fcntl.h>

#include "base/digest/digest.hpp"
#include "core/host/files.hpp"
#include "sandbox/build.hpp"

namespace slipway::core {
namespace {

constexpr std::string_view kStores = "/usr/lib/slipway/store/";

Error bad_name(const std::string& name, const std::string& why) {
  return Error{ErrorCode::invalid,
               "the layer name '" + name + "' " + why,
               name,
               "this is a defect of the component that planned it; report it to its authors",
               {}};
}

/// True when the path is relative and every part of it is a name.
bool is_path_within(const std::string& path) {
  std::string_view rest = path;
  for (;;) {
    const std::size_t slash = rest.find('/');
    const std::string_view part = rest.substr(0, slash);
    if (part.empty() || part == "." || part == "..") return false;
    if (slash == std::string_view::npos) return true;
    rest.remove_prefix(slash + 1);
  }
}

/// Returns the names in a store that `current`, or a former set that is kept, refers to.
Result<std::set<std::string>> names_in_use(const RootFs& root, const std::string& name,
                                           const std::vector<std::string>& sets) {
  std::set<std::string> used{"current"};
  for (const std::string& set : sets) {
    SLIPWAY_TRY(folders, layers_of_set(root, name, set));
    if (!folders.empty() || set == sets.front()) used.insert(set);
    for (const std::string& folder : folders) {
      used.insert(folder);
      used.insert(folder + ".files");
    }
  }
  return used;
}

}  // namespace

std::string store_folder(const std::string& name) { return std::string(kStores) + name; }

std::string layer_key(const Json& layer) {
  const Json descriptor = layer.value("descriptor", Json::object());
  const std::string source = descriptor.is_object() ? descriptor.value("digest", "") : "";
  if (!layer.contains("build") || layer["build"].is_null()) return source;
  Json build = layer["build"];
  build["source_digest"] = source;
  return sandbox::build_key(build);
}

std::string layer_folder(const Json& layer) { return "sha256-" + base::digest_hex(layer_key(layer)); }

Result<std::map<std::string, std::string>> layer_links(const Json& layers) {
  std::map<std::string, std::string> links;
  for (const Json& layer : layers) {
    const std::string as = layer.value("as", "");
    if (!is_path_within(as)) return bad_name(as, "is not a relative path");
    if (base::digest_hex(layer_key(layer)).empty()) return bad_name(as, "has no SHA-256 digest in its descriptor");
    if (!links.emplace(as, layer_folder(layer)).second) return bad_name(as, "appears twice");
  }
  for (const auto& [as, folder] : links)
    for (const std::string& above : folders_above("/" + as))
      if (links.contains(above.substr(1))) return bad_name(as, "is below another layer's name");
  return links;
}

std::string set_folder(const std::map<std::string, std::string>& links) {
  Json list = Json::array();
  for (const auto& [as, folder] : links) list.push_back({{"as", as}, {"folder", folder}});
  return "set-" + base::digest_hex(base::digest_of(canonical(list)));
}

Result<std::string> active_set(const RootFs& root, const std::string& name) {
  return read_link_at(root.root(), store_folder(name) + "/current");
}

Result<std::set<std::string>> layers_of_set(const RootFs& root, const std::string& name, const std::string& set) {
  std::set<std::string> folders;
  const auto links = links_below(root.root(), store_folder(name) + "/" + set);
  if (!links && links.error().code == ErrorCode::not_found) return folders;
  if (!links) return links.error();
  for (const auto& [path, target] : *links) folders.insert(target.substr(target.rfind('/') + 1));
  return folders;
}

bool has_layer(const RootFs& root, const std::string& name, const Json& layer) {
  return root.root().open_at(store_folder(name) + "/" + layer_folder(layer), O_PATH | O_NOFOLLOW).ok();
}

Result<std::vector<std::string>> unused_layers(const RootFs& root, const std::string& name,
                                               const std::vector<std::string>& kept) {
  const std::string store = store_folder(name);
  std::vector<std::string> unused;
  if (name.empty() || name.starts_with('.') || name.find('/') != std::string::npos) return unused;
  auto folder = root.root().open_at(store, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (!folder && folder.error().code == ErrorCode::not_found) return unused;
  if (!folder) return folder.error();
  SLIPWAY_TRY(current, read_link_at(root.root(), store + "/current"));
  if (current.empty()) return std::vector<std::string>{store};

  std::vector<std::string> sets{current};
  sets.insert(sets.end(), kept.begin(), kept.end());
  SLIPWAY_TRY(used, names_in_use(root, name, sets));
  SLIPWAY_TRY(names, folder_names(folder->get(), store));
  for (const std::string& entry : names)
    if (!used.contains(entry)) unused.push_back(store + "/" + entry);
  return unused;
}

Status drop_unused_layers(RootFs& root, const std::string& name, const std::vector<std::string>& kept) {
  SLIPWAY_TRY(unused, unused_layers(root, name, kept));
  for (const std::string& path : unused) SLIPWAY_CHECK(root.remove_tree(path));
  return {};
}

}  // namespace slipway::core
