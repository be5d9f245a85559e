// SPDX-License-Identifier: Apache-2.0
// sdk/slipway/action.hpp - one action of a plan: a thing that must hold. The core checks, does, journals and undoes it.
//
// An action is a JSON object with `kind` and the members of that kind; the builders below make them. Paths are absolute
// inside the root, without "..": the builders throw std::invalid_argument for others, which is a defect of the plugin,
// and bring the rest into one form (normal_path()). A parent folder that is missing is made (0755 root:root) and
// belongs to the action.
//
// The kinds are "file", "directory", "symlink", "remove", "service-file", "merge", "unpack", "kernel-module",
// "systemd-unit", "device-node", "exec" and "custom". Path or name is `target`; the other members are named as in the
// structs below
// (`points_to` of a symlink). Modes are numbers. Empty texts of optional members may be left out. Besides them:
// `triggers` (a list of texts) and `because`.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <slipway/json.hpp>
#include <slipway/result.hpp>

namespace slipway {

/// The one form of a path inside a root, so that equal paths are equal texts: "/etc//x/./y/" becomes "/etc/x/y".
/// Errors: `invalid` for one that is relative, has ".." or a control character in it, or is the root itself.
Result<std::string> normal_path(std::string_view path);

class Action {
 public:
  explicit Action(Json value) : value_(std::move(value)) {}

  std::string kind() const { return value_.value("kind", ""); }
  /// What it is about, unique within a kind: a path, module, unit or name.
  std::string target() const { return value_.value("target", ""); }
  std::string text(std::string_view member) const;
  Json value(std::string_view member) const;
  const Json& json() const { return value_; }

  /// Names work that is pending once this action has changed something; each is done once, later:
  /// "ldconfig", "depmod:RELEASE", "initramfs:RELEASE", "daemon-reload", "restart:UNIT", "reload:UNIT", "sysusers",
  /// "udev:SUBSYSTEM".
  Action& triggers(const std::vector<std::string>& names);
  /// A reason for people, shown in the plan.
  Action& because(std::string reason);

