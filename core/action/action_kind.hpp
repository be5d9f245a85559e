// SPDX-License-Identifier: Apache-2.0
// core/action/action_kind.hpp - what the core knows of one kind of action (is it so already, what would change, do,
// undo), and the kinds that there are.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <slipway/action.hpp>
#include <slipway/host.hpp>
#include <slipway/plan.hpp>
#include <slipway/result.hpp>

#include "core/host/root_fs.hpp"

namespace slipway::core {

/// What somebody made of a thing since slipway left it.
struct Edit {
  std::string path;
  Json state;  ///< tells it from every other edit; in the form of fingerprint(), or of a part of it
};

/// Where an action stands before anything is done.
struct Check {
  enum class Standing {
    satisfied,   ///< nothing to do
    change,      ///< has to be done
    drift_kept,  ///< a user changed it since, and `on_drift: keep`: reported, left alone
    at_boot,     ///< only a running machine can do it: slipway-boot.service will
    conflict,    ///< cannot be done: `problem` says why
  };
  Standing standing = Standing::change;
  std::string summary;  ///< "create /etc/modprobe.d/acme.conf (0644)", "load acme", one line
  std::string diff;     ///< unified diff of a text change, a custom action's lines; or empty
  std::optional<Error> problem;
  std::optional<Edit> edit = {};  ///< one that is kept, whatever else is to be done

  static Check satisfied(std::string summary) { return {Standing::satisfied, std::move(summary), {}, {}}; }
  static Check conflict(std::string summary, Error problem) {
    return {Standing::conflict, std::move(summary), {}, std::move(problem)};
  }
};

/// Gets layers and builds into place; the engine gives one that talks to the artifact worker.
class LayerStager {
 public:
  virtual ~LayerStager() = default;
  /// Unpacks or compiles `layer` (an element of an unpack action's `layers`) into the new folder `into` (host path).
  virtual Status stage(const Json& layer, const std::string& into) = 0;
  /// The error of an earlier failed build of this layer, with the same layer_key(); nothing where there was none.
  virtual std::optional<Error> known_failure(const Json& layer) const = 0;
};

/// What one component wants for itself.
struct Claim {
  std::string target;    ///< a path, or "KIND NAME"
  std::string part;      ///< of the file at the path, a key of it; empty: the whole
  bool shared = false;   ///< others may want it as well, but none may have it alone: a folder
  std::string words;     ///< for a message: "file /etc/x"
  bool follows = false;  ///< a link at the path is followed: what it leads to is wanted as well
};

/// What actions may use. Borrowed for the time of one call.
struct ActionContext {
  RootFs& root;
  const Host& host;
  LayerStager& layers;
  /// What was recorded when this action was last carried out (fingerprint()), null when it is new.
  Json record;
  /// The image that removal would bring back: what was there before slipway first touched it. Null when it is new.
  Image original;
  /// For custom actions: the component's own check and apply.
  std::function<Result<bool>(const Action&)> custom_check;
  std::function<Result<Outcome>(const Action&)> custom_apply;
};

/// One kind. The engine calls, for an action that is not satisfied: capture (journaled), stage (all of a component),
/// perform, then check again; on failure restore with what was captured, then reinstate. Removal is restore with the
/// original image. Every call may come again after a crash: stage, perform and restore are repeatable.
class ActionKind {
 public:
  enum class Phase { switch_in, activate };
  virtual ~ActionKind() = default;

