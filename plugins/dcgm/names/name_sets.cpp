// SPDX-License-Identifier: Apache-2.0
#include "dcgm/names/name_sets.hpp"

#include <algorithm>

#include <slipway/text.hpp>

namespace slipway::dcgm {
namespace {

void add_hidden(const std::vector<unsigned>& numbers, Counters& counters) {
  for (const unsigned number : numbers) {
    const Field* const field = find_field(number);
    const auto at = std::ranges::lower_bound(counters.series, number, {},
                                             [](const Counter& counter) { return counter.field->number; });
    if (field == nullptr || (at != counters.series.end() && at->field == field)) continue;
    counters.series.insert(at, {.name = field_name(number), .type = {}, .help = {}, .field = field, .hidden = true});
  }
}

}  // namespace

Result<NameSets> parse_name_sets(const std::vector<std::string>& words, const std::string& where) {
  static const std::vector<std::string> kWords{"dcgm", "openmetrics", "articles"};
  NameSets sets{.dcgm = false};
  for (const std::string& word : words) {
    if (std::ranges::find(kWords, word) == kWords.end())
      return Error{.code = ErrorCode::invalid,
                   .what = "there is no set of names '" + word + "'",
                   .where = where,
                   .next = suggestion(word, kWords, "use one or more of " + listed(kWords, "or"))};
    sets.dcgm = sets.dcgm || word == "dcgm";
    sets.openmetrics = sets.openmetrics || word == "openmetrics";
    sets.articles = sets.articles || word == "articles";
  }
  if (sets.dcgm || sets.openmetrics || sets.articles) return sets;
  return Error{.code = ErrorCode::invalid,
               .what = "there is no set of names, so there would be no metric",
               .where = where,
               .next = "use one or more of " + listed(kWords, "or")};
}

Counters with_fields_of(const NameSets& sets, Counters counters) {
  if (!sets.dcgm) {
    counters.series.clear();
    counters.labels.clear();
    counters.links.clear();
    counters.processors.clear();
    counters.exporter.clear();
    counters.foreign.clear();
    counters.left_out.clear();
  }
  if (sets.openmetrics) add_hidden(conventional_fields(), counters);
  if (sets.articles) add_hidden(article_fields(), counters);
  return counters;
}

}  // namespace slipway::dcgm
