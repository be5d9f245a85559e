// SPDX-License-Identifier: Apache-2.0
// plugins/validator/check.hpp - the result of one check: a finding with a fixed name.
#pragma once

#include <string>
#include <utility>

#include <slipway/findings.hpp>

namespace slipway::validator {

using Verdict = Finding::Status;

inline Finding passes(std::string name, std::string text) {
  return {Verdict::pass, std::move(name), std::move(text), {}};
}
inline Finding fails(std::string name, std::string text, std::string remedy, std::string cause = {}) {
  return {Verdict::fail, std::move(name), std::move(text), std::move(remedy), std::move(cause)};
}
/// The result of a check that could not run. It is never "pass", because the state is unknown.
inline Finding not_tried(std::string name, std::string why) {
  return {Verdict::not_exercised, std::move(name), std::move(why), {}};
}
inline bool passed(const Finding& finding) { return finding.status == Verdict::pass; }

}  // namespace slipway::validator
