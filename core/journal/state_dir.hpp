// SPDX-License-Identifier: Apache-2.0
// core/journal/state_dir.hpp - the durable state of a root: who owns what, and which generations there were.
//
// Layout below /var/lib/slipway, all of it canonical JSON without inode numbers:
//   format               "3 0.1.0\n": its number, refused when later, and who wrote last. 1 had no writer, 2 no
//                         generations by component: both become 3
//   origin.json          the image of this folder before there was one: which parents go again with it
//   components/NAME.json  what component NAME owns, see Ownership (core/journal/records.hpp)
//   generations/N.json    see Generation, whose `time` is a clock's on a running machine; `current` holds the N in
//   force products.json        files that triggers made where there was none, and stores that are to be dropped
//   failing.json         components that did not work when they were last applied (core/engine/apply/failing.hpp)
//   originals/SHA256      contents of files that were replaced (core/host/root_fs.hpp)
//   damaged/NAME.N        what `slipway repair` set aside (app/repair/repair.hpp)
//   journal.sqlite        only while an apply is under way (core/journal/journal.hpp)
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <slipway/root_dir.hpp>

#include "core/host/root_fs.hpp"
#include "core/journal/records.hpp"

namespace slipway::core {

/// The folder of the state, inside the root. It is for its owner alone: records and the journal have contents of files
/// that not everybody may read.
inline constexpr std::string_view kStateDir = "/var/lib/slipway";
inline constexpr unsigned kStateMode = 0700;

inline constexpr std::string_view kRepairAdvice =
    "run `slipway repair`: it sets that file aside and makes up for it as far as that can be done";

/// Reads and writes the state of one root, as long as nobody but root and the caller could have written it: else all
/// that reads is `denied`, as an image's own user must not decide what root brings back there. Writes are atomic, also
/// in a power cut (temporary name, sync, rename); that they have reached the disk is for the caller to see to.
class StateDir {
 public:
  explicit StateDir(RootFs& root) : root_(root) {}

  /// There is any state at all.
  bool exists() const;
  /// Neither the state folder exists nor what a failed removal left of it.
  bool is_gone() const;
  /// Errors: `unsupported` when a later slipway wrote it, naming that; `corrupt`.
  Status check_format() const;
  static std::string own_format();  ///< as the file has it

  /// Every file that cannot be read as what it should be, by its name in the folder, and why; not the journal and the
  /// originals. `generations/current` is one of them when what it leads to is. Errors: `denied`, `unsupported`.
  Result<std::map<std::string, Error>> damage() const;
  /// Errors: those of damage(), and the first file of it that an apply would act on.
  Status check_whole() const;
  /// From here on what is damaged now reads as if it were not there and stays as it is: for commands that look, and
  /// for removals of something else.
  Status go_around_damage();
  const std::map<std::string, Error>& left_out() const { return left_out_; }
  /// From here on a folder that this user may not open reads as if there were none: for commands that look, and say so.
  void go_without_closed();
  /// There is such a folder, and its records are left out.
  bool is_closed() const { return closed_; }
  /// Any whose name begins so.
  bool leaves_out(std::string_view begin) const;
  /// What was there before the folder. Errors: `not_found` the folder was.
  Result<Image> origin() const;

  /// Closes the folder to other users, where an earlier slipway or somebody else left it open.
  Status keep_private();

  /// Makes the folder, or brings an earlier format up to this one. Called before the journal is opened.
  Status prepare();

  Result<std::map<std::string, Ownership>> ownerships() const;
  Status write(const Ownership& ownership);
  Status forget(const std::string& component);

  /// By path, see Product.
  Result<std::map<std::string, Product>> products() const;
  Status write_products(const std::map<std::string, Product>& products);

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
  Result<Ownership> ownership(const std::string& component) const;
  Status write_text(const std::string& path, const std::string& text);
  Status write_json(const std::string& name, const Json& value);
  Status drop(std::string_view name);
  RootFs& root_;
  std::map<std::string, Error> left_out_;
  bool closed_ = false;
};

}  // namespace slipway::core
