// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <set>
#include <vector>

#include <slipway/text.hpp>

#include "core/action/action_kind.hpp"
#include "core/engine/model/relations.hpp"
#include "core/engine/unit/units.hpp"
#include "core/host/root_fs.hpp"

namespace slipway::core {
namespace {

constexpr int kMostLinks = 40;  // that one path may go through, as in Linux

/// A component with a thing that it claims.
struct Claimant {
  std::string component;
  bool holds = false;  ///< from an earlier apply; the component is outside this run
  Claim claim;
};

/// Returns the plugin that a component comes from: "/usr/lib/slipway/plugins/acme.so (1.2.0)".
std::string origin_of(const std::string& component, const Plugins& plugins) {
  if (component == kBootComponent) return "slipway itself";
  if (!plugins.component_to_path.contains(component)) return "its plugin is not installed";
  const PluginFile& file = plugins.file(component);
  return file.path + " (" + file.plugin_version + ")";
}

std::vector<Claim> claims_of(const Ownership& ownership) {
  std::vector<Claim> all;
  for (const Owned& item : ownership.items)
    if (const auto kind = action_kind(item.action.kind())) {
      const auto claims = (*kind)->claims(item.action);
      all.insert(all.end(), claims.begin(), claims.end());
    }
  return all;
}

std::vector<Claim> claims_of(const PlannedComponent& planned) {
  std::vector<Claim> all;
  for (const PlannedItem& item : planned.items) {
    if (item.removal) continue;
    const auto claims = item.kind->claims(item.action);
    all.insert(all.end(), claims.begin(), claims.end());
  }
  return all;
}

/// True when the component has a plan, which names its claims. A deferred component is checked in its turn.
bool is_planned(const PlannedComponent& component) {
  return !component.error && component.state != ComponentState::blocked &&
         component.state != ComponentState::not_applicable;
}

/// Follows the links on the way to a path: the root's, and those that the plans will make.
class Links {
 public:
  explicit Links(const Host& host) : host_(host) {}

  void plan(const PlannedComponent& component) {
    for (const PlannedItem& item : component.items)
      if (!item.removal && item.action.kind() == "symlink")
        planned_[follow(item.action.target())] = item.action.text("points_to");
  }

  /// Does not follow the last name: most actions create it.
  std::string follow(const std::string& path) const {
    std::string way = path;
    for (int links = 0; links < kMostLinks; ++links) {
      const auto next = past_first_link(way);
      if (!next) break;
      way = *next;
    }
    return way;
  }

  /// Follows the last name as well, as long as it is a link.
  std::string follow_whole(const std::string& path) const {
    std::string way = follow(path);
    for (int links = 0; links < kMostLinks; ++links) {
      const std::string to = target_at(way);
      if (to.empty()) break;
      way = follow(resolved(way, to));
    }
    return way;
  }

 private:
  /// Returns the target of the link at a path; empty if not found.
  std::string target_at(const std::string& path) const {
    const auto planned = planned_.find(path);
    return planned != planned_.end() ? planned->second : link_at(path);
  }

  /// Returns the target of the link at a path, as a path of the root.
  static std::string resolved(const std::string& link, const std::string& to) {
    return without_dots(to.starts_with('/') ? to : link + "/../" + to);
  }

  /// Returns the path with the first link on its way replaced by its target; nothing if not found.
  std::optional<std::string> past_first_link(const std::string& path) const {
    for (const std::string& folder : folders_above(path)) {
      const std::string to = target_at(folder);
      if (!to.empty()) return without_dots(resolved(folder, to) + path.substr(folder.size()));
    }
    return std::nullopt;
  }

  std::string link_at(const std::string& folder) const {
    const auto known = links_.find(folder);
    if (known != links_.end()) return known->second;
    return links_[folder] = host_.read_link(folder).value_or("");
  }

