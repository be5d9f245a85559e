// SPDX-License-Identifier: Apache-2.0
// core/journal/state_dir.hpp - the durable state of a root: who owns what, and which generations there were.
//
// Layout below /var/lib/slipway, all of it canonical JSON without clock times or inode numbers:
//   format               "2 0.1.0\n": its number, refused when later, and who wrote last; 1 had no writer and becomes 2
//   origin.json          the image of this folder before there was one: which parents go again with it
//   components/NAME.json  what component NAME owns, see Ownership
//   generations/N.json    see Generation; `current` holds the N in force
//   products.json        files that triggers made where there was none, and stores that are to be dropped
//   failing.json         components that did not work when they were last applied (core/engine/apply/failing.hpp)
//   originals/SHA256      contents of files that were replaced (core/host/root_fs.hpp)
//   journal.sqlite        only while an apply is under way (core/journal/journal.hpp)
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <slipway/action.hpp>
#include <slipway/root_dir.hpp>

#include "core/host/root_fs.hpp"

namespace slipway::core {

/// The folder of the state, inside the root. It is for its owner alone: records and the journal have contents of files
/// that not everybody may read.
inline constexpr std::string_view kStateDir = "/var/lib/slipway";
inline constexpr unsigned kStateMode = 0700;

/// One action that was carried out and is still held.
struct Owned {
  Json action;     ///< as planned
  Image original;  ///< what was there before slipway: removal brings it back
  Json record;     ///< ActionKind::fingerprint() right after it was done
  std::string key() const { return action.value("kind", "") + " " + action.value("target", ""); }
};

/// Everything that one component holds in this root.
struct Ownership {
  std::string component;
  int order = 0;  ///< place in the order of the apply that made it: removal goes backwards
  std::vector<Owned> items;
  Json outputs = Json::object();
  const Owned* find(const std::string& key) const;
};

Json to_json(const Ownership& ownership);
Ownership ownership_from_json(const Json& value);

/// One applied action: enough to apply it anew.
struct Generation {
  int number = 0;
  Json spec;              ///< the host spec as written
  std::string spec_file;  ///< where it came from: relative paths were relative to it; a name alone: it has none
  Json lock;              ///< core/engine/plan/lockfile.hpp
  Json plugins;           ///< component to {version, digest}
  std::vector<std::string> kernels = {};  ///< --kernel, each, when it was given
};

Json to_json(const Generation& generation);
Generation generation_from_json(const Json& value);

/// Reads and writes the state of one root, as long as nobody but root and the caller could have written it: else all
/// that reads is `denied`, as an image's own user must not decide what root brings back there. Writes are atomic, also
/// in a power cut (temporary name, sync, rename); that they have reached the disk is for the caller to see to.
class StateDir {
 public:
  explicit StateDir(RootFs& root) : root_(root) {}

  /// There is any state at all.
  bool exists() const;
  /// Errors: `unsupported` when a later slipway wrote it, naming that.
  Status check_format() const;

  /// Closes the folder to other users, where an earlier slipway or somebody else left it open.
  Status keep_private();

  /// Makes the folder, or brings an earlier format up to this one. Called before the journal is opened.
  Status prepare();

  Result<std::map<std::string, Ownership>> ownerships() const;
  Status write(const Ownership& ownership);
  Status forget(const std::string& component);

  /// Files that triggers made where there was none: {PATH: {"trigger", "original"}}. They go with the last component
  /// that names the trigger. A store of layers whose component goes: {PATH: {"trigger": "", "store", "original"}}.
  Result<Json> products() const;
  Status write_products(const Json& products);

  /// Components that did not work when they were last applied: {NAME: …}; empty without such.
  Result<Json> failing() const;
  Status write_failing(const Json& failing);

  Result<std::vector<int>> generations() const;
  Result<Generation> generation(int number) const;
  /// The generation in force; nothing where there is none.
  Result<std::optional<Generation>> current() const;
  /// Writes it and makes it the one in force.
  Status write_current(const Generation& generation);
  Status forget_generation(int number);
  Status forget_current();

  /// Removes originals that nobody refers to.
  Status tidy();
  /// Removes the folder once nothing is owned and no journal is there any more, in one step.
  Status leave();

  /// Whether what the journal says may be done: it is a file, and nobody but root and the caller could have written
  /// it. Errors: `denied`, `invalid`. Fine where there is none.
  Status check_journal() const;
  /// Path of the journal on this machine (root's folder and the resolved state folder).
  std::string journal_path() const;

 private:
  Status write_text(const std::string& path, const std::string& text);
  Status write_json(const std::string& path, const Json& value);
  RootFs& root_;
};

}  // namespace slipway::core
