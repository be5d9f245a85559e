// SPDX-License-Identifier: Apache-2.0
// core/engine/advice.hpp - remedies name commands as they are typed on the machine itself; here they get its
// options.
#pragma once

#include <string>
#include <vector>

#include <slipway/error.hpp>
#include <slipway/findings.hpp>

#include "core/engine/machine.hpp"

namespace slipway::core {

/// The commands of slipway in `text` ("run `slipway apply`") with the options that make them act on the same root and
/// machine, and by the same spec, as this one: --root, --live, --sim, --kernel, -f. As it was where there are none.
std::string advised(std::string text, const SessionOptions& options);
/// The error with its `next` said that way.
Error advised(Error error, const SessionOptions& options);

/// A word of a command as a shell takes it: "'my host.yaml'".
std::string shell_word(const std::string& word);

/// The text advises an apply, or to see by a plan what an apply would do.
bool advises_apply(const std::string& text);

/// The text is of ways_out(): an apply alone keeps the edits.
bool keeps_edits(const std::string& text);

/// What helps against edits that are kept: the commands that replace them, and that accept them.
std::string ways_out(const std::vector<std::string>& paths);

/// What has failed, with the file and the place in it where the error names one: "/etc/a.toml:3:5: it is not TOML".
std::string what_and_file(const Error& error);

/// What a plugin advises: it knows nothing of other roots, so the root's programs too are named as they run from here
/// ("`depmod -b /srv/rootfs 6.1`").
Error advised_by_plugin(Error error, const Machine& machine);
Findings advised_by_plugin(const Findings& findings, const Machine& machine);

}  // namespace slipway::core
