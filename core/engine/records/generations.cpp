// SPDX-License-Identifier: Apache-2.0
#include "core/engine/records/generations.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

#include <unistd.h>

#include "core/engine/records/unfinished_work.hpp"
#include "core/engine/root_lock.hpp"
#include "core/spec/document.hpp"

namespace slipway::core {
namespace {

using Entries = std::map<std::string, Json>;  ///< by component: applied_entry(), null for removed components

bool is_applied(const Generation& generation, const std::string& component) {
  return generation.plugins.contains(component);
}

/// Returns a document without its components' sections.
Json frame_of(Json document) {
  document["spec"]["components"] = Json::object();
  return document;
}

Json lock_part(const Json& lock, const std::string& component) {
  const Json components = lock.is_object() ? lock.value("components", Json::object()) : Json::object();
  return components.value(component, Json{});
}

void set_lock_part(Json& lock, const std::string& component, const Json& part) {
  if (!lock.is_object()) lock = Lock().to_json();
  if (part.is_null())
    lock["components"].erase(component);
  else
    lock["components"][component] = part;
}

void put(Generation& generation, const std::string& component, const Json& entry) {
  if (!generation.spec.is_object()) generation.spec = frame_of(entry.value("frame", Json::object()));
  if (generation.spec_file.empty()) generation.spec_file = entry.value("spec_file", "");
  generation.spec["spec"]["components"][component] = entry.value("section", Json::object());
  set_lock_part(generation.lock, component, entry.value("lock", Json{}));
  generation.plugins[component] = entry.value("plugin", Json::object());
  std::erase(generation.left_out, component);
  for (const std::string& kernel : entry.value("kernels", std::vector<std::string>{}))
    if (std::ranges::count(generation.kernels, kernel) == 0) generation.kernels.push_back(kernel);
}

void take(Generation& generation, const std::string& component) {
  if (generation.spec.is_object()) generation.spec["spec"]["components"].erase(component);
  set_lock_part(generation.lock, component, {});
  generation.plugins.erase(component);
  std::erase(generation.left_out, component);
}

/// Reads the active generation from the state folder, with absolute paths: earlier formats kept them as written.
Result<std::optional<Generation>> stored_generation(Session& session) {
  SLIPWAY_TRY(current, session.state().current());
  if (!current) return std::optional<Generation>{};
  if (auto spec = host_spec_from_json(current->spec, current->spec_file, session.plugins(), current->plugins))
    current->spec = std::move(spec->document);
  return std::move(current);
}

Result<Entries> entries_of_journal(Session& session, Journal* journal) {
  if (journal != nullptr) return journal->applied();
  const std::string path = session.state().journal_path();
  const bool readable = journal_exists(session) && ::access(path.c_str(), R_OK | W_OK) == 0 &&
                        RootLock::other_holder(session.host_config().root, session.host_config().live).empty();
  if (!readable) return Entries{};
  if (!session.state().check_journal()) return Entries{};
  const auto opened = look_at_journal(path);  // status and plan report a damaged journal
  return opened && *opened ? (*opened)->applied() : Result<Entries>(Entries{});
}

/// True when the component is done, or a later apply will complete it: its entry is then that of the run's spec.
bool is_settled(const PlannedComponent& component) {
  const bool failed = component.error || component.state == ComponentState::blocked || component.awaits_source;
  return !failed;  // its files are in place when only verify() failed
}

/// Lists all components of the spec that are in no generation yet.
void name_left_out(Generation& generation, const Json& document) {
  std::set<std::string> names;
  const Json none = Json::object();
  const Json& sections = document.is_object() ? document["spec"]["components"] : none;
  for (const auto& [name, section] : sections.items()) {
    if (is_applied(generation, name)) continue;
    generation.spec["spec"]["components"][name] = section;
    names.insert(name);
  }
  generation.left_out.assign(names.begin(), names.end());
}

/// Returns the accepted edits of a component in this run. A component that could not be planned keeps all of them.
Json accepted_after(const PlannedRun& run, const PlannedComponent& component) {
  const bool is_planned = component.leaving || !component.items.empty();
  return is_planned ? component.accepted : run.accepted.value(component.name, Json::object());
}

/// Removes components from the generation that own nothing here (such as one whose work is done at boot) and that are
/// no longer in the spec. They have no plan, so no component of the run records their removal.
void drop_empty_components(Generation& generation, const PlannedRun& run) {
  std::vector<std::string> leaving;
  for (const auto& [name, plugin] : generation.plugins.items())
    if (!run.spec.has(name) && !run.spec.left_out.contains(name) &&
        std::ranges::count(run.components, name, &PlannedComponent::name) == 0)
      leaving.push_back(name);
  for (const std::string& name : leaving) take(generation, name);
}

/// Returns what is applied after the run. When every component of the run stays as it was, so does the rest of the
/// spec.
/// @param committed  in this run or an interrupted one before it, see Journal::applied()
Result<Generation> generation_of(Session& session, const Recording& recording, const PlannedRun& run,
                                 const Entries& committed) {
  Generation generation = recording.base.value_or(Generation{});
  const auto stays = [&](const PlannedComponent& component) {
    const bool is_over = is_settled(component) || committed.contains(component.name);
    return !is_over || std::ranges::count(recording.going_back, component.name) != 0;
  };
  const auto is_new = [&](const PlannedComponent& component) {
    return !stays(component) && (component.leaving || run.spec.components.contains(component.name));
  };
  const bool whole = !recording.base || (!run.partial && std::ranges::any_of(run.components, is_new));
  if (whole && run.spec.document.is_object()) {
    const Json sections = generation.spec.is_object() ? generation.spec["spec"]["components"] : Json::object();
    generation.spec = frame_of(run.spec.document);
    for (const auto& [name, plugin] : generation.plugins.items())
      generation.spec["spec"]["components"][name] = sections.value(name, Json::object());
    generation.spec_file = kept_spec_file(session, run.spec.file);
  }
  // The unchanged components may be for other kernels than those of this run.
  if (whole && std::ranges::none_of(run.components, stays)) generation.kernels.clear();
  for (const PlannedComponent& component : run.components) {
    if (stays(component)) continue;
    generation.accepted[component.name] = accepted_after(run, component);
    if (generation.accepted[component.name].empty()) generation.accepted.erase(component.name);
    if (component.leaving) {
      take(generation, component.name);
    } else if (run.spec.components.contains(component.name)) {
      SLIPWAY_TRY(entry, applied_entry(session, run, component.name));
      put(generation, component.name, entry);
    }
  }
  if (const auto& change = session.options().kernel_change; change && change->kind == KernelChange::Kind::removed)
    std::erase(generation.kernels, change->release);
  if (!run.partial && session.state().left_out().empty()) drop_empty_components(generation, run);
  if (whole) name_left_out(generation, run.spec.document);
  generation.time = session.options().time;
  return generation;
}

void forget_left_out(Generation& generation) {
  for (const std::string& name : generation.left_out) generation.spec["spec"]["components"].erase(name);
  generation.left_out.clear();
}

/// True when an edit was replaced by the desired content for good.
bool has_replaced_edits(const Recording& recording, const PlannedRun& run) {
  return std::ranges::any_of(run.components, [&](const PlannedComponent& component) {
    return !component.error && std::ranges::count(recording.going_back, component.name) == 0 &&
           std::ranges::any_of(component.items, [](const PlannedItem& item) { return item.replaces.has_value(); });
  });
}

/// True when both generations have the same content. A run without --kernel uses the running kernel.
bool same(Generation a, Generation b, bool with_plugins = true) {
  forget_left_out(a);
  forget_left_out(b);
  a.number = b.number;
  a.before = b.before;
  a.time = b.time;
  a.spec_file = b.spec_file;
  if (b.kernels.empty()) a.kernels.clear();
  if (!with_plugins) a.plugins = b.plugins;
  return to_json(a) == to_json(b);
}

/// True when a rollback reached its target: all of it worked. Otherwise the active generation stays, unless parts of it
/// changed.
bool comes_to_target(const Recording& recording, const PlannedRun& run, const Generation& current) {
  return recording.target != 0 && recording.target != current.number && !run.partial && !run.failed();
}

/// Determines the number for a new active generation.
/// @param next  receives the number, and that of the generation before
Status number_generation(Session& session, const std::optional<Generation>& current, int target, Generation& next) {
  SLIPWAY_TRY(numbers, session.state().generations());
  const int last = numbers.empty() ? 0 : numbers.back();
  next.before = current ? current->number : 0;
  next.number = last + 1;
  if (target != 0) {
    SLIPWAY_TRY(wanted, session.state().generation(target));
    next.before = wanted.before;
    if (same(wanted, next, false)) {
      wanted.plugins = next.plugins;  // the plugins that applied it this time
      next = std::move(wanted);
    }
  } else if (last > next.before) {  // a crash left this generation, or a rollback from it
    const auto left = session.state().generation(last);
    if (left && left->before == next.before && same(*left, next)) next.number = last;
  }
  return {};
}

}  // namespace

Result<std::optional<Generation>> applied_now(Session& session, Journal* journal) {
  SLIPWAY_TRY(generation, stored_generation(session));
  SLIPWAY_TRY(entries, entries_of_journal(session, journal));
  Generation now = generation.value_or(Generation{});
  for (const auto& [component, entry] : entries) entry.is_null() ? take(now, component) : put(now, component, entry);
  if (now.plugins.empty()) return std::optional<Generation>{};
  return std::optional<Generation>(std::move(now));
}

Result<HostSpec> spec_of(const Generation& generation, const Plugins& plugins) {
  SLIPWAY_TRY(spec, host_spec_from_json(generation.spec, generation.spec_file, plugins, generation.plugins));
  for (const std::string& name : generation.left_out) {
    spec.components.erase(name);
    spec.unusable.erase(name);
    spec.left_out.insert(name);
  }
  return spec;
}

Result<std::vector<std::string>> applied_by_other_plugins(Session& session, const Generation& generation,
                                                          const std::vector<std::string>& only) {
  std::vector<std::string> list;
  for (const auto& [name, plugin] : generation.plugins.items()) {
    if (!only.empty() && std::ranges::count(only, name) == 0) continue;
    if (!session.plugins().component_to_path.contains(name)) continue;
    const PluginFile& file = session.plugins().file(name);
    const std::string version = plugin.value("version", "");
    SLIPWAY_TRY(digest, file.digest.get());
    if (version != file.plugin_version)
      list.push_back(name + " " + version + " (" + file.plugin_version + " is installed)");
    else if (digest != plugin.value("digest", ""))
      list.push_back(name + " " + version + " (another build of it is installed)");
  }
  return list;
}

std::string kept_spec_file(const Session& session, const std::string& file) {
  const std::filesystem::path path(file);
  if (session.host_config().root != "/") return path.filename().string();
  std::error_code problem;
  const auto absolute = std::filesystem::absolute(path, problem);
  return problem || file == "-" ? file : absolute.string();
}

Result<Json> applied_entry(Session& session, const PlannedRun& run, const std::string& component) {
  const auto path = session.plugins().component_to_path.find(component);
  if (path == session.plugins().component_to_path.end() || !run.spec.components.contains(component)) return Json{};
  const PluginFile& file = session.plugins().files.at(path->second);
  SLIPWAY_TRY(digest, file.digest.get());
  const Json& document = run.spec.document;
  return Json{{"frame", frame_of(document)},
              {"kernels", session.options().kernels},
              {"lock", lock_part(run.lock.to_json(), component)},
              {"plugin", {{"digest", std::move(digest)}, {"version", file.plugin_version}}},
              {"section", document["spec"]["components"].value(component, Json::object())},
              {"spec_file", kept_spec_file(session, run.spec.file)}};
}

bool generation_is_new(Session& session, const Recording& recording, const PlannedRun& run) {
  if (has_replaced_edits(recording, run)) return true;
  const auto current = stored_generation(session);
  const auto next = generation_of(session, recording, run, {});
  if (!current || !next) return false;
  if (!*current) return !next->plugins.empty();
  return !same(**current, *next) || comes_to_target(recording, run, **current);
}

Result<int> record_generation(Session& session, const Recording& recording, const PlannedRun& run, Journal& journal) {
  StateDir& state = session.state();
  SLIPWAY_TRY(committed, journal.applied());
  if (state.leaves_out("generations/current")) return 0;  // a removal works without the damaged generation
  SLIPWAY_TRY(next, generation_of(session, recording, run, committed));
  SLIPWAY_TRY(current, stored_generation(session));
  if (next.plugins.empty()) {
    SLIPWAY_CHECK(state.forget_current());
    SLIPWAY_CHECK(journal.recorded());
    return 0;
  }
  if (!current || comes_to_target(recording, run, *current) || !same(*current, next) ||
      has_replaced_edits(recording, run)) {
    SLIPWAY_CHECK(number_generation(session, current, recording.target, next));
    SLIPWAY_CHECK(state.write_current(next));
  } else {
    next.number = current->number;
  }
  SLIPWAY_CHECK(journal.recorded());
  return next.number;
}

}  // namespace slipway::core
