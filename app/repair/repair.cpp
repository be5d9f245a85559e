// SPDX-License-Identifier: Apache-2.0
#include "app/repair/repair.hpp"

#include <algorithm>
#include <climits>
#include <set>

#include <fcntl.h>

#include <slipway/regular_file.hpp>
#include <slipway/text.hpp>

#include "base/digest/digest.hpp"
#include "base/write/new_file.hpp"
#include "core/action/trigger/trigger.hpp"
#include "core/engine/advice.hpp"
#include "core/engine/records/unfinished_work.hpp"
#include "core/host/originals.hpp"

namespace slipway::app {
namespace {

constexpr std::string_view kJournalName = "journal.sqlite";
// Damaged as long as the last one exists, so the others are set aside first.
constexpr const char* kJournalFiles[] = {"-wal", "-shm", "-journal", ""};

std::string path_of(const std::string& name) { return std::string(core::kStateDir) + "/" + name; }

bool is_there(core::Session& session, const std::string& path) {
  return session.root().root().open_at(path, O_PATH | O_NOFOLLOW).ok();
}

/// Returns a free name: "/var/lib/slipway/damaged/components-driver.json.1". A long name is shortened, so that there is
/// room for suffixes, and ends with its digest.
std::string aside_of(core::Session& session, std::string name) {
  constexpr std::size_t kLongest = 200;
  constexpr std::size_t kPrefix = 100;
  std::ranges::replace(name, '/', '-');
  if (name.size() > kLongest) name = name.substr(0, kPrefix) + "-" + base::digest_hex(base::digest_of(name));
  int number = 1;
  const auto path = [&] { return path_of("damaged/" + name + "." + std::to_string(number)); };
  while (is_there(session, path())) ++number;
  return path();
}

/// Returns the files that the presently named triggers may have made.
std::string made_by_triggers(core::Session& session, const std::map<std::string, core::Ownership>& owned) {
  std::set<std::string> made;
  for (const auto& [name, ownership] : owned)
    for (const core::Owned& item : ownership.items)
      for (const core::Trigger& trigger : core::triggers_of(item.action))
        for (const std::string& path : trigger.products(session.host()))
          if (is_there(session, path)) made.insert(path);
  return made.empty() ? "files that triggers made" : listed({made.begin(), made.end()}, "and");
}

/// Slipway first writes each file under a longer name, so a record with a name this long is not its own.
bool is_too_long(const std::string& name) {
  return name.substr(name.rfind('/') + 1).size() + std::string_view(base::kNewSuffix).size() > NAME_MAX;
}

/// Returns the generation that becomes active; 0 if no generation is left.
Result<int> newest_generation(const core::StateDir& state) {
  SLIPWAY_TRY(numbers, state.generations());
  return numbers.empty() ? 0 : numbers.back();
}

Result<Repair> repair_of(core::Session& session, const std::string& name, const std::string& problem,
                         const std::map<std::string, core::Ownership>& owned) {
  Repair repair{name, problem, aside_of(session, name), "this file is not replaced"};
  if (name == "format") {
    repair.text = core::StateDir::own_format();
    repair.outcome = "slipway writes a new one";
  } else if (name == "origin.json") {
    repair.text = pretty(core::to_json(core::PathImage{"absent"}));
    repair.outcome = "slipway writes a new one; a removal of all components leaves the folders above /var/lib/slipway";
  } else if (name == "failing.json") {
    repair.outcome = "this file is not replaced: `slipway verify` says what does not work";
  } else if (name == "unproven.json") {
    repair.outcome =
        "this file is not replaced: no boot returns to the previous generation, and the layers that were kept for that "
        "are removed";
  } else if (name == "products.json") {
    repair.outcome = "this file is not replaced; a removal of all components leaves these behind: " +
                     made_by_triggers(session, owned);
  } else if (name == "generations/current") {
    SLIPWAY_TRY(number, newest_generation(session.state()));
    const std::string place = "generation " + std::to_string(number);
    if (number != 0) repair.text = std::to_string(number) + "\n";
    repair.outcome =
        number == 0
            ? "no generation is active until the next `slipway apply`"
            : place +
                  " becomes active: if you want another state, apply your spec before the next boot, which applies " +
                  place;
  } else if (name.starts_with("components/") && is_too_long(name)) {
    repair.outcome = "this file is not replaced: slipway never writes a record with such a long name";
  } else if (name.starts_with("components/")) {
    core::Ownership lost;
    lost.component = name.substr(name.find('/') + 1);
    lost.component.resize(lost.component.size() - std::string_view(".json").size());
    lost.lost = true;
    repair.text = pretty(core::to_json(lost));
    repair.outcome =
        "the next `slipway apply` takes over whatever matches its plan; a later removal deletes the files, links and "
        "units of " +
        lost.component + ", leaves folders and keys in files of other owners, and restores nothing";
  }
  return repair;
}

/// Returns the digests that records and an open journal refer to.
Result<std::set<std::string>> digests_in_use(core::Session& session,
                                             const std::map<std::string, core::Ownership>& owned,
                                             bool journal_is_damaged) {
  std::set<std::string> digests;
  for (const auto& [name, ownership] : owned) core::collect_digests(core::to_json(ownership), digests);
  if (journal_is_damaged || !core::journal_exists(session)) return digests;
  SLIPWAY_TRY(journal, core::look_at_journal(session.state().journal_path()));
  if (!journal) return digests;
  SLIPWAY_TRY(steps, journal->open_steps());
  SLIPWAY_TRY(unwritten, journal->unwritten());
  for (const core::Step& step : steps) core::collect_digests(step.image, digests);
  for (const core::Ownership& ownership : unwritten) core::collect_digests(core::to_json(ownership), digests);
  return digests;
}

/// Keeps originals without a readable owner: the next apply would drop them.
Status add_ownerless(core::Session& session, const std::set<std::string>& digests, std::vector<Repair>& repairs) {
  SLIPWAY_TRY(paths, core::Originals(session.root()).unused(digests));
  for (const std::string& path : paths) {
    const std::string name = path.substr(core::kStateDir.size() + 1);
    Repair kept{name, "the record that refers to it is damaged", aside_of(session, name),
                "a removal does not restore this file, although it may be from the time before slipway"};
    kept.damaged = false;
    repairs.push_back(std::move(kept));
  }
  return {};
}

/// Collects the digests of the regular files in an image. The keys of a merge contain values of other programs.
void collect_files(const core::Image& image, std::set<std::string>& digests) {
  if (!image.is_object()) return;
  if (image.value("type", Json()) == "regular" && image.value("digest", Json()).is_string())
    digests.insert(image["digest"].get<std::string>());
  for (const auto& [name, part] : image.items())
    if (name != "keys") collect_files(part, digests);
}

/// Adds originals that cannot be restored, with the components that need them.
Status add_originals(core::Session& session, const std::map<std::string, core::Ownership>& owned,
                     std::vector<Repair>& repairs) {
  std::map<std::string, core::Ownership> records = owned;
  std::set<std::string> digests;
  for (const auto& [name, ownership] : owned)
    for (const core::Owned& item : ownership.items) collect_files(item.original, digests);
  for (const std::string& digest : digests) {
    const auto original = core::Originals(session.root()).open(digest);
    if (original) continue;
    if (original.error().code != ErrorCode::corrupt) return original.error();
    const std::string name = original.error().where.substr(core::kStateDir.size() + 1);
    Repair repair{name, "the file is missing, or its content does not match its name", {}, {}};
    if (is_there(session, path_of(name))) repair.aside = aside_of(session, name);
    std::vector<std::string> targets;
    for (auto& [component, record] : records) {
      bool refers = false;
      for (core::Owned& item : record.items) {
        std::set<std::string> its;
        collect_files(item.original, its);
        SLIPWAY_TRY(kind, core::action_kind(item.action.kind()));
        if (!its.contains(digest)) continue;
        item.original = kind->without_original(item.original);
        targets.push_back(item.action.target() + " (" + component + ")");
        refers = true;
      }
      if (refers) repair.records.push_back(record);
    }
    repair.outcome = "what was at " + listed(targets, "and") + " before slipway cannot be restored by a removal";
    repairs.push_back(std::move(repair));
  }
  return {};
}

}  // namespace

Result<std::vector<Repair>> find_repairs(core::Session& session) {
  core::StateDir& state = session.state();
  std::vector<Repair> repairs;
  SLIPWAY_CHECK(state.go_around_damage());
  SLIPWAY_TRY(owned, state.ownerships());
  SLIPWAY_TRY(unfinished, core::read_unfinished(session));
  if (unfinished.damaged || state.leaves_out("components/")) {
    SLIPWAY_TRY(digests, digests_in_use(session, owned, unfinished.damaged.has_value()));
    SLIPWAY_CHECK(add_ownerless(session, digests, repairs));
  }
  SLIPWAY_CHECK(add_originals(session, owned, repairs));
  for (const auto& [name, error] : state.left_out()) {
    SLIPWAY_TRY(repair, repair_of(session, name, error.what, owned));
    repairs.push_back(std::move(repair));
  }
  if (unfinished.damaged)
    repairs.push_back({std::string(kJournalName), unfinished.damaged->what,
                       aside_of(session, std::string(kJournalName)),
                       "the next `slipway plan` compares what the cut-off apply had changed; the former files and the "
                       "pending triggers are no longer known"});
  return repairs;
}

namespace {

/// Sets a damaged file aside. When another file replaces it, the damaged file first gets a second name: after a crash
/// it is still in its place.
Status set_aside(core::Session& session, const std::string& path, const Repair& repair, const std::string& ending) {
  core::RootFs& root = session.root();
  const std::string aside = repair.aside + ending;
  SLIPWAY_CHECK(root.make_directory(path_of("damaged"), core::kStateMode));
  const bool is_file = open_regular(root.root(), path, O_NOFOLLOW).ok();  // a folder can have only one name
  SLIPWAY_CHECK(repair.text && is_file ? root.link_beside(path, aside) : root.rename(path, aside));
  root.note_changed(path.substr(0, path.rfind('/')));
  if (!repair.text) return {};
  SLIPWAY_CHECK(root.stage_file(path, *repair.text, 0600, 0, 0));
  SLIPWAY_CHECK(root.sync());
  return root.switch_in(path);
}

}  // namespace

Status carry_out(core::Session& session, const std::vector<Repair>& repairs) {
  for (const Repair& repair : repairs) {
    for (const std::string ending : kJournalFiles) {
      if (repair.name != kJournalName && !ending.empty()) continue;
      const std::string path = repair.path() + ending;
      if (is_there(session, path)) SLIPWAY_CHECK(set_aside(session, path, repair, ending));
    }
    for (const core::Ownership& record : repair.records) SLIPWAY_CHECK(session.state().write(record));
  }
  SLIPWAY_CHECK(session.root().settle_directory_times());
  return session.root().sync();
}

Status add_damage(core::Session& session, std::map<std::string, Findings>& findings) {
  SLIPWAY_TRY(repairs, find_repairs(session));
  const std::string advice = core::advised(std::string(core::kRepairAdvice), session.options());
  for (const Repair& repair : repairs)
    if (repair.damaged) findings["slipway"].fail("slipway.state", repair.path() + ": " + repair.problem, advice);
  return {};
}

}  // namespace slipway::app
