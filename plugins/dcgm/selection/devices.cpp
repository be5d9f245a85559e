// SPDX-License-Identifier: Apache-2.0
#include "dcgm/selection/devices.hpp"

#include <charconv>
#include <optional>

#include <slipway/text.hpp>

namespace slipway::dcgm {
namespace {

constexpr unsigned kLargest = 1023;  // DCGM's limit of entities in a group

std::optional<unsigned> number_in(std::string_view text) {
  unsigned number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc{} || end != text.data() + text.size() || number > kLargest) return std::nullopt;
  return number;
}

bool add_range(std::string_view text, std::set<unsigned>& numbers) {
  const std::size_t dash = text.find('-');
  const auto first = number_in(text.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : number_in(text.substr(dash + 1));
  if (!first || !last || *first > *last) return false;
  for (unsigned number = *first; number <= *last; ++number) numbers.insert(number);
  return true;
}

}  // namespace

bool DeviceSelection::has_gpu(unsigned index) const {
  return kind != Kind::instances && (numbers.empty() || numbers.contains(index));
}

bool DeviceSelection::has_instance(unsigned index, unsigned place) const {
  return kind != Kind::gpus && (numbers.empty() || numbers.contains(index * kInstancesOfAGpu + place));
}

Result<DeviceSelection> parse_devices(const std::string& text, const std::string& where) {
  const Error error{.code = ErrorCode::invalid,
                    .what = "'" + text + "' selects no devices",
                    .where = where,
                    .next =
                        "write f (GPU instances where there are some, else the GPU), g or g:0,2-3 (GPUs), i or "
                        "i:0,8 (GPU instances)"};
  const std::string_view kind = std::string_view(text).substr(0, text.find(':'));
  DeviceSelection selection;
  if (kind == "g")
    selection.kind = DeviceSelection::Kind::gpus;
  else if (kind == "i")
    selection.kind = DeviceSelection::Kind::instances;
  else if (kind != "f")
    return error;
  if (kind.size() == text.size()) return selection;
  if (kind == "f") return error;
  for (const std::string& range : split(text.substr(kind.size() + 1), ','))
    if (!add_range(range, selection.numbers)) return error;
  return selection;
}

Result<LinkSelection> parse_links(const std::string& text, const std::string& where) {
  const auto selection = parse_devices(text, where);
  if (!selection) {
    Error error = selection.error();
    error.what = "'" + text + "' selects no NVLinks";
    error.next = "write f (all), i or i:1,3-4 (NVLinks, some of each), or g or g:0 (NVSwitches, with a DCGM engine)";
    return error;
  }
  return LinkSelection{selection->kind, selection->numbers};
}

Result<DeviceSelection> parse_processors(const std::string& text, const std::string& where) {
  auto selection = parse_devices(text, where);
  if (selection) return selection;
  Error error = selection.error();
  error.what = "'" + text + "' selects no processors";
  error.next = "write f (processors and cores), g or g:0 (processors), i or i:0-7 (cores)";
  return error;
}

}  // namespace slipway::dcgm
