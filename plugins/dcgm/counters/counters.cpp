// SPDX-License-Identifier: Apache-2.0
#include "dcgm/counters/counters.hpp"

#include <algorithm>
#include <array>
#include <map>

#include <slipway/text.hpp>

namespace slipway::dcgm {
namespace {

constexpr std::size_t kParts = 3;

/// Metrics of dcgm-exporter itself, not of DCGM.
constexpr std::array<std::string_view, 6> kExporterNames{
    "DCGM_EXP_CLOCK_EVENTS_COUNT", "DCGM_EXP_CLOCK_EVENTS_TOTAL", kHealthStatus,
    "DCGM_EXP_P2P_STATUS",         "DCGM_EXP_XID_ERRORS_COUNT",   "DCGM_EXP_XID_ERRORS_TOTAL"};
/// Fields that slipway's own health rules use (plugins/nvidia/health/rules.yaml).
constexpr std::array kHealthFields{140U, 150U, 202U, 241U, 243U, 310U, 311U, 392U, 393U, 395U, 396U, 409U, 429U, 439U};
const std::vector<std::string> kTypes{"gauge", "counter", "histogram", "summary", "label"};

struct Place {
  const std::string& file;
  std::size_t line;
};

Error wrong(const Place& place, std::string what, std::string next) {
  return Error{.code = ErrorCode::invalid,
               .what = place.file + ":" + std::to_string(place.line) + ": " + std::move(what),
               .where = place.file,
               .next = std::move(next)};
}

/// Trims blanks but not tabs.
std::string_view without_blanks(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(' ');
  return begin == std::string_view::npos ? "" : text.substr(begin, text.find_last_not_of(' ') + 1 - begin);
}

/// Reads a quoted part whose opening quote is already consumed, and sets `line` to the rest. A doubled quote stands for
/// one.
Result<std::string> quoted_part(std::string_view& line, const Place& place) {
  std::string part;
  for (std::size_t at = 0; at < line.size(); ++at) {
    if (line[at] != '"') {
      part += line[at];
      continue;
    }
    if (at + 1 < line.size() && line[at + 1] == '"') {
      part += line[at++];
      continue;
    }
    line.remove_prefix(at + 1);
    if (line.empty() || line.front() == ',') return part;
    return wrong(place, "there is text after a closing quote", "write the part as \"text\", with a comma after it");
  }
  return wrong(place, "a quote is not closed", "close it on the same line; a quote inside is written \"\"");
}

Result<std::vector<std::string>> parts_of(std::string_view line, const Place& place) {
  std::vector<std::string> parts;
  for (bool more = true; more;) {
    std::string part;
    if (line.starts_with('"')) {
      line.remove_prefix(1);
      SLIPWAY_TRY(quoted, quoted_part(line, place));
      part = std::move(quoted);
    } else {
      part = line.substr(0, line.find(','));
      if (part.find('"') != std::string::npos)
        return wrong(place, "there is a quote inside a part",
                     "a part with quotes or commas begins with a quote, directly after the comma");
      line.remove_prefix(part.size());
    }
    parts.emplace_back(without_blanks(part));
    more = !line.empty();
    if (more) line.remove_prefix(1);
  }
  return parts;
}

/// Reads one file.
class Reader {
 public:
  explicit Reader(const std::string& where) : where_(where) {}

  Status take_line(std::string_view line) {
    ++number_;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty() || line.front() == '#') return {};
    const Place place{where_, number_};
    if (trimmed(line).starts_with('#'))  // dcgm-exporter reads such a line as a row
      return wrong(place, "a comment has its # in the first column", "remove the text before the #");
    SLIPWAY_TRY(parts, parts_of(line, place));
    if (parts.size() != kParts)
      return wrong(place, "a row has three parts, not " + std::to_string(parts.size()),
                   "write it as FIELD, TYPE, HELP; a help with commas is \"in quotes\"");
    return add_row({.line = number_, .name = parts[0], .type = parts[1], .help = parts[2]});
  }

  Status add_row(CounterRow row) {
    number_ = row.line;
    return take_row(std::move(row), Place{where_, number_});
  }

  Result<Counters> take() && {
    if (rows_ == 0)
      return Error{.code = ErrorCode::invalid,
                   .what = where_ + " has no counter",
                   .where = where_,
                   .next = "write rows as FIELD, TYPE, HELP, such as `DCGM_FI_DEV_GPU_TEMP, gauge, Temperature`"};
    if (counters_.wants_exporter("DCGM_EXP_CLOCK_EVENTS_COUNT") ||
        counters_.wants_exporter("DCGM_EXP_CLOCK_EVENTS_TOTAL"))
      add_hidden_field(kClockReasonsField);
    if (counters_.wants_exporter(kHealthStatus))
      for (const unsigned number : kHealthFields) add_hidden_field(number);
    for (auto* const list : {&counters_.series, &counters_.links, &counters_.processors})
      std::ranges::stable_sort(*list, {}, [](const Counter& each) { return each.field->number; });
    std::ranges::sort(counters_.exporter, {}, &Counter::name);
    std::ranges::sort(counters_.labels, {}, &Counter::name);
    return std::move(counters_);
  }

