// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include <slipway/text.hpp>

#include "cli/render/render.hpp"
#include "cli/render/text.hpp"

namespace slipway::cli {
namespace {

using CheckStatus = Finding::Status;

constexpr std::size_t kShortText = 140;

Tone tone_of_finding(CheckStatus status) {
  switch (status) {
    case CheckStatus::pass:
      return Tone::good;
    case CheckStatus::fail:
      return Tone::bad;
    case CheckStatus::warning:
      return Tone::attention;
    default:
      return Tone::faint;
  }
}

Page finding_text(const Finding& finding) {
  Page page;
  page << "  " << Toned{tone_of_finding(finding.status), std::string(to_string(finding.status))} << "  " << finding.name
       << ": " << finding.text << '\n';
  if (!finding.remedy.empty()) page << "      do: " << finding.remedy << '\n';
  return page;
}

Page entry_text(const core::CauseEntry& entry, bool whole) {
  Page page = finding_text(*entry.head);
  for (const Finding* each : entry.consequences)
    page << "      leads to " << each->name << ": " << (whole ? each->text : cut_at_word(each->text, kShortText))
         << '\n';
  return page;
}

/// All findings, those in entries and the others.
struct Grouped {
  std::vector<core::CauseEntry> entries;
  std::vector<const Finding*> others;

  explicit Grouped(const std::map<std::string, Findings>& findings) : entries(core::entries_of(findings)) {
    std::set<const Finding*> shown;
    for (const core::CauseEntry& entry : entries) {
      shown.insert(entry.head);
      shown.insert(entry.consequences.begin(), entry.consequences.end());
    }
    for (const auto& [component, list] : findings)
      for (const Finding& finding : list.list())
        if (!shown.contains(&finding)) others.push_back(&finding);
  }
};

std::string count_text(std::size_t wrong, std::size_t failed, std::size_t warned) {
  return std::to_string(wrong) + (wrong == 1 ? " thing is wrong" : " things are wrong") +
         (failed > wrong ? " (" + std::to_string(failed) + " checks fail)" : "") + ", " + std::to_string(warned) +
         " with a warning: ";
}

}  // namespace

Page findings_text(const std::map<std::string, Findings>& findings) {
  const Grouped grouped(findings);
  Page page;
  for (const core::CauseEntry& entry : grouped.entries) page << entry_text(entry, true);
  for (const Finding* finding : grouped.others) page << finding_text(*finding);
  return page;
}

Page doctor_text(const std::map<std::string, Findings>& findings, bool whole) {
  const auto count_of = [&](CheckStatus status) {
    std::size_t count = 0;
    for (const auto& [component, list] : findings)
      count += static_cast<std::size_t>(std::ranges::count(list.list(), status, &Finding::status));
    return count;
  };
  const Grouped grouped(findings);
  Page text;
  Page rest;
  std::size_t wrong = 0;
  for (const core::CauseEntry& entry : grouped.entries) {
    wrong += entry.worst() == CheckStatus::fail ? 1U : 0U;
    text << entry_text(entry, whole);
  }
  for (const Finding* finding : grouped.others) {
    if (finding->status == CheckStatus::not_exercised)
      text << finding_text(*finding);
    else if (whole)
      rest << finding_text(*finding);
  }
  text << rest;
  if (grouped.entries.empty())
    text << "Nothing is wrong as far as slipway can see: ";
  else
    text << count_text(wrong, count_of(CheckStatus::fail), grouped.entries.size() - wrong);
  const std::size_t well = count_of(CheckStatus::pass);
  text << well << (well == 1 ? " check passes" : " checks pass");
  if (const std::size_t untried = count_of(CheckStatus::not_exercised); untried > 0)
    text << ", " << untried << " could not be tried";
  text << ".\n";
  return text;
}

}  // namespace slipway::cli
