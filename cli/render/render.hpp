// SPDX-License-Identifier: Apache-2.0
// cli/render/render.hpp - results for people and for programs.
#pragma once

#include <map>
#include <string>

#include <slipway/findings.hpp>
#include <slipway/json.hpp>

#include "app/saved_plan.hpp"
#include "cli/options/options.hpp"
#include "cli/render/page.hpp"
#include "core/engine/apply/apply.hpp"
#include "core/engine/model/planned.hpp"

namespace slipway::core {

/// `{"apiVersion": "slipway.dev/v1", "kind": KIND, …members}`
Json envelope(const std::string& kind, Json members);

Page plan_text(const PlannedRun& run, const Options& options);
/// Also what `apply FILE` reads: "identity" is compared, "options" say what it was made for.
Json plan_json(const PlannedRun& run, const Options& options);

/// A plan's warnings about the host as a whole.
void append_warnings(Page& text, const Findings& warnings);

Page apply_text(const ApplyResult& result, const std::string& root);
Json apply_json(const ApplyResult& result);

/// What is wrong by its cause, the worst first, then all other findings.
Page findings_text(const std::map<std::string, Findings>& findings);
/// What is wrong, then what could not be tried, and how many things that are; what is well is only counted.
/// @param whole  everything, with each text in full
Page doctor_text(const std::map<std::string, Findings>& findings, bool whole);
Json findings_json(const std::map<std::string, Findings>& findings);

Tone tone_of(ComponentState state);

/// An error's text with the component in front, and a spec key's position (file:line:column) where it has one.
std::string error_text(const Error& error, const std::string& component, const HostSpec* spec);

/// The error of a component of the run; empty where it has none, or where one before it has the same one, which names
/// all that it is about.
std::string error_text(const PlannedRun& run, const PlannedComponent& component);

/// A note of a plan; with the file, line and column in front where it begins with a key of the spec ("spec.a.b: …").
std::string note_text(const std::string& note, const HostSpec& spec);

/// Writes a JSON result as `-o` asks: indented, or on one line.
std::string json_text(const Json& value, const std::string& output);

/// output.schema.json of this folder.
Json output_schema();

}  // namespace slipway::core
