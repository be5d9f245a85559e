// SPDX-License-Identifier: Apache-2.0
// core/action/store/unpack.cpp - kind `unpack`: layers in the store, and a link `current` to exactly these.
#include <set>

#include <fcntl.h>
#include <unistd.h>

#include <slipway/text.hpp>

#include "core/action/action_kind.hpp"
#include "core/action/store/store.hpp"
#include "core/host/files.hpp"
#include "sandbox/build.hpp"

namespace slipway::core {
namespace {

using Links = std::map<std::string, std::string>;

constexpr std::size_t kListBytes = 256 << 20;

bool is_build(const Json& layer) { return layer.contains("build") && !layer["build"].is_null(); }

bool exists(RootFs& root, const std::string& path) { return root.root().open_at(path, O_PATH | O_NOFOLLOW).ok(); }

std::string size_text(const Json& layer) {
  const Json descriptor = layer.value("descriptor", Json());
  const double bytes = descriptor.is_object() ? descriptor.value("size", 0.0) : 0.0;
  if (bytes <= 0) return {};
  std::string number = std::to_string(bytes / (1 << 20));
  return " (" + number.substr(0, number.find('.') + 2) + " MiB)";
}

/// One store as the action needs it.
struct Store {
  std::string folder;
  Json layers;
  Links links;
  std::string set;

  std::string path(const std::string& name) const { return folder + "/" + name; }
  std::string staging(const std::string& name) const { return folder + "/.staging-" + name; }
  std::string current() const { return path("current"); }

  /// Returns each layer whose folder is missing, once.
  std::vector<Json> missing(RootFs& root) const {
    std::set<std::string> seen;
    std::vector<Json> list;
    for (const Json& layer : layers)
      if (seen.insert(layer_folder(layer)).second && !exists(root, path(layer_folder(layer)))) list.push_back(layer);
    return list;
  }
};

Result<Store> store_of(const Action& action) {
  if (action.target().empty() || action.target().find('/') != std::string::npos || action.target().starts_with('.'))
    return Error{ErrorCode::invalid, "'" + action.target() + "' is not a name for a store", {}, {}, {}};
  Store store{store_folder(action.target()), action.value("layers"), {}, {}};
  SLIPWAY_TRY(links, layer_links(store.layers));
  store.links = links;
  store.set = set_folder(links);
  return store;
}

std::string summary_of(const Store& store, const std::vector<Json>& missing, const LayerStager& layers) {
  if (missing.empty()) return "switch " + store.current() + " to layers that already exist";
  const auto shown = [&](const Json& layer) {
    if (!is_build(layer)) return "unpack " + layer.value("as", "") + size_text(layer);
    const std::string name = layer["build"].value("name", layer.value("as", ""));
    return layers.is_compiled(layer) ? "take " + name + " from the cache" : "compile " + name;
  };
  return joined(missing, ", ", shown) + " into " + store.folder;
}

class UnpackKind final : public ActionKind {
 public:
  std::string removal(const Action& action) const override { return "drop what was unpacked for " + action.target(); }

  std::string store(const Action& action) const override { return action.target(); }

  Result<Check> check(const Action& action, ActionContext& context) const override {
    SLIPWAY_TRY(store, store_of(action));
    const std::vector<Json> missing = store.missing(context.root);
    const std::string summary = summary_of(store, missing, context.layers);
    for (const Json& layer : missing) {
      if (!is_build(layer) || context.layers.is_compiled(layer)) continue;
      if (auto failed = context.layers.known_failure(layer)) return Check::conflict(summary, std::move(*failed));
      if (const Status ready = sandbox::check_build(layer["build"], context.host); !ready)
        return Check::conflict(summary, ready.error());
    }
    SLIPWAY_TRY(current, read_link_at(context.root.root(), store.current()));
    if (missing.empty() && current == store.set && exists(context.root, store.path(store.set)))
      return Check::satisfied(summary);
    return Check{Check::Standing::change, summary, {}, {}};
  }

  Result<Image> capture(const Action& action, ActionContext& context) const override {
    SLIPWAY_TRY(store, store_of(action));
    return context.root.capture(store.current());
  }

  Status stage(const Action& action, ActionContext& context) const override {
    SLIPWAY_TRY(store, store_of(action));
    SLIPWAY_CHECK(context.root.make_directory(store.folder, 0755));
    SLIPWAY_TRY(real_folder, context.root.root().resolve(store.folder));
    for (const Json& layer : store.missing(context.root)) {
      const std::string name = layer_folder(layer);
      SLIPWAY_CHECK(context.root.remove_tree(store.staging(name)));
      const std::string into = context.root.root().folder() + real_folder + "/.staging-" + name;
      SLIPWAY_CHECK(context.layers.stage(layer, into));
      SLIPWAY_TRY(tree, RootDir::open(into));
      SLIPWAY_TRY(list, list_tree(tree));
      const std::string list_path = store.path(name) + ".files";
      SLIPWAY_CHECK(context.root.stage_file(list_path, list, 0644, ::geteuid(), ::getegid()));
      SLIPWAY_CHECK(context.root.switch_in(list_path));
    }
    SLIPWAY_CHECK(check_staged(action, store, context));
    return stage_set(store, context.root);
  }

