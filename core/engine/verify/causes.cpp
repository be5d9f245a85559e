// SPDX-License-Identifier: Apache-2.0
#include "core/engine/verify/causes.hpp"

#include <algorithm>
#include <regex>
#include <set>
#include <tuple>

#include "core/engine/advice.hpp"
#include "core/engine/verify/verify.hpp"

namespace slipway::core {
namespace {

bool is_wrong(const Finding& finding) {
  return finding.status == Finding::Status::fail || finding.status == Finding::Status::warning;
}

/// Returns "gpu/0000:65:00.0" for "gpu/0000:65:00.0/lost".
std::string thing_of(const std::string& path) {
  const std::size_t kind = path.find('/');
  return kind == std::string::npos ? path : path.substr(0, path.find('/', kind + 1));
}

/// Returns the depth of a path; a cause that is another finding is deeper than any path.
std::size_t depth_of(const std::string& cause) {
  constexpr std::size_t kOfAFinding = 100;
  const auto depth = static_cast<std::size_t>(std::ranges::count(cause, '/'));
  return depth == 0 && !cause.empty() ? kOfAFinding : depth;
}

constexpr const char* kService = ".service";

std::string component_of(const Finding& finding) { return finding.name.substr(0, finding.name.find('.')); }

/// True when the service's report contains the other finding's statement about its subject ("GPU 3: XID 79").
bool reports(const Finding& service, const Finding& other) {
  const std::size_t subject = other.text.find(": ");
  const std::string what = subject == std::string::npos ? other.text : other.text.substr(subject + 2);
  return !what.empty() && service.text.find(what) != std::string::npos;
}

/// All findings of all components, and for each name the first finding that is wrong: a failure before a warning.
class Causes {
 public:
  using Origin = std::pair<std::string, const Finding*>;

  explicit Causes(const std::map<std::string, Findings>& findings) {
    for (const auto& [component, list] : findings)
      for (const Finding& finding : list.list())
        if (is_wrong(finding) || !finding.cause.empty()) all_.push_back(&finding);
    for (const auto status : {Finding::Status::fail, Finding::Status::warning})
      for (const Finding* finding : all_)
        if (finding->status == status) by_name_.emplace(finding->name, finding);
  }
  const std::vector<const Finding*>& all() const { return all_; }

  /// Returns the root cause of the finding: a thing or a finding; the other member is empty.
  Origin origin(const Finding* finding) const {
    std::set<const Finding*> seen;
    while (!finding->cause.empty() && seen.insert(finding).second) {
      const auto named = by_name_.find(finding->cause);
      if (named == by_name_.end()) return {thing_of(finding->cause), nullptr};
      if (named->second == finding) break;
      finding = named->second;
    }
    return {"", finding};
  }

  /// The same for all of its causes: a service reports all problems of its GPUs at once.
  std::vector<Origin> origins(const Finding* finding) const {
    std::vector<Origin> found{origin(finding)};
    if (finding->cause.empty() || finding->name != component_of(*finding) + kService) return found;
    const bool is_cut = finding->text.ends_with(" more");  // then findings of the same name count as well
    for (const Finding* each : all_) {
      if (each == finding || !is_wrong(*each) || component_of(*each) != component_of(*finding)) continue;
      if (!reports(*finding, *each) && !(is_cut && each->name == finding->cause)) continue;
      const Origin further = origin(each);
      if (std::ranges::find(found, further) == found.end()) found.push_back(further);
    }
    return found;
  }