  virtual Phase phase() const { return Phase::switch_in; }
  /// Only a running machine has it: a boot leaves nothing of it.
  virtual bool is_lost_at_boot() const { return false; }
  /// It asks whether services are back, so the restarts that the plan names before it are done before it.
  virtual bool waits_for_restarts() const { return false; }
  /// The unit that it starts; empty: none.
  virtual std::string starts(const Action&) const { return {}; }
  /// The name of the store that it fills; empty: none. What nobody needs any more there is the engine's to drop.
  virtual std::string store(const Action&) const { return {}; }
  virtual Result<Check> check(const Action& action, ActionContext& context) const = 0;
  /// What is there now, so that restore() can bring it back.
  virtual Result<Image> capture(const Action& action, ActionContext& context) const {
    return context.root.capture(action.target());
  }
  /// Makes new names that nobody uses yet; nothing visible changes.
  virtual Status stage(const Action&, ActionContext&) const { return {}; }
  /// The images of paths, each with its path, that a captured image has or is.
  virtual std::vector<std::pair<std::string, Image*>> paths(const Action& action, Image& image) const {
    return {{action.target(), &image}};
  }
  /// Takes back what stage() made.
  virtual Status unstage(const Action&, ActionContext&) const { return {}; }
  virtual Result<Outcome> perform(const Action& action, ActionContext& context) const = 0;
  virtual Status restore(const Action& action, const Image& image, ActionContext& context) const {
    return context.root.restore(action.target(), image);
  }
  /// Takes away what is no longer planned: restore() with the image from before slipway, but for what could not come
  /// back after a crash. That is left for the engine to drop once the removal counts.
  virtual Status take_away(const Action& action, const Image& original, ActionContext& context) const {
    return restore(action, original, context);
  }
  /// Sets to work again what `image` says was at work: called after a failed apply has restored everything else and
  /// run the triggers that activation needs, in the plan's order.
  virtual Status reinstate(const Action&, const Image&, ActionContext&) const { return {}; }
  /// The image that removal is to bring back after an action that had one (`first`) was changed and captured anew
  /// (`later`). Kinds that own parts of a thing, such as keys of a file, join the two.
  virtual Image join(const Image& first, const Image& /*later*/) const { return first; }
  /// An image from before slipway, or from now, when nobody knows what was there before: removal then takes away what
  /// is slipway's alone, and leaves what may not be.
  virtual Image without_original(const Image& image) const {
    const std::string type = image.value("type", "");
    return type == "regular" || type == "symlink" ? to_json(PathImage{"absent"}) : image;
  }
  /// What to remember of the result, to tell a later edit by somebody else: {"digest": …} for files. No clock times,
  /// no inode numbers. Nothing for what is made anew at every boot.
  virtual Result<Json> fingerprint(const Action&, ActionContext&) const { return Json::object(); }
  /// The fingerprint() of what perform() makes, where the action says it all; else null. What is there right after
  /// perform() may be somebody else's already.
  virtual Result<Json> written(const Action& /*action*/, ActionContext& /*context*/) const { return Json(); }
  /// Somebody changed it since `context.record`: removal then leaves it and reports.
  virtual Result<bool> drifted(const Action&, ActionContext&) const { return false; }
  /// From now on an edit counts as what slipway left: in what is remembered, and in what removal undoes.
  virtual void adopt(const Json& edit, Json& record, Image& /*original*/) const { record = edit; }
  /// Its file holds what nobody knows: neither what was there before the step (`image`), nor what the action writes,
  /// nor what was there before slipway (`original`, may be null). Kinds that undo only what is theirs say no.
  virtual Result<bool> holds_an_edit(const Action&, const Image& /*image*/, const Image& /*original*/,
                                     const Host&) const {
    return false;
  }
  /// `verify --deep`: is every byte as it should be? A problem for each that is not.
  virtual Result<std::vector<std::string>> inspect(const Action&, ActionContext&) const {
    return std::vector<std::string>{};
  }
  /// What only one component may ask for.
  virtual std::vector<Claim> claims(const Action& action) const {
    const std::string words = action.kind() + " " + action.target();
    return {{action.target().starts_with('/') ? action.target() : words, {}, false, words}};
  }
  /// What taking it away means, in words: "remove /etc/x".
  virtual std::string removal(const Action& action) const { return "remove " + action.target(); }
};

/// A line for people: somebody's edit was left as it is.
std::string kept_words(const Action& action);

/// The kind of an action. Errors: `unsupported` with the kinds that there are.
Result<const ActionKind*> action_kind(const std::string& kind);

const ActionKind& file_kind();
const ActionKind& directory_kind();
const ActionKind& symlink_kind();
const ActionKind& remove_kind();
const ActionKind& service_file_kind();
const ActionKind& merge_kind();
const ActionKind& unpack_kind();
const ActionKind& kernel_module_kind();
const ActionKind& systemd_unit_kind();
const ActionKind& device_node_kind();
const ActionKind& exec_kind();
const ActionKind& custom_kind();

}  // namespace slipway::core
