// SPDX-License-Identifier: Apache-2.0
#include <slipway/facts.hpp>

#include "src/text/read.hpp"

namespace slipway {

Facts Facts::not_applicable(std::string why) {
  Facts facts;
  facts.applicable_ = false;
  facts.why_not_ = std::move(why);
  return facts;
}

void Facts::set(std::string_view name, Json value) {
  volatile_.erase(std::string(name));
  values_[std::string(name)] = std::move(value);
}

void Facts::set_volatile(std::string_view name, Json value) {
  set(name, std::move(value));
  volatile_.emplace(name);
}

std::string Facts::text(std::string_view name) const {
  return detail::text_or_empty(detail::find_by_dotted_name(values_, name));
}

bool Facts::flag(std::string_view name) const {
  return detail::true_or_false(detail::find_by_dotted_name(values_, name));
}

std::vector<std::string> Facts::texts(std::string_view name) const {
  return detail::texts_or_none(detail::find_by_dotted_name(values_, name));
}

Json Facts::value(std::string_view name) const {
  return detail::value_or_null(detail::find_by_dotted_name(values_, name));
}

Json to_json(const Facts& facts) {
  Json value{{"applicable", facts.applicable_}, {"values", facts.values_}};
  if (!facts.why_not_.empty()) value["why"] = facts.why_not_;
  if (!facts.volatile_.empty()) value["volatile"] = facts.volatile_;
  return value;
}

Result<Facts> facts_from_json(const Json& value) {
  const Json* applicable = detail::member(value, "applicable");
  const Json* values = detail::member(value, "values");
  if (applicable == nullptr || !applicable->is_boolean() || values == nullptr || !values->is_object())
    return Error{.code = ErrorCode::plugin_defect,
                 .what = "facts need 'applicable' (true or false) and 'values' (an object), got " +
                         canonical(value).substr(0, 200)};
  Facts facts;
  facts.applicable_ = applicable->get<bool>();
  facts.why_not_ = detail::text_at(value, "why");
  facts.values_ = *values;
  for (std::string& name : detail::texts_or_none(detail::member(value, "volatile")))
    facts.volatile_.insert(std::move(name));
  return facts;
}

}  // namespace slipway
