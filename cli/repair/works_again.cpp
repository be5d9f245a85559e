// SPDX-License-Identifier: Apache-2.0
#include "cli/repair/works_again.hpp"

#include "core/engine/apply/generations.hpp"
#include "core/engine/root_lock.hpp"
#include "core/engine/verify/verify.hpp"

namespace slipway::core {
namespace {

/// What that apply left was looked at, and not what another spec wants in its place.
std::set<std::string> that_work(Session& session, const HostSpec& spec, const Json& before,
                                const std::map<std::string, Findings>& findings) {
  std::set<std::string> names;
  const auto current = applied_now(session);
  if (!current || !*current) return names;
  for (const std::string& name : as_in_force(session, spec, **current)) {
    const auto record = before.find(name);
    const auto found = findings.find(name);
    if (record != before.end() && record->contains("findings") && record->value("state", "") == "failed" &&
        found != findings.end() && found->second.passed())
      names.insert(name);
  }
  return names;
}

Status forget(Session& session, const std::set<std::string>& names, const Json& before) {
  const auto lock = RootLock::take(session.host_config().root, session.host_config().live);
  if (!lock) return lock.error();
  SLIPWAY_TRY(now, session.state().failing());
  Json after = now;
  for (const std::string& name : names)
    if (after.contains(name) && after[name] == before[name]) after.erase(name);  // else an apply has been there since
  if (after == now) return {};
  SLIPWAY_CHECK(session.state().write_failing(after));
  return session.root().sync();
}

}  // namespace

void forget_what_works(Session& session, const HostSpec& spec, const Json& before,
                       const std::map<std::string, Findings>& findings) {
  // A simulated machine tells nothing about what this one has.
  if (before.empty() || (session.simulated() != nullptr && session.host_config().root == "/")) return;
  if (const auto names = that_work(session, spec, before, findings); !names.empty())
    (void)forget(session, names, before).ok();
}

}  // namespace slipway::core
