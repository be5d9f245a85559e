// SPDX-License-Identifier: Apache-2.0
#include "driver/choose/version_constraint.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include <slipway/text.hpp>

namespace slipway::driver {
namespace {

constexpr std::size_t kMostFields = 3;
constexpr std::size_t kMostDigits = 4;

std::optional<std::vector<unsigned>> parse_fields(std::string_view text) {
  std::vector<unsigned> fields;
  while (true) {
    const std::string_view field = text.substr(0, text.find('.'));
    unsigned value = 0;
    const auto [end, problem] = std::from_chars(field.data(), field.data() + field.size(), value);
    const bool number = problem == std::errc{} && end == field.data() + field.size() && field.size() <= kMostDigits;
    if (!number || fields.size() == kMostFields) return std::nullopt;
    fields.push_back(value);
    if (field.size() == text.size()) return fields;
    text.remove_prefix(field.size() + 1);
  }
}

/// Returns the distance of two versions, branch first.
std::array<unsigned, 3> distance(const std::vector<unsigned>& from, const nvidia::DriverVersion& to) {
  std::array<unsigned, 3> far{};
  for (std::size_t i = 0; i < far.size(); ++i) {
    const unsigned a = i < from.size() ? from[i] : 0;
    const unsigned b = to.fields()[i];
    far[i] = a < b ? b - a : a - b;
  }
  return far;
}

}  // namespace

bool VersionConstraint::Bound::holds(const nvidia::DriverVersion& version) const {
  const std::vector<unsigned> have(version.fields().begin(),
                                   version.fields().begin() + static_cast<std::ptrdiff_t>(fields.size()));
  switch (is) {
    case Is::equal:
      return have == fields;
    case Is::at_least:
      return have >= fields;
    case Is::above:
      return have > fields;
    case Is::at_most:
      return have <= fields;
    case Is::below:
      return have < fields;
    case Is::other:
      return have != fields;
  }
  return false;
}

std::optional<VersionConstraint::Bound> VersionConstraint::parse_bound(std::string_view text) {
  static constexpr std::pair<std::string_view, Is> kSigns[]{
      {">=", Is::at_least}, {"<=", Is::at_most}, {"!=", Is::other}, {">", Is::above}, {"<", Is::below}};
  Bound bound;
  for (const auto& [sign, is] : kSigns) {
    if (!text.starts_with(sign)) continue;
    bound.is = is;
    text = trimmed(text.substr(sign.size()));
    break;
  }
  auto fields = parse_fields(text);
  if (!fields) return std::nullopt;
  bound.fields = std::move(*fields);
  return bound;
}

std::optional<VersionConstraint> VersionConstraint::parse(std::string_view text) {
  VersionConstraint constraint;
  constraint.text_ = trimmed(text);
  if (constraint.text_.empty() || constraint.text_ == "latest") return constraint;
  for (std::string_view rest = constraint.text_; !rest.empty(); rest = trimmed(rest)) {
    const std::size_t number = rest.find_first_of("0123456789");
    const std::size_t end = std::min(rest.find_first_not_of("0123456789.", number), rest.size());
    auto bound = parse_bound(rest.substr(0, end));
    if (!bound) return std::nullopt;
    constraint.bounds_.push_back(std::move(*bound));
    rest.remove_prefix(end);
  }
  // "535 550" is neither a version nor a range.
  const bool plain = std::ranges::any_of(constraint.bounds_, [](const Bound& bound) { return bound.is == Is::equal; });
  if (plain && constraint.bounds_.size() > 1) return std::nullopt;
  return constraint;
}

bool VersionConstraint::allows(const nvidia::DriverVersion& version) const {
  return std::ranges::all_of(bounds_, [&](const Bound& bound) { return bound.holds(version); });
}

bool VersionConstraint::allows(std::string_view version) const {
  const auto parsed = nvidia::DriverVersion::parse(version);
  return parsed && allows(*parsed);
}

bool VersionConstraint::is_exact() const {
  return text_.empty() ||
         (bounds_.size() == 1 && bounds_.front().is == Is::equal && bounds_.front().fields.size() == kMostFields);
}

std::vector<std::string> VersionConstraint::nearest_first(std::vector<std::string> versions) const {
  std::ranges::sort(versions, [](const auto& a, const auto& b) { return nvidia::version_less(b, a); });
  if (bounds_.empty()) return versions;
  std::ranges::stable_sort(versions, [&](const auto& a, const auto& b) {
    const auto left = nvidia::DriverVersion::parse(a);
    const auto right = nvidia::DriverVersion::parse(b);
    if (!left || !right) return left.has_value() && !right.has_value();
    return distance(bounds_.front().fields, *left) < distance(bounds_.front().fields, *right);
  });
  return versions;
}

}  // namespace slipway::driver
