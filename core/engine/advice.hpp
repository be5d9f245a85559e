// SPDX-License-Identifier: Apache-2.0
// core/engine/advice.hpp - adds this run's options to the commands that remedies name as typed on the machine itself.
#pragma once

#include <string>
#include <vector>

#include <slipway/error.hpp>
#include <slipway/findings.hpp>

#include "core/engine/machine.hpp"

namespace slipway::core {

/// Returns `text` in which slipway's commands ("run `slipway apply`") have the options that make them act on the same
/// root, machine and spec as this run: --root, --live, --sim, --kernel, -f. Unchanged when it has none of them.
std::string advised(std::string text, const SessionOptions& options);
/// The same for the error's `next`.
Error advised(Error error, const SessionOptions& options);

/// Quotes a word for a shell: "'my host.yaml'".
std::string shell_word(const std::string& word);

/// True when the text advises an apply, or a plan that shows what an apply would do.
bool advises_apply(const std::string& text);

/// True when the text comes from edit_remedies(): an apply alone keeps the edits.
bool keeps_edits(const std::string& text);

/// Names the commands that resolve kept edits: one replaces them, the other accepts them.
std::string edit_remedies(const std::vector<std::string>& paths);

/// The failure, with the file and the position where the error names them: "/etc/a.toml:3:5: it is not TOML".
std::string text_with_file(const Error& error);

/// Adapts a plugin's advice to this root. A plugin knows nothing about other roots, so the root's programs are also
/// named as they are run from here ("`depmod -b /srv/rootfs 6.1`"). Commands for a simulated machine say so.
Error advised_by_plugin(Error error, const Machine& machine);
Findings advised_by_plugin(const Findings& findings, const Machine& machine);

}  // namespace slipway::core