  Status unstage(const Action& action, ActionContext& context) const override {
    SLIPWAY_TRY(store, store_of(action));
    for (const Json& layer : store.missing(context.root)) {
      SLIPWAY_CHECK(context.root.remove_tree(store.staging(layer_folder(layer))));
      SLIPWAY_CHECK(context.root.remove(store.path(layer_folder(layer)) + ".files"));
    }
    SLIPWAY_CHECK(context.root.remove_tree(store.staging(store.set)));
    return context.root.unstage(store.current());
  }

  /// Renames the folders to their final names only after the engine's sync: a folder with its final name is complete on
  /// the disk.
  Result<Outcome> perform(const Action& action, ActionContext& context) const override {
    SLIPWAY_TRY(store, store_of(action));
    std::vector<std::string> names{store.set};
    for (const Json& layer : store.missing(context.root)) names.push_back(layer_folder(layer));
    for (const std::string& name : names)
      if (!exists(context.root, store.path(name)) && !exists(context.root, store.staging(name))) {
        SLIPWAY_CHECK(stage(action, context));  // a second run after a crash that undid the staging
        SLIPWAY_CHECK(context.root.sync());
      }
    for (const std::string& name : names)
      if (!exists(context.root, store.path(name)))
        SLIPWAY_CHECK(context.root.rename(store.staging(name), store.path(name)));
    SLIPWAY_CHECK(context.root.remove_tree(store.staging(store.set)));
    SLIPWAY_CHECK(context.root.stage_symlink(store.current(), store.set));
    SLIPWAY_CHECK(context.root.switch_in(store.current()));
    return Outcome::done();
  }

  Status restore(const Action& action, const Image& image, ActionContext& context) const override {
    SLIPWAY_TRY(store, store_of(action));
    if (is_absent(image)) SLIPWAY_CHECK(context.root.remove_tree(store.folder));
    SLIPWAY_CHECK(context.root.restore(store.current(), image));
    const std::string former = image.value("points_to", "");
    if (former.empty() || exists(context.root, store.path(former))) return {};
    return Error{ErrorCode::corrupt,
                 store.current() + " should have been switched back to " + former + ", which is gone",
                 store.path(former),
                 "run `slipway apply` to unpack what the spec asks for",
                 {}};
  }

  /// Keeps the layers until the removal is committed (drop_unused_layers): after a crash before that, the
  /// restored link leads to them.
  Status take_away(const Action& action, const Image& original, ActionContext& context) const override {
    return context.root.restore(store_folder(action.target()) + "/current", original);
  }

  Result<Json> fingerprint(const Action& action, ActionContext& context) const override {
    SLIPWAY_TRY(current, read_link_at(context.root.root(), store_folder(action.target()) + "/current"));
    return Json{{"set", current}};
  }

  Result<std::vector<std::string>> inspect(const Action& action, ActionContext& context) const override {
    SLIPWAY_TRY(store, store_of(action));
    std::vector<std::string> problems;
    for (const auto& [as, name] : store.links) {
      const std::string path = store.path(name);
      SLIPWAY_TRY(found, list_of(context.root, path));
      const auto wanted = read_regular(context.root.root(), path + ".files", kListBytes);
      if (!wanted && wanted.error().code != ErrorCode::not_found) return wanted.error();
      if (!wanted) {
        problems.push_back(path + ".files is missing, so " + as + " cannot be checked");
        continue;
      }
      for (const std::string& problem : compare_lists(*wanted, found)) problems.push_back(path + "/" + problem);
    }
    return problems;
  }

 private:
  /// Calls the component's check() of the unpacked layers, if the action asks for it.
  static Status check_staged(const Action& action, const Store& store, ActionContext& context) {
    if (action.value("check").is_null() || !context.custom_check) return {};
    Json staged = Json::object();
    for (const auto& [as, name] : store.links)
      staged[as] = exists(context.root, store.path(name)) ? store.path(name) : store.staging(name);
    Json with_folders = action.json();
    with_folders["staged"] = std::move(staged);
    SLIPWAY_TRY(holds, context.custom_check(Action(std::move(with_folders))));
    if (holds) return {};
    return Error{ErrorCode::plugin_defect,
                 "the component refuses what it unpacked, and does not say why",
                 action.target(),
                 "report this to the authors of the plugin",
                 {}};
  }

  static Status stage_set(const Store& store, RootFs& root) {
    if (exists(root, store.path(store.set))) return {};
    const std::string staging = store.staging(store.set);
    SLIPWAY_CHECK(root.remove_tree(staging));
    SLIPWAY_CHECK(root.make_directory(staging, 0755));
    for (const auto& [as, folder] : store.links) {
      std::string up = "../";
      for (std::size_t i = 0; i < folders_above("/" + as).size(); ++i) up += "../";
      const std::string link = staging + "/" + as;
      SLIPWAY_CHECK(root.stage_symlink(link, up + folder));
      SLIPWAY_CHECK(root.switch_in(link));
    }
    return {};
  }

  static Result<std::string> list_of(RootFs& root, const std::string& path) {
    auto real = root.root().resolve(path);
    if (!real) return std::string();  // then everything listed is missing
    SLIPWAY_TRY(tree, RootDir::open(root.root().folder() + *real));
    return list_tree(tree);
  }
};

}  // namespace

const ActionKind& unpack_kind() {
  static const UnpackKind kind;
  return kind;
}

}  // namespace slipway::core