 private:
  Json value_;
};

namespace action {

/// A regular file with exactly this content. `on_drift` says what happens to a user's later edit: "keep" it and report
/// (default), or "replace" it, the edit saved beside as PATH.slipway-saved.
struct File {
  std::string path;
  std::string content;
  unsigned mode = 0644;
  std::string owner = "root";
  std::string group = "root";
  std::string on_drift = "keep";
};
Action file(const File& desired);

/// A folder. One that was there keeps its content; removal only takes it away when it is empty.
Action directory(std::string path, unsigned mode = 0755);

/// A symbolic link. An existing file of another type at `path` is a conflict, never overwritten.
Action symlink(std::string path, std::string points_to);

/// Something that must not be there; removal of the component brings it back.
Action remove(std::string path);

/// A file that the component's service writes while it runs: its folder is made, and removal of the component brings
/// back what was at `path` before, or nothing. What is in it is the service's.
Action service_file(std::string path);

/// Sets keys in a file that belongs to somebody else; every byte outside the edit stays.
struct Merge {
  std::string path;
  std::string format;  ///< "json", "toml" or "yaml"
  Json set;            ///< nested objects down to the values that must hold; null removes a key
};
Action merge(const Merge& desired);

/// A tree below /usr/lib/slipway/store/NAME made of layers, and `current` beside them as the one symlink that switches.
/// Paths into it: /usr/lib/slipway/store/NAME/current/AS/…
struct Layer {
  std::string as;        ///< folder under `current`: "userspace", "modules/6.1.0-50-amd64"
  std::string source;    ///< spec key of the artifact source ("source"); the layer's origin, or its build's
  Json descriptor;       ///< of the layer to unpack; for a build, of the layer that holds the source code
  std::string manifest;  ///< digest of the manifest that lists the layer: goes into the lock
  Json build;            ///< null: unpack the layer as it is. Else compile, see action::Build
};
struct Unpack {
  std::string name;  ///< of the store, usually the component's
  std::vector<Layer> layers;
};
Action unpack(const Unpack& desired);

/// How a layer is compiled: in a private mount namespace of the root, the source unpacked into a scratch folder there,
/// nothing else writable. The canonical JSON of this is the key of its result and of a remembered failure.
struct Build {
  std::string name;                      ///< for people: "NVIDIA 535.261.03 for 6.1.0-50-amd64"
  std::string directory;                 ///< working folder inside the unpacked source
  std::vector<std::string> argv;         ///< "{jobs}" is replaced by the number of CPUs
  std::vector<std::string> environment;  ///< "NAME=value"; else only PATH and LC_ALL=C
  std::vector<std::string> needs;        ///< paths in the root that must be there ("/lib/modules/REL/build")
  std::string needs_hint;                ///< what to do when one is missing ("install linux-headers-REL")
  struct Collect {
    std::string from;       ///< file in the working folder
    std::string to;         ///< its path in the layer
    bool strip = false;     ///< take debug information out (strip --strip-debug)
    std::string sign_key;   ///< PEM private key that signs it as the kernel's sign-file does; empty: not signed
    std::string sign_cert;  ///< its certificate, DER or PEM
    std::string compress;   ///< "" or "xz" or "zstd" (the kernel must know it)
  };
  std::vector<Collect> collect;
  Json identity;  ///< what else the result depends on (compiler text, hash of the headers), from the facts
};
Json to_json(const Build& build);

/// A kernel module that must be loaded, with parameters for when it is not yet. Live only; offline it is boot work.
///
/// @param version  the one that must be loaded (MODULE_VERSION), empty: any. Another one is unloaded, with the modules
///                 on top of it, which are loaded again afterwards; while somebody uses them it is a reboot that is
///                 required, and the actions after this one are left for it.
Action kernel_module(std::string name, std::vector<std::string> parameters = {}, std::string version = {});

/// A unit that must be enabled and, live, started. `content` writes it to /etc/systemd/system.
struct SystemdUnit {
  std::string name;
  std::string content;  ///< empty: the unit is there already
  bool enabled = true;
  bool started = true;
};
Action systemd_unit(const SystemdUnit& desired);

/// A device node, and /dev/char/MAJOR:MINOR -> it. Live only; offline it is boot work.
struct DeviceNode {
  std::string path;
  unsigned major = 0;
  std::string major_of;  ///< the name in /proc/devices, instead of `major` where it is dynamic
  unsigned minor = 0;
  unsigned mode = 0666;
  std::string owner = "root";
  std::string group = "root";
};
Action device_node(const DeviceNode& desired);

/// A program that makes something hold which no other kind covers. `check` exits 0 when it already does; without one
/// nobody could tell, and the plan is refused.
struct Exec {
  std::string name;
  std::vector<std::string> argv;
  std::vector<std::string> check;
  std::vector<std::string> undo;  ///< empty: nothing to undo
};
Action exec(const Exec& desired);

/// The component's own work: its check() and apply() are called with `data`.
struct Custom {
  std::string name;
  Json data;
  Json inverse;              ///< `data` of the action that undoes it, or null with
  std::string irreversible;  ///< the reason why there is none
  std::string summary = {};  ///< what a plan shows of it: "partition GPU 3: …"; empty: the name
  /// It stays when the component leaves: only an apply that fails undoes it.
  bool stays = false;
  Json on_removal = nullptr;  ///< `data` of the action that is done when the component leaves, instead of undoing it
  std::string removal_summary = {};  ///< what a plan shows of that; empty: that the action is undone, or that it stays
  bool lost_at_boot = false;         ///< a boot leaves nothing of it, so that it is done at each one
  /// What must be held alone while it is done or undone: "gpu-9cffd1a2-…". Small letters, digits and '-'. When somebody
  /// else holds one, the component waits.
  std::vector<std::string> exclusives = {};
  /// The services of slipway that run release the driver while the component's actions are done or undone, and resume
  /// afterwards, whichever way it ends.
  bool quiesces_services = false;
};
Action custom(const Custom& desired);

}  // namespace action

/// The action with its path in normal_path()'s form; one that has no path as it is. Errors: those of normal_path().
Result<Action> with_normal_path(Action action);

}  // namespace slipway