  /// Resolves "..": the names before it are no longer links.
  static std::string without_dots(const std::string& path) {
    std::vector<std::string> names;
    for (const std::string& part : split<std::string>(path, '/')) {
      if (part == ".." && !names.empty()) names.pop_back();
      if (!part.empty() && part != "." && part != "..") names.push_back(part);
    }
    std::string whole;
    for (const std::string& name : names) whole += "/" + name;
    return whole;
  }

  const Host& host_;
  std::map<std::string, std::string> planned_;        ///< by path
  mutable std::map<std::string, std::string> links_;  ///< by path; empty: not a link
};

/// The claims of all components, by target.
class Claims {
 public:
  Claims(const Links& links, const Plugins& plugins) : links_(links), plugins_(plugins) {}

  /// Adds the claims of a component's last apply: the component keeps them, and other components with the same claim
  /// are refused.
  void add_applied(const Ownership& ownership) {
    for (const Claim& claim : claims_of(ownership)) applied_.insert(applied_key(ownership.component, claim));
  }

  void add(const std::string& component, bool holds, const Claim& claim) {
    for (const std::string& target : targets_of(claim)) {
      all_[target].push_back({component, holds, claim});
      if (!target.starts_with('/')) continue;
      for (const std::string& folder : folders_above(target))
        folders_[folder].emplace(component, Claimant{component, holds, claim});
    }
  }
  void add(const PlannedComponent& component) {
    for (const Claim& claim : claims_of(component)) add(component.name, false, claim);
  }

  /// Returns the error of a component that claims a thing which another component claims or holds.
  std::optional<Error> clash(const PlannedComponent& planned) const {
    for (const Claim& claim : claims_of(planned))
      for (const std::string& target : targets_of(claim))
        if (auto found = clash_at(target, claim, planned.name)) return found;
    return std::nullopt;
  }

 private:
  std::optional<Error> clash_at(const std::string& target, const Claim& claim, const std::string& name) const {
    if (const auto at = all_.find(target); at != all_.end())
      for (const Claimant& other : at->second)
        if (other.component != name && clashes(claim, other.claim) && !keeps(name, claim, other))
          return error(name, claim, other);
    if (!target.starts_with('/')) return std::nullopt;
    for (const std::string& folder : folders_above(target))
      if (const auto at = all_.find(folder); at != all_.end())
        for (const Claimant& other : at->second)
          if (other.component != name && !other.claim.shared && !keeps(name, claim, other))
            return error(name, claim, other);
    if (claim.shared) return std::nullopt;
    if (const auto at = folders_.find(target); at != folders_.end())
      for (const auto& [owner, other] : at->second)
        if (owner != name && !keeps(name, claim, other))
          return error(name, claim, {owner, other.holds, {other.claim.target, {}, true, "a folder there"}});
    return std::nullopt;
  }

  std::string applied_key(const std::string& component, const Claim& claim) const {
    return component + '\n' + (claim.target.starts_with('/') ? links_.follow(claim.target) : claim.target) + '\n' +
           claim.part;
  }

  bool was_applied(const std::string& component, const Claim& claim) const {
    return applied_.contains(applied_key(component, claim));
  }

  /// True when the component had the thing before the other component claimed it.
  bool keeps(const std::string& name, const Claim& claim, const Claimant& other) const {
    return was_applied(name, claim) && !other.holds && !was_applied(other.component, other.claim);
  }

  /// Returns the path that the claim names, and its target when it is a link that is followed.
  std::vector<std::string> targets_of(const Claim& claim) const {
    if (!claim.target.starts_with('/')) return {claim.target};
    std::vector<std::string> targets{links_.follow(claim.target)};
    if (!claim.follows) return targets;
    std::string whole = links_.follow_whole(claim.target);
    if (whole != targets.front()) targets.push_back(std::move(whole));
    return targets;
  }

  static bool clashes(const Claim& one, const Claim& other) {
    if (one.shared && other.shared) return false;
    return one.part == other.part || one.part.empty() || other.part.empty();
  }

