// SPDX-License-Identifier: Apache-2.0
// core/journal/state_dir.hpp - the durable state of a root: what each component owns, and the generations.
//
// Layout below /var/lib/slipway, all of it canonical JSON without inode numbers:
//   format               "3 0.1.0\n": its number (a later one is refused) and the version that wrote last. 1 had no
//                        version, 2 no generations by component: both become 3
//   origin.json          the image of this folder before it existed: the parents that are removed with it
//   components/NAME.json  what component NAME owns, see Ownership (core/journal/records.hpp)
//   generations/N.json    see Generation, whose `time` is a clock's on a running machine; `current` holds the active N
//   products.json        files that triggers made and that did not exist before, and stores that are to be dropped
//   failing.json         components that failed in their last apply (core/engine/records/failing_components.hpp)
//   unproven.json        a change of packages that no boot has verified yet (core/journal/unproven.hpp)
//   originals/SHA256      contents of files that were replaced (core/host/root_fs.hpp)
//   damaged/NAME.N        files that `slipway repair` set aside (app/repair/repair.hpp)
//   journal.sqlite        only while an apply runs or after one was interrupted (core/journal/journal.hpp)
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <slipway/root_dir.hpp>

#include "core/host/root_fs.hpp"
#include "core/journal/records.hpp"
#include "core/journal/unproven.hpp"

namespace slipway::core {

/// The folder of the state, inside the root. Only its owner may open it: records and the journal contain contents of
/// files that not every user may read.
inline constexpr std::string_view kStateDir = "/var/lib/slipway";
inline constexpr unsigned kStateMode = 0700;

inline constexpr std::string_view kRepairAdvice =
    "run `slipway repair`: it moves that file aside and restores what can be restored";

/// Reads and writes the state of one root. Every read is `denied` when users other than root and the caller could have
/// written the state, since the user of an image must not decide what root restores there. Writes are atomic, also in a
/// power cut (temporary name, sync, rename); the caller makes sure that they have reached the disk.
class StateDir {
 public:
  explicit StateDir(RootFs& root) : root_(root) {}

  /// True when there is any state.
  bool exists() const;
  /// True when neither the state folder nor the remains of a failed removal exist.
  bool is_gone() const;
  /// Errors: `unsupported` when a later slipway wrote it (the error names its version); `corrupt`.
  Status check_format() const;
  static std::string own_format();  ///< the content of `format`

  /// Returns every unreadable or invalid file by its name in the folder, with the reason; not the journal and the
  /// originals. Includes `generations/current` when the generation it names is damaged. Errors: `denied`,
  /// `unsupported`.
  Result<std::map<std::string, Error>> damage() const;
  /// Errors: those of damage(), and its first file that an apply would use.
  Status check_whole() const;
  /// From now on files that are damaged now count as missing, and stay unchanged. For commands that only read, and for
  /// the removal of other components.
  Status go_around_damage();
  const std::map<std::string, Error>& left_out() const { return left_out_; }
  /// From now on a folder that this user may not open counts as missing. For commands that only read, and that report
  /// this.
  void go_without_closed();
  /// True when there is a folder that this user may not open, so that its records are left out.
  bool is_closed() const { return closed_; }
  /// True when a left-out file has a name that begins like this.
  bool leaves_out(std::string_view begin) const;
  /// Returns the state before the folder existed. Errors: `not_found` the folder existed before slipway.
  Result<Image> origin() const;

  /// Closes the folder to other users when an earlier slipway or another program left it open.
  Status keep_private();

  /// Creates the folder, or converts an earlier format to the present one. Called before the journal is opened.
  Status prepare();

  Result<std::map<std::string, Ownership>> ownerships() const;
  Status write(const Ownership& ownership);
  Status forget(const std::string& component);

  /// Returns products by path, see Product.
  Result<std::map<std::string, Product>> products() const;
  Status write_products(const std::map<std::string, Product>& products);

  /// Components that failed in their last apply: {NAME: …}; empty when there are none.
  Result<Json> failing() const;
  Status write_failing(const Json& failing);

  /// The change that waits for a boot to verify it; empty when no change waits.
  Result<UnprovenChange> unproven() const;
  Status write_unproven(const UnprovenChange& change);

  Result<std::vector<int>> generations() const;
  Result<Generation> generation(int number) const;
  /// Returns the active generation; empty if not found.
  Result<std::optional<Generation>> current() const;
  /// Writes a generation and makes it the active one.
  Status write_current(const Generation& generation);
  Status forget_generation(int number);
  Status forget_current();

  /// Removes originals that no record refers to.
  Status tidy();
  /// Removes the folder in one step, once no component owns anything and there is no journal.
  Status leave();

  /// Checks that the journal may be trusted: it is a regular file that only root or the caller could have written.
  /// Errors: `denied`, `invalid`. Succeeds when there is no journal.
  Status check_journal() const;
  /// Returns the journal's path on this machine (the root's folder and the resolved state folder).
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
