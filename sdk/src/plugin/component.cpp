// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <stdexcept>

#include <slipway/component.hpp>
#include <slipway/spec.hpp>
#include <slipway/text.hpp>

#include "src/text/read.hpp"

namespace slipway {

namespace {

Error no_custom_actions(const Action& action) {
  return Error{.code = ErrorCode::plugin_defect,
               .what = "plans the custom action '" + action.target() + "' but cannot carry it out",
               .next = "please report this to the plugin's authors: it needs check() and apply()"};
}

}  // namespace

Result<Facts> Component::detect(const Spec&, const Host&) const { return Facts(); }

Result<Findings> Component::verify(const Spec&, const Host&) const { return Findings(); }

Result<Findings> Component::diagnose(const Spec&, const Host&) const { return Findings(); }

Result<bool> Component::check(const Action& action, const Host&) const { return no_custom_actions(action); }

Result<Outcome> Component::preflight(const Action&, const Host&) const { return Outcome::done(); }

Result<Outcome> Component::apply(const Action& action, const Host&) const { return no_custom_actions(action); }

const Json* Spec::find(std::string_view key) const {
  const std::string_view first = key.substr(0, key.find('.'));
  if (knows_keys_ && std::find(declared_.begin(), declared_.end(), first) == declared_.end())
    throw std::logic_error("the spec's key '" + std::string(first) + "' is read, but the manifest does not have it" +
                           did_you_mean(first, declared_));
  return detail::find_by_dotted_name(section_, key);
}

// Lists and objects may be another form of the same key (an artifact source); scalars may not.
const Json* Spec::find_as(std::string_view key, bool (*fits)(const Json&), std::string_view type) const {
  const Json* const value = find(key);
  if (!knows_keys_ || value == nullptr || value->is_null() || value->is_structured() || fits(*value)) return value;
  throw std::logic_error("the spec's key '" + std::string(key) + "' is read as " + std::string(type) +
                         ", but the spec has " + std::string(detail::type_in_words(*value)) + " there");
}

std::string Spec::text(std::string_view key) const {
  return detail::text_or_empty(find_as(
      key, [](const Json& value) { return value.is_string(); }, "a string"));
}

bool Spec::flag(std::string_view key) const {
  return detail::true_or_false(find_as(
      key, [](const Json& value) { return value.is_boolean(); }, "true or false"));
}

std::int64_t Spec::number(std::string_view key) const {
  const auto fits = [](const Json& value) { return value.is_number_integer(); };
  const Json* const value = find_as(key, fits, "an integer");
  return value != nullptr && fits(*value) ? value->get<std::int64_t>() : 0;
}

std::vector<std::string> Spec::texts(std::string_view key) const {
  return detail::texts_or_none(find_as(
      key, [](const Json&) { return false; }, "a list"));
}

std::optional<Spec> Spec::section_of(std::string_view component) const {
  const Json* const sections = detail::member(section_, "sections");
  const Json* const section = sections == nullptr ? nullptr : detail::member(*sections, component);
  return section != nullptr && section->is_object() ? std::optional(Spec(*section)) : std::nullopt;
}

Json Spec::value(std::string_view key) const { return detail::value_or_null(find(key)); }

}  // namespace slipway
