// SPDX-License-Identifier: Apache-2.0
// cli/render/render.hpp - results for users and for programs.
#pragma once

#include <map>
#include <string>

#include <slipway/findings.hpp>
#include <slipway/json.hpp>

#include "app/saved_plan.hpp"
#include "cli/options/options.hpp"
#include "cli/render/page.hpp"

namespace slipway::cli {

/// Returns `{"apiVersion": "slipway.dev/v1", "kind": KIND, …members}`.
Json envelope(const std::string& kind, Json members);

Page plan_text(const core::PlannedRun& run, const Options& options);
/// The document that `apply FILE` reads: "identity" is compared, "options" are those of the plan.
Json plan_json(const core::PlannedRun& run, const Options& options);

/// Appends a plan's warnings about the whole host.
void append_warnings(Page& text, const Findings& warnings);

Page apply_text(const core::ApplyResult& result, const std::string& root);
Json apply_json(const core::ApplyResult& result);

/// Returns the problems by cause, the worst first, then all other findings.
Page findings_text(const std::map<std::string, Findings>& findings);
/// Returns the problems, then what could not be tested, with the number of each; passed findings are only counted.
/// @param whole  all findings, each with its full text
Page doctor_text(const std::map<std::string, Findings>& findings, bool whole);
Json findings_json(const std::map<std::string, Findings>& findings);

Tone tone_of(core::ComponentState state);

/// Returns an error's text with the component in front, and the position of a spec key (file:line:column) if it has
/// one.
std::string error_text(const Error& error, const std::string& component, const core::HostSpec* spec);

/// Returns the error of a component of the run; empty when it has none, or when an earlier component has the same
/// error, which names all components concerned.
std::string error_text(const core::PlannedRun& run, const core::PlannedComponent& component);

/// Returns a note of a plan; with file, line and column in front when it begins with a key of the spec ("spec.a.b: …").
std::string note_text(const std::string& note, const core::HostSpec& spec);

/// Returns a JSON result in the form of `-o`: indented, or on one line.
std::string json_text(const Json& value, const std::string& output);

/// Returns output.schema.json of this folder.
Json output_schema();

}  // namespace slipway::cli
