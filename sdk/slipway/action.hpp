// SPDX-License-Identifier: Apache-2.0
// sdk/slipway/action.hpp - one action of a plan: a desired state. The core checks, performs, journals and undoes it.
//
// An action is a JSON object with `kind` and the members of that kind; the builders below make them. Paths are absolute
// inside the root, without "..": the builders throw std::invalid_argument for others, which is a defect of the plugin,
// and normalize the rest (normal_path()). A missing parent folder is created (0755 root:root) and belongs to the
// action.
//
// The kinds are "file", "directory", "symlink", "remove", "service-file", "merge", "unpack", "kernel-module",
// "systemd-unit", "device-node", "exec" and "custom". Path or name is `target`; the other members have the names in the
// structs below (`points_to` of a symlink). Modes are numbers. Empty texts of optional members may be left out. All
// kinds also have `triggers` (a list of texts) and `because`.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <slipway/json.hpp>
#include <slipway/result.hpp>

namespace slipway {

/// Normalizes a path inside a root, so that equal paths are equal texts: "/etc//x/./y/" becomes "/etc/x/y".
/// Errors: `invalid` when it is relative, contains ".." or a control character, or is the root itself.
Result<std::string> normal_path(std::string_view path);

class Action {
 public:
  explicit Action(Json value) : value_(std::move(value)) {}

  std::string kind() const { return value_.value("kind", ""); }
  /// The thing that it changes, unique within a kind: a path, module, unit or name.
  std::string target() const { return value_.value("target", ""); }
  std::string text(std::string_view member) const;
  Json value(std::string_view member) const;
  const Json& json() const { return value_; }

  /// Names work that becomes pending when this action changes something; each is done once, later: "ldconfig",
  /// "depmod:RELEASE", "initramfs:RELEASE", "daemon-reload", "restart:UNIT", "reload:UNIT", "sysusers",
  /// "udev:SUBSYSTEM".
  Action& triggers(const std::vector<std::string>& names);
  /// A reason that the plan shows to the user.
  Action& because(std::string reason);

