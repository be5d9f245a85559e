// SPDX-License-Identifier: Apache-2.0
#include "core/engine/apply/generations.hpp"

#include <filesystem>

#include "core/spec/document.hpp"

namespace slipway::core {
namespace {

Result<Json> plugins_of(Session& session, const HostSpec& spec) {
  Json plugins = Json::object();
  for (const auto& [component, section] : spec.components) {
    const auto path = session.plugins().component_to_path.find(component);
    if (path == session.plugins().component_to_path.end()) continue;
    const PluginFile& file = session.plugins().files.at(path->second);
    SLIPWAY_TRY(digest, session.plugin_digest(file));
    plugins[component] = {{"version", file.plugin_version}, {"digest", std::move(digest)}};
  }
  return plugins;
}

/// Where the spec came from, as the root keeps it. An image does not tell from which folder of which user it was built,
/// unless paths in the spec are relative to that folder.
std::string kept_spec_file(Session& session, const HostSpec& spec) {
  if (session.host_config().root == "/") return spec.file;
  const std::filesystem::path file(spec.file);
  const auto elsewhere = host_spec_from_json(spec.document, "/nowhere/host.yaml", session.plugins());
  if (elsewhere && elsewhere->components == spec.components) return file.filename().string();
  std::error_code problem;
  const auto absolute = std::filesystem::absolute(file, problem);
  return problem ? spec.file : absolute.string();
}

/// Of components that this run leaves out, or could not plan, all that was accepted stays so.
Json accepted_after(const PlannedRun& run) {
  Json all = Json::object();
  for (const auto& [name, entries] : run.accepted.items()) {
    const PlannedComponent* planned = run.find(name);
    const bool is_planned = planned != nullptr && !planned->error && (planned->leaving || !planned->items.empty());
    if (const Json& left = is_planned ? planned->accepted : entries; !left.empty()) all[name] = left;
  }
  return all;
}

Result<Generation> generation_of(Session& session, const PlannedRun& run) {
  Generation generation;
  generation.spec = run.spec.document;
  generation.spec_file = kept_spec_file(session, run.spec);
  generation.lock = run.lock.to_json();
  SLIPWAY_TRY(plugins, plugins_of(session, run.spec));
  generation.plugins = std::move(plugins);
  generation.kernels = session.options().kernels;
  generation.accepted = accepted_after(run);
  return generation;
}

/// Whether `b` asks for what `a` is. A run that names no kernel takes the one it is on.
bool same(Generation a, const Generation& b) {
  a.number = b.number;
  a.spec_file = b.spec_file;
  if (b.kernels.empty()) a.kernels.clear();
  return to_json(a) == to_json(b);
}

}  // namespace

bool generation_is_new(Session& session, const PlannedRun& run) {
  if (run.replaces_edits()) return true;
  const auto current = session.state().current();
  if (!current) return false;
  if (!*current) return !run.spec.components.empty();
  const auto wanted = generation_of(session, run);
  return wanted && !same(**current, *wanted);
}

Result<int> record_generation(Session& session, const PlannedRun& run) {
  StateDir& state = session.state();
  if (run.spec.components.empty()) {
    SLIPWAY_CHECK(state.forget_current());
    return 0;
  }
  SLIPWAY_TRY(current, state.current());
  SLIPWAY_TRY(generation, generation_of(session, run));
  if (current && same(*current, generation) && !run.replaces_edits()) return current->number;
  generation.number = current ? current->number + 1 : 1;  // a later file is what a crash left
  SLIPWAY_CHECK(state.write_current(generation));
  return generation.number;
}

}  // namespace slipway::core
