// SPDX-License-Identifier: Apache-2.0
#include "mig/profile/profile.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include <fmt/format.h>

#include <slipway/text.hpp>

namespace slipway::mig {
namespace {

constexpr std::size_t kLongestName = 200;
constexpr unsigned kMostSlices = 99;
constexpr unsigned kMostMemory = 99999;

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Consumes a number and its unit from the front of the text.
std::optional<unsigned> take_number(std::string_view& text, std::string_view unit, unsigned most) {
  unsigned value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc{} || value > most) return std::nullopt;
  const std::string_view rest = text.substr(static_cast<std::size_t>(end - text.data()));
  if (!rest.starts_with(unit)) return std::nullopt;
  text = rest.substr(unit.size());
  return value;
}

bool is_attribute(std::string_view text) {
  if (text.empty() || !is_letter(text.front()) || text.back() == '.') return false;
  return std::ranges::all_of(text, [](char c) { return is_letter(c) || is_digit(c) || c == '.'; });
}

struct Name {
  std::string_view text;
  std::string where;

  Error wrong(const std::string& why) const {
    // The quoted text may be anything from a file.
    const std::string shown(text.substr(0, kLongestName));
    return Error{.code = ErrorCode::invalid,
                 .what = "'" + shown + "' is not a MIG profile: " + why,
                 .where = where,
                 .next = "write it like 1g.10gb, 1c.3g.40gb, 1g.10gb+me or 1g.24gb-me"};
  }
};

Status take_slices(const Name& name, std::string_view& rest, Profile& profile) {
  const auto compute = take_number(rest, "c.", kMostSlices);
  const auto gpu = take_number(rest, "g.", kMostSlices);
  if (!gpu || *gpu == 0) return name.wrong("it does not begin with a number of slices (`3g.`)");
  const auto memory = take_number(rest, "gb", kMostMemory);
  if (!memory) return name.wrong("after the slices comes the memory in whole GB (`40gb`)");
  if (compute && *compute == 0) return name.wrong("a device has at least one compute slice");
  profile.gpu_slices = *gpu;
  profile.memory_gb = *memory;
  profile.compute_slices = compute.value_or(*gpu);
  if (profile.compute_slices > profile.gpu_slices)
    return name.wrong(fmt::format("a part of a GPU instance with {} slices cannot have {}", *gpu, *compute));
  return {};
}

Status take_attributes(const Name& name, std::string_view rest, Profile& profile) {
  if (rest.empty()) return {};
  profile.sign = rest.front();
  if (profile.sign != '+' && profile.sign != '-')
    return name.wrong("only attributes may follow the memory (`+me`, `-me`)");
  rest.remove_prefix(1);
  if (rest.find_first_of("+-") != std::string_view::npos)
    return name.wrong("it has more than one '+' or '-'; several attributes are separated by commas");
  for (const std::string_view attribute : split<std::string_view>(rest, ',')) {
    if (!is_attribute(attribute)) return name.wrong("'" + std::string(attribute) + "' is not an attribute");
    if (std::ranges::count(profile.attributes, attribute) != 0)
      return name.wrong("it has the attribute '" + std::string(attribute) + "' twice");
    profile.attributes.emplace_back(attribute);
  }
  std::ranges::sort(profile.attributes);
  return {};
}

}  // namespace

std::string Profile::text() const {
  std::string name = is_whole() ? std::string() : fmt::format("{}c.", compute_slices);
  name += fmt::format("{}g.{}gb", gpu_slices, memory_gb);
  if (attributes.empty()) return name;
  return name + sign + joined(attributes, ",");
}

Profile Profile::gpu_instance() const {
  Profile whole = *this;
  whole.compute_slices = gpu_slices;
  return whole;
}

Result<Profile> parse_profile(std::string_view text, const std::string& where) {
  const Name name{text, where};
  if (text.size() > kLongestName) return name.wrong("it is too long");
  Profile profile;
  std::string_view rest = text;
  SLIPWAY_CHECK(take_slices(name, rest, profile));
  SLIPWAY_CHECK(take_attributes(name, rest, profile));
  return profile;
}

}  // namespace slipway::mig