 private:
  Json value_;
};

namespace action {

/// A regular file with exactly this content. `on_drift` says what happens to a user's later edit: "keep" it and report
/// (default), or "replace" it and save the edit beside it as PATH.slipway-saved.
struct File {
  std::string path;
  std::string content;
  unsigned mode = 0644;
  std::string owner = "root";
  std::string group = "root";
  std::string on_drift = "keep";
};
Action file(const File& desired);

/// A folder. An existing one keeps its content; removal only deletes it when it is empty.
Action directory(std::string path, unsigned mode = 0755);

/// A symbolic link. An existing file of another type at `path` is a conflict, and never overwritten.
Action symlink(std::string path, std::string points_to);

/// A path that must not exist; removal of the component restores it.
Action remove(std::string path);

/// A file that the component's service writes while it runs: its folder is created, and removal of the component
/// restores the former file at `path`, or deletes it. Its content belongs to the service.
Action service_file(std::string path);

/// Sets keys in a file of another program; every byte outside the edit is unchanged.
struct Merge {
  std::string path;
  std::string format;  ///< "json", "toml" or "yaml"
  Json set;            ///< nested objects down to the desired values; null removes a key
};
Action merge(const Merge& desired);

/// A tree below /usr/lib/slipway/store/NAME made of layers, and `current` beside them, the only symlink that a switch
/// changes.
/// Paths into it: /usr/lib/slipway/store/NAME/current/AS/…
struct Layer {
  std::string as;        ///< folder under `current`: "userspace", "modules/6.1.0-50-amd64"
  std::string source;    ///< spec key of the artifact source ("source"); the layer's origin, or its build's
  Json descriptor;       ///< the layer to unpack; for a build, the layer with the source code
  std::string manifest;  ///< digest of the manifest that lists the layer: goes into the lock
  Json build;            ///< null: unpack the layer as it is. Else compile, see action::Build
};
struct Unpack {
  std::string name;  ///< the store's name, usually the component's
  std::vector<Layer> layers;
  /// Not null: when the layers are unpacked, and before any program can see them, the component's check() is called
  /// with this action and one more member, `staged`: an object of `as` and the layer's folder in the root. An error
  /// stops the apply and undoes it. Since: SDK 1.0
  Json check = nullptr;
};
Action unpack(const Unpack& desired);

/// Describes how a layer is compiled: in a private mount namespace of the root, with the source unpacked into a scratch
/// folder there, and nothing else writable. The canonical JSON of this is the key of its result and of a recorded
/// failure.
struct Build {
  std::string name;                      ///< shown to users: "NVIDIA 535.261.03 for 6.1.0-50-amd64"
  std::string directory;                 ///< working folder inside the unpacked source
  std::vector<std::string> argv;         ///< "{jobs}" is replaced by the number of CPUs
  std::vector<std::string> environment;  ///< "NAME=value"; otherwise only PATH and LC_ALL=C
  std::vector<std::string> needs;        ///< paths in the root that must exist ("/lib/modules/REL/build")
  std::string needs_hint;                ///< what to do when one is missing ("install linux-headers-REL")
  struct Collect {
    std::string from;       ///< file in the working folder
    std::string to;         ///< its path in the layer
    bool strip = false;     ///< removes debug information (strip --strip-debug)
    std::string sign_key;   ///< PEM private key to sign it as the kernel's sign-file does; empty: not signed
    std::string sign_cert;  ///< its certificate, DER or PEM
    std::string compress;   ///< "" or "xz" or "zstd" (the kernel must support it)
  };
  std::vector<Collect> collect;
  Json identity;  ///< further inputs of the result (compiler version, hash of the headers), from the facts
};
Json to_json(const Build& build);

/// A kernel module that must be loaded; the parameters are used when it is not loaded yet. Live only; offline a boot
/// loads it.
///
/// @param version  the version that must be loaded (MODULE_VERSION), empty: any. Another version is unloaded, with the
///                 modules that depend on it, which are loaded again afterwards. While these are in use a reboot is
///                 required, and the following actions wait for it.
Action kernel_module(std::string name, std::vector<std::string> parameters = {}, std::string version = {});

/// A unit that must be enabled and, on a live machine, started. `content` is written to /etc/systemd/system.
struct SystemdUnit {
  std::string name;
  std::string content;  ///< empty: the unit exists already
  bool enabled = true;
  bool started = true;
};
Action systemd_unit(const SystemdUnit& desired);

/// A device node, and /dev/char/MAJOR:MINOR -> it. Live only; offline a boot makes it.
struct DeviceNode {
  std::string path;
  unsigned major = 0;
  std::string major_of;  ///< the name in /proc/devices, instead of a fixed `major`
  unsigned minor = 0;
  unsigned mode = 0666;
  std::string owner = "root";
  std::string group = "root";
};
Action device_node(const DeviceNode& desired);

/// A program that establishes a state which no other kind covers. `check` exits 0 when the state is established
/// already; without `check` slipway cannot tell, and refuses the plan.
struct Exec {
  std::string name;
  std::vector<std::string> argv;
  std::vector<std::string> check;
  std::vector<std::string> undo;  ///< empty: nothing to undo
};
Action exec(const Exec& desired);

/// The component's own action: its check() and apply() are called with `data`.
struct Custom {
  std::string name;
  Json data;
  Json inverse;              ///< `data` of the action that undoes it, or null with
  std::string irreversible;  ///< the reason why there is none
  std::string summary = {};  ///< its description in a plan: "partition GPU 3: …"; empty: the name
  /// The result stays when the component is removed: it is only undone when the apply fails.
  bool stays = false;
  Json on_removal = nullptr;  ///< `data` of the action to do when the component is removed, instead of undoing this one
  std::string removal_summary = {};  ///< its description in a plan; empty: says that it is undone or stays
  bool lost_at_boot = false;         ///< a reboot loses the result, so that it is done at each boot
  /// The resources to lock while it is done or undone: "gpu-9cffd1a2-…". Small letters, digits and '-'. While another
  /// process holds one, the component waits.
  std::vector<std::string> exclusives = {};
  /// slipway's running services release the driver while the component's actions are done or undone, and resume
  /// afterwards, with any result.
  bool quiesces_services = false;
  /// Done when everything is unpacked, before the component's files are switched and before anything is removed: it
  /// frees a device that the former files serve. preflight() is called before that, too, and nothing of the component
  /// is changed unless the action may begin. It is a step, and check() is not called afterwards.
  bool before_switch = false;
  bool is_step = false;  ///< a step of the change: it is not recorded, and nothing is undone when it is planned no more
  Json on_failure = nullptr;  ///< `data` of the action to do when the apply fails, after all files are restored
  /// What it interrupts, as the plan shows it: "services", "driver reload" or "reboot"; empty: nothing.
  std::string interrupts = {};
};
Action custom(const Custom& desired);

/// Returns the `data` of a custom action as a type of the component, which has `static Result<T> from_json(const
/// Json&)`. Errors: those of from_json(); `plugin_defect` when a member has another type than from_json() expects.
template <class T>
Result<T> custom_data(const Action& action) {
  try {
    return T::from_json(action.value("data"));
  } catch (const Json::exception& problem) {
    return Error{.code = ErrorCode::plugin_defect,
                 .what = std::string("the data of the action cannot be read: ") + problem.what(),
                 .where = "data",
                 .next = "report it to the authors of the plugin"};
  }
}

}  // namespace action

/// Returns the action with its path normalized by normal_path(); unchanged when it has no path. Errors: those of
/// normal_path().
Result<Action> with_normal_path(Action action);

}  // namespace slipway