 private:
  std::vector<const Finding*> all_;
  std::map<std::string, const Finding*> by_name_;
};

/// True when `one` is the better finding about a thing: its remedy is shown. A consequence of a symptom is shown only
/// when there is nothing else.
bool leads(const Finding& one, const Finding& other) {
  constexpr std::size_t kSymptom = 2;  // "gpu/0000:65:00.0/lost"
  const auto rank = [](const Finding& finding) {
    return std::tuple(!is_wrong(finding), depth_of(finding.cause) > kSymptom, finding.status != Finding::Status::fail,
                      depth_of(finding.cause), finding.remedy.empty());
  };
  return rank(one) < rank(other);
}

constexpr const char* kOwned = ".owned";
constexpr const char* kVerify = ".verify";  // the component's checks ended with an error

/// True when an apply for the running system would fix the finding. Findings about the next boot are not included.
bool is_cured_by_apply(const Finding& finding) {
  return advises_apply(finding.remedy) && !finding.name.ends_with(kNextBoot);
}

/// True when the last apply is complete except for a reboot.
bool awaits_reboot(const Finding& finding) { return is_wrong(finding) && finding.remedy == kReboot; }

/// Returns the finding that leads a component's findings that an apply, or a pending reboot, would fix; null when none
/// does.
const Finding* leader_of(const std::string& component, const Findings& findings) {
  for (const Finding& finding : findings.list())
    if (finding.name == component + ".apply" && awaits_reboot(finding)) return &finding;
  for (const char* end : {".plan", ".apply"})
    for (const Finding& finding : findings.list())
      if (finding.status == Finding::Status::fail && finding.name == component + end) return &finding;
  for (const Finding& finding : findings.list()) {
    // The former state is active, and the failed apply would have fixed what is wrong with it. A component's finding
    // about the obstacle is more specific than the finding that the component waits.
    if (finding.status == Finding::Status::warning && finding.name == component + ".apply" &&
        !finding.text.starts_with(kLeftWaiting))
      return &finding;
    if (is_wrong(finding) && finding.name == component + kOwned && keeps_edits(finding.remedy)) return &finding;
  }
  return nullptr;
}

/// Returns the component's own finding about things that differ from slipway's record; empty if not found.
std::string explains(const Finding& owned, const Findings& findings) {
  const bool is_own_work = owned.text.starts_with(kOwnWorkDiffers);
  const auto is_about_it = [&](const Finding& finding) {
    return finding.name != owned.name && (is_cured_by_apply(finding) || (is_own_work && !finding.cause.empty()));
  };
  for (const auto status : {Finding::Status::fail, Finding::Status::warning})
    for (const Finding& finding : findings.list())
      if (finding.status == status && is_about_it(finding)) return finding.name;
  return {};
}

/// The place in a file that a text names: "/etc/FILE:11:5"; empty when it names none.
std::string place_in(const std::string& text) {
  static const std::regex kPlace("/[^\\s()]+:[0-9]+:[0-9]+");
  constexpr std::size_t kMaxSearchedBytes = 1024;  // the library's matcher is slow on long texts
  const std::string head = text.substr(0, kMaxSearchedBytes);
  std::smatch found;
  return std::regex_search(head, found, kPlace) ? found.str() : std::string();
}

/// The component's own finding about the same place in the same file; empty when it has no such finding. A file that
/// cannot be read stops the component's checks and the core's, and both tell of it.
std::string tells_of_the_place(const Finding& general, const Findings& findings) {
  const std::string place = place_in(general.text);
  if (place.empty()) return {};
  const std::string component = component_of(general);
  for (const Finding& finding : findings.list())
    if (is_wrong(finding) && finding.name != component + kOwned && finding.name != component + kVerify &&
        place_in(finding.text) == place)
      return finding.name;
  return {};
}

/// Returns the component's finding that has the remedy for a problem that its service only reports.
std::string finding_with_remedy(const Finding& service, const Findings& findings) {
  for (const auto status : {Finding::Status::fail, Finding::Status::warning})
    for (const Finding& finding : findings.list())
      if (finding.status == status && finding.name != service.name && reports(service, finding)) return finding.name;
  return {};
}

/// Marks findings that a running apply will fix.
Findings leave_to_apply(const Findings& findings) {
  Findings later;
  for (Finding finding : findings.list()) {
    if (is_wrong(finding) && finding.name != kApplyFinding && is_cured_by_apply(finding))
      finding = {Finding::Status::not_exercised, finding.name, finding.text, {}, kApplyFinding};
    later.add(std::move(finding));
  }
  return later;
}

/// True when both are about the same place in the same file.
bool same_place(const Finding& one, const Finding& other) {
  const std::string place = place_in(one.text);
  return !place.empty() && place == place_in(other.text);
}

void name_causes_in(const std::string& component, Findings& findings) {
  const Finding* const leader = leader_of(component, findings);
  const std::string leading = leader == nullptr ? "" : leader->name;
  const bool cannot_be_planned = leading.ends_with(".plan");
  Findings named;
  for (Finding finding : findings.list()) {
    if (is_wrong(finding) && finding.cause.empty() && finding.name != leading) {
      const bool has_leader = !leading.empty();
      if (has_leader && (is_cured_by_apply(finding) || awaits_reboot(*leader) || same_place(finding, *leader)))
        finding.cause = leading;
      else if (finding.status == Finding::Status::warning && finding.name == component + kService)
        finding.cause = finding_with_remedy(finding, findings);
      else if (finding.name == component + kOwned)
        finding.cause = explains(finding, findings);
      if (finding.cause.empty() && (finding.name == component + kOwned || finding.name == component + kVerify))
        finding.cause = tells_of_the_place(finding, findings);
    }
    if (cannot_be_planned && (finding.cause == leading || finding.cause == component + ".apply"))
      finding.remedy.clear();
    named.add(std::move(finding));
  }
  findings = std::move(named);
}

}  // namespace

Finding::Status CauseEntry::worst() const {
  const auto is_failure = [](const Finding* each) { return each->status == Finding::Status::fail; };
  const bool fails = is_failure(head) || std::ranges::any_of(consequences, is_failure);
  return fails ? Finding::Status::fail : Finding::Status::warning;
}

std::vector<CauseEntry> entries_of(const std::map<std::string, Findings>& findings) {
  const Causes causes(findings);
  std::vector<std::vector<const Finding*>> groups;
  std::map<Causes::Origin, std::size_t> places;
  for (const Finding* finding : causes.all())
    for (const auto& origin : causes.origins(finding)) {
      const auto [place, is_new] = places.emplace(origin, groups.size());
      if (is_new) groups.emplace_back();
      groups[place->second].push_back(finding);
    }
  std::vector<CauseEntry> entries;
  for (const auto& [origin, place] : places) {
    const auto& group = groups[place];
    const Finding* head = origin.second;
    for (const Finding* each : group)
      if (origin.second == nullptr && (head == nullptr || leads(*each, *head))) head = each;
    if (!is_wrong(*head)) continue;  // the thing has no problem
    entries.push_back({head, {}});
    for (const Finding* each : group)
      if (each != head) entries.back().consequences.push_back(each);
  }
  const auto rank = [](const CauseEntry& entry) {
    return std::tuple(entry.head->name != kApplyFinding, entry.worst() != Finding::Status::fail,
                      entry.head->status != Finding::Status::fail,
                      -static_cast<std::ptrdiff_t>(entry.consequences.size()), entry.head->name, entry.head->text);
  };
  std::ranges::stable_sort(entries, {}, rank);
  return entries;
}

void name_causes(std::map<std::string, Findings>& findings, bool apply_runs) {
  for (auto& [component, list] : findings) {
    if (apply_runs) list = leave_to_apply(list);
    name_causes_in(component, list);
  }
}

bool awaits_apply(const std::map<std::string, Findings>& findings) {
  return std::ranges::any_of(findings, [](const auto& component) {
    return std::ranges::any_of(component.second.list(), [](const Finding& finding) {
      return finding.status == Finding::Status::not_exercised && finding.cause == kApplyFinding;
    });
  });
}

}  // namespace slipway::core