  Error error(const std::string& name, const Claim& claim, const Claimant& other) const {
    const std::string& owner = other.component;
    const bool owner_keeps_it = other.holds || (was_applied(owner, other.claim) && !was_applied(name, claim));
    std::string what = owner_keeps_it ? name + " wants " + claim.words + ", which " + owner + " holds"
                                      : name + " and " + owner + " both want " + claim.words;
    if (other.claim.words != claim.words) what += " (of " + owner + ": " + other.claim.words + ")";
    std::string next = other.holds      ? "remove " + owner + " from the spec and apply the whole spec first"
                       : owner_keeps_it ? "remove " + name + " from the spec"
                                        : "remove " + name + " or " + owner + " from the spec";
    next += ", or install a version of either plugin that does not claim it";
    return Error{ErrorCode::conflict,
                 std::move(what),
                 {},
                 std::move(next),
                 {{name, origin_of(name, plugins_)}, {owner, origin_of(owner, plugins_)}}};
  }

  const Links& links_;
  const Plugins& plugins_;
  std::map<std::string, std::vector<Claimant>> all_;
  std::map<std::string, std::map<std::string, Claimant>> folders_;  ///< above paths: by component, a claim below
  std::set<std::string> applied_;                                   ///< applied_key()
};

void add_applied_claims(Claims& claims, const PlannedRun& run, const std::map<std::string, Ownership>& owned) {
  for (const auto& [name, ownership] : owned) {
    claims.add_applied(ownership);
    const PlannedComponent* component = run.find(name);
    if (component != nullptr && is_planned(*component)) continue;
    for (const Claim& claim : claims_of(ownership)) claims.add(name, true, claim);
  }
}

/// Returns an error when one component names the same file by two paths: the component would write the file twice.
std::optional<Error> named_twice(const PlannedComponent& planned, const Links& links) {
  std::map<std::string, std::string> seen;
  for (const Claim& claim : claims_of(planned)) {
    if (claim.shared || !claim.part.empty() || !claim.target.starts_with('/')) continue;
    const auto [at, first] = seen.emplace(links.follow(claim.target), claim.words);
    if (!first)
      return Error{ErrorCode::plugin_defect,
                   "the plan of " + planned.name + " has one path twice: " + at->second + " and " + claim.words,
                   {},
                   "report it to the plugin's authors",
                   {}};
  }
  return std::nullopt;
}

}  // namespace

void find_clashes(PlannedRun& run, const std::map<std::string, Ownership>& owned, const Session& session) {
  Links links(session.host());
  for (const PlannedComponent& component : run.components)
    if (is_planned(component)) links.plan(component);
  Claims claims(links, session.plugins());
  add_applied_claims(claims, run, owned);
  for (const PlannedComponent& component : run.components)
    if (is_planned(component)) claims.add(component);
  std::map<std::string, Error> failed;
  for (const PlannedComponent& component : run.components) {
    if (!is_planned(component)) continue;
    if (auto twice = named_twice(component, links))
      failed.emplace(component.name, std::move(*twice));
    else if (auto clash = claims.clash(component))
      failed.emplace(component.name, std::move(*clash));
  }
  for (auto& [name, error] : failed) fail(*run.find(name), std::move(error));
}

std::optional<Error> clash_of(const PlannedComponent& planned, const PlannedRun& run,
                              const std::map<std::string, Ownership>& owned, const Session& session) {
  Links links(session.host());
  for (const PlannedComponent& other : run.components)
    if (other.name == planned.name || is_planned(other)) links.plan(other.name == planned.name ? planned : other);
  Claims claims(links, session.plugins());
  add_applied_claims(claims, run, owned);
  for (const PlannedComponent& other : run.components)
    if (other.name != planned.name && is_planned(other)) claims.add(other);
  if (auto twice = named_twice(planned, links)) return twice;
  return claims.clash(planned);
}

}  // namespace slipway::core
