// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/runtime/component/diagnose.hpp - known failures of container engines' configurations: for
// `slipway doctor`.
#pragma once

#include <string>

#include <slipway/findings.hpp>
#include <slipway/host.hpp>
#include <slipway/json.hpp>

namespace slipway::toolkit {

/// Only what is there is found, from files alone:
///   runtime.hidden        a file's runtime classes do not count, since a later import replaces its table (containerd
///                         before 2.1)
///   runtime.program       a runtime class starts a program that is not there
///   runtime.default       the default runtime class is defined nowhere
///   runtime.other-config  the engine reads another configuration than the usual one, which is there as well
/// @param kind   containerd as read_containerd() names it, with its facts
void diagnose_containerd(const std::string& kind, const Json& facts, const Host& host, Findings& findings);
/// The same of daemon.json. @param facts  of read_docker()
void diagnose_docker(const Json& facts, const Host& host, Findings& findings);

}  // namespace slipway::toolkit
