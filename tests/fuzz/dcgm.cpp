// SPDX-License-Identifier: Apache-2.0
// tests/fuzz/dcgm.cpp - the file of counters that dcgm-exporter reads, and the address to listen on.
#include <cstdint>

#include "dcgm/exposition/exposition.hpp"
#include "dcgm/settings.hpp"
#include "tests/fuzz/fuzz_check.hpp"

namespace {

using namespace slipway;
using namespace slipway::dcgm;

std::string quoted(const std::string& text) {
  std::string part = "\"";
  for (const char letter : text) part += letter == '"' ? std::string("\"\"") : std::string(1, letter);
  return part + "\"";
}

void check_counters(const std::string& text) {
  const auto counters = parse_counters(text, "counters.csv");
  fuzz::demand_presentable(counters);
  if (!counters || counters->series.size() + counters->labels.size() == 0) return;
  std::string written;
  for (const Counter& each : counters->series) {
    fuzz::demand(each.field != nullptr && !each.field->is_text(), "a series has a field with a number");
    written += each.name + "," + each.type + "," + quoted(each.help) + "\n";
  }
  for (const Counter& each : counters->labels) written += each.name + ",label," + quoted(each.help) + "\n";
  const auto again = parse_counters(written, "again.csv");
  fuzz::demand(again.ok(), "what was written is read");
  fuzz::demand(again->series.size() == counters->series.size() && again->labels.size() == counters->labels.size(),
               "and nothing of it is left out");
  Sample sample;
  sample.entities.push_back({.gpu = {.index = 0, .uuid = "GPU-0", .bus_id = "", .model = text},
                             .instance = {},
                             .profile = {},
                             .series = std::vector<Value>(counters->series.size(), std::int64_t{1}),
                             .labels = std::vector<Value>(counters->labels.size(), text)});
  const std::string page = exposition_text(sample, *counters, {.host_name = text});
  fuzz::demand(page.find("\n\n") == std::string::npos, "no line of the page is empty");
}

void check_listen(const std::string& text) {
  Settings settings;
  const Status read = read_listen(text, settings);
  if (!read) fuzz::demand_presentable(read.error());
  fuzz::demand(!read || (settings.port != 0 && !settings.address.empty()), "an address has a port");
  fuzz::demand_presentable(read_interval(text, "here"));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  check_counters(text);
  check_listen(text);
  return 0;
}
