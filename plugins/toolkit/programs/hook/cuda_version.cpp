// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <system_error>

#include <slipway/json.hpp>

#include "elf_note.hpp"

namespace slipway::hook {
namespace {

bool lists_major(const Json& drivers, unsigned major) {
  if (!drivers.is_array()) return false;
  for (const Json& item : drivers) {
    if (item.is_number_unsigned() && item.get<std::uint64_t>() == major) return true;
    if (item.is_string() && item.get<std::string>() == std::to_string(major)) return true;
  }
  return false;
}

}  // namespace

Version parse_version(std::string_view text) {
  std::vector<unsigned> numbers;
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  while (true) {
    unsigned number = 0;
    const auto [next, problem] = std::from_chars(at, end, number);
    if (problem != std::errc()) return {};
    numbers.push_back(number);
    if (next == end) return numbers;
    if (*next != '.') return {};
    at = next + 1;
  }
}

bool is_better_cuda(const HostVersions& host, const Version& compat, const std::string& note) {
  const Json says = parse_foreign(note);
  if (!says.is_object()) return !host.cuda && host.driver && compat && host.driver->front() < compat->front();
  if (host.driver)
    return compat && lists_major(says.value("Driver", Json()), host.driver->front()) && *compat > *host.driver;
  const Json told = says.value("CUDA Version", Json());
  const Version cuda = told.is_string() ? parse_version(told.get<std::string>()) : Version{};
  return cuda && host.cuda && *cuda > *host.cuda;
}

}  // namespace slipway::hook
