// SPDX-License-Identifier: Apache-2.0
// core/action/action_kind.hpp - the interface that every kind of action implements (check, diff, perform, undo), and
// the list of kinds.
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

/// A change that a user or another program made to a thing after slipway wrote it.
struct Edit {
  std::string path;
  Json state;  ///< distinguishes it from every other edit; has the form of fingerprint(), or of a part of it
};

/// The state of an action before anything is done.
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
  std::optional<Edit> edit = {};  ///< an edit that is kept, whatever else has to be done

  static Check satisfied(std::string summary) { return {Standing::satisfied, std::move(summary), {}, {}}; }
  static Check conflict(std::string summary, Error problem) {
    return {Standing::conflict, std::move(summary), {}, std::move(problem)};
  }
};

/// Provides layers and builds. The engine passes an implementation that talks to the artifact worker.
class LayerStager {
 public:
  virtual ~LayerStager() = default;
  /// Unpacks or compiles `layer` (an element of an unpack action's `layers`) into the new folder `into` (host path).
  virtual Status stage(const Json& layer, const std::string& into) = 0;
  /// Returns the error of an earlier failed build of this layer (one with the same layer_key()), if there was one.
  virtual std::optional<Error> known_failure(const Json& layer) const = 0;
  /// True when stage() need not compile the layer, since the same was compiled before.
  virtual bool is_compiled(const Json& layer) const = 0;
};

/// A thing that one component needs for itself.
struct Claim {
  std::string target;    ///< a path, or "KIND NAME"
  std::string part;      ///< the key of the file at the path; empty: the whole file
  bool shared = false;   ///< other components may share the thing, but none may claim it for itself alone: a folder
  std::string words;     ///< for a message: "file /etc/x"
  bool follows = false;  ///< a link at the path is followed: its target is claimed as well
};

/// The means that actions may use. Borrowed for the time of one call.
struct ActionContext {
  RootFs& root;
  const Host& host;
  LayerStager& layers;
  /// The fingerprint() recorded when this action was last carried out. Null when the action is new.
  Json record;
  /// The image that removal would restore: the state before slipway first touched the thing. Null when the action is
  /// new.
  Image original;
  /// The component's own check and apply, for custom actions.
  std::function<Result<bool>(const Action&)> custom_check;
  std::function<Result<Outcome>(const Action&)> custom_apply;
  /// Whether a custom action may begin.
  std::function<Result<Outcome>(const Action&)> custom_preflight = {};
};

/// One kind of action. For an action that is not satisfied, the engine calls capture() (journaled), stage() (for all
/// actions of a component) and perform(), and then checks again. On failure it calls restore() with the captured image,
/// then reinstate(). Removal is restore() with the original image. Every call may be repeated after a crash: stage,
/// perform and restore are repeatable.
class ActionKind {
 public:
  enum class Phase { switch_in, activate };
  virtual ~ActionKind() = default;