 private:
  Status take_row(CounterRow row, const Place& place) {
    if (++rows_ > kMostCounters)
      return wrong(place, "there are more than " + std::to_string(kMostCounters) + " rows", "leave some out");
    for (const std::string& part : {row.name, row.type})
      if (trimmed(part).size() != part.size())
        return wrong(
            place,
            "there is a tab beside '" + std::string(trimmed(part)) + "', and a tab counts as part of the word here",
            "write commas and blanks between the parts");
    Counter counter{.name = std::move(row.name), .type = std::move(row.type), .help = std::move(row.help)};
    if (std::ranges::find(kExporterNames, counter.name) != kExporterNames.end())
      return add_exporter(std::move(counter));
    const auto number = field_number(counter.name);
    if (!number)
      return wrong(place, "DCGM has no field '" + counter.name + "'",
                   suggestion(counter.name, field_names(), "dcgm-exporter's default-counters.csv has examples"));
    if (std::ranges::find(kTypes, counter.type) == kTypes.end())
      return wrong(place, "'" + counter.type + "' is not a type of Prometheus",
                   suggestion(counter.type, kTypes, "use one of " + listed(kTypes, "or")));
    if (const auto [before, first] = lines_.emplace(*number, number_); !first) {
      counters_.warnings.push_back(where_ + ":" + std::to_string(number_) + ": " + counter.name + " is in line " +
                                   std::to_string(before->second) + " already, so this row is left out");
      return {};
    }
    counter.field = find_field(*number);
    return counter.field == nullptr ? leave_out(counter) : add(std::move(counter), place);
  }

  /// As in dcgm-exporter, any word is a valid type here. A repeated row is an error: it would repeat its family on the
  /// page.
  Status add_exporter(Counter counter) {
    if (counter.type == "label" || std::ranges::find(kTypes, counter.type) == kTypes.end()) counter.type = "untyped";
    if (counters_.wants_exporter(counter.name))
      counters_.warnings.push_back(where_ + ":" + std::to_string(number_) + ": " + counter.name +
                                   " appears twice, so this row is left out");
    else
      counters_.exporter.push_back(std::move(counter));
    return {};
  }

  void add_hidden_field(unsigned number) {
    if (lines_.emplace(number, 0).second)
      counters_.series.push_back(
          {.name = field_name(number), .type = {}, .help = {}, .field = find_field(number), .hidden = true});
  }

  Status leave_out(const Counter& counter) {
    counters_.left_out.push_back(counter.name);
    const auto number = field_number(counter.name);
    const bool is_asked = !number || field_level(*number) != FieldLevel::processor;  // the engine is not asked for
                                                                                     // these
    if (is_asked) counters_.foreign.push_back(counter);
    return {};
  }

  Status add(Counter counter, const Place& place) {
    if (counter.type == "label" && counter.field->level != FieldLevel::gpu)
      return wrong(place,
                   counter.name + " belongs to an NVLink or a processor, so it cannot be a label of a GPU's metrics",
                   "give it a type, such as gauge");
    if (counter.type == "label") {
      counter.type.clear();
      counters_.labels.push_back(std::move(counter));
      return {};
    }
    if (counter.field->is_text())
      return wrong(place, counter.name + " is a string, which cannot be the value of a metric",
                   "make it a label of the other metrics: `" + counter.name + ", label, …`");
    const FieldLevel level = counter.field->level;
    (level == FieldLevel::link        ? counters_.links
     : level == FieldLevel::processor ? counters_.processors
                                      : counters_.series)
        .push_back(std::move(counter));
    return {};
  }

  const std::string& where_;
  Counters counters_;
  std::map<unsigned, std::size_t> lines_;  ///< of each field
  std::size_t number_ = 0;
  std::size_t rows_ = 0;
};

}  // namespace

bool has_own_intervals(const Counters& counters) {
  const auto has = [](const Counter& counter) { return counter.every.count() != 0; };
  return std::ranges::any_of(counters.series, has) || std::ranges::any_of(counters.labels, has) ||
         std::ranges::any_of(counters.links, has);
}

bool Counters::wants_exporter(std::string_view name) const {
  return std::ranges::find(exporter, name, &Counter::name) != exporter.end();
}

Result<Counters> parse_counters(std::string_view text, const std::string& where) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  Reader reader(where);
  for (const std::string_view line : lines_of<std::string_view>(text)) SLIPWAY_CHECK(reader.take_line(line));
  return std::move(reader).take();
}

Result<Counters> counters_of_rows(const std::vector<CounterRow>& rows, const std::string& where) {
  Reader reader(where);
  for (const CounterRow& row : rows) SLIPWAY_CHECK(reader.add_row(row));
  return std::move(reader).take();
}

}  // namespace slipway::dcgm