  virtual Phase phase() const { return Phase::switch_in; }
  /// True when perform() is called after stage() and before anything is switched. The result is not checked again.
  virtual bool is_before_switch(const Action&) const { return false; }
  /// True for a step of the change, which is not recorded. An action before the switch is one.
  virtual bool is_step(const Action& action) const { return is_before_switch(action); }
  /// Called for an action before the switch, before the first change of the component: whether it may begin.
  virtual Result<Outcome> admit(const Action&, ActionContext&) const { return Outcome::done(); }
  /// True when a reboot loses the result, which exists on a running machine only.
  virtual bool is_lost_at_boot() const { return false; }
  /// True when perform() checks that services run again. Earlier restarts of the plan are then done first.
  virtual bool waits_for_restarts() const { return false; }
  /// The unit that the action starts; empty when it starts none.
  virtual std::string starts(const Action&) const { return {}; }
  /// The name of the store that the action fills; empty when it fills none. The engine drops unused parts of the store.
  virtual std::string store(const Action&) const { return {}; }
  virtual Result<Check> check(const Action& action, ActionContext& context) const = 0;
  /// Captures the present state, so that restore() can bring it back.
  virtual Result<Image> capture(const Action& action, ActionContext& context) const {
    return context.root.capture(action.target());
  }
  /// Prepares the change under new names that no program uses yet. Nothing visible changes.
  virtual Status stage(const Action&, ActionContext&) const { return {}; }
  /// Returns the path images that a captured image consists of, each with its path.
  virtual std::vector<std::pair<std::string, Image*>> paths(const Action& action, Image& image) const {
    return {{action.target(), &image}};
  }
  /// Deletes the files that stage() made.
  virtual Status unstage(const Action&, ActionContext&) const { return {}; }
  virtual Result<Outcome> perform(const Action& action, ActionContext& context) const = 0;
  virtual Status restore(const Action& action, const Image& image, ActionContext& context) const {
    return context.root.restore(action.target(), image);
  }
  /// Removes a thing that is no longer planned. Does what restore() does with the image from before slipway, except for
  /// deletions that could not be undone after a crash; the engine does those once the removal is committed.
  virtual Status take_away(const Action& action, const Image& original, ActionContext& context) const {
    return restore(action, original, context);
  }
  /// Starts again what was running according to `image`. Called after a failed apply has restored everything else and
  /// has run the triggers that activation needs, in the plan's order.
  virtual Status reinstate(const Action&, const Image&, ActionContext&) const { return {}; }
  /// Returns the image for a later removal, when an action that has one (`first`) was changed and captured again
  /// (`later`). Kinds that own parts of a thing, such as keys of a file, combine the two.
  virtual Image join(const Image& first, const Image& /*later*/) const { return first; }
  /// Returns an image for removal when the state before slipway is unknown, made from an image taken before slipway or
  /// now. Removal then deletes only what belongs to slipway alone.
  virtual Image without_original(const Image& image) const {
    const std::string type = image.value("type", "");
    return type == "regular" || type == "symlink" ? to_json(PathImage{"absent"}) : image;
  }
  /// Returns the data by which a later edit is recognized: {"digest": …} for files. It has no clock times and no inode
  /// numbers. Empty for things that are made again at every boot.
  virtual Result<Json> fingerprint(const Action&, ActionContext&) const { return Json::object(); }
  /// Returns the fingerprint() of the result of perform(), computed from the action alone where that is possible; else
  /// null. Reading the disk after perform() could already see an edit by another program.
  virtual Result<Json> written(const Action& /*action*/, ActionContext& /*context*/) const { return Json(); }
  /// True when the thing was changed since `context.record` was written. Removal then leaves it and reports it.
  virtual Result<bool> drifted(const Action&, ActionContext&) const { return false; }
  /// Makes an edit count as slipway's own work, both in the record and in what removal undoes.
  virtual void adopt(const Json& edit, Json& record, Image& /*original*/) const { record = edit; }
  /// True when the file's content is unknown: it differs from the content before the step (`image`), from what the
  /// action writes, and from the content before slipway (`original`, may be null). Kinds that undo only their own part
  /// return false.
  virtual Result<bool> holds_an_edit(const Action&, const Image& /*image*/, const Image& /*original*/,
                                     const Host&) const {
    return false;
  }
  /// For `verify --deep`: compares every byte, and returns one problem for each difference.
  virtual Result<std::vector<std::string>> inspect(const Action&, ActionContext&) const {
    return std::vector<std::string>{};
  }
  /// Returns the things that only one component may claim.
  virtual std::vector<Claim> claims(const Action& action) const {
    const std::string words = action.kind() + " " + action.target();
    return {{action.target().starts_with('/') ? action.target() : words, {}, false, words}};
  }
  /// Describes the removal: "remove /etc/x".
  virtual std::string removal(const Action& action) const { return "remove " + action.target(); }
};

/// A message that says that a user's edit was left as it is.
std::string kept_words(const Action& action);

/// Finds the kind of an action. Errors: `unsupported`, with the list of known kinds.
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
