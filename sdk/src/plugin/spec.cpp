// SPDX-License-Identifier: Apache-2.0
#include <slipway/spec.hpp>

#include "src/text/json_read.hpp"

namespace slipway {

const Json* Spec::find(std::string_view key) const { return detail::find_dotted(section_, key); }

std::string Spec::text(std::string_view key) const { return detail::text_or_empty(find(key)); }

bool Spec::flag(std::string_view key) const { return detail::true_or_false(find(key)); }

std::int64_t Spec::number(std::string_view key) const {
  const Json* value = find(key);
  return value != nullptr && value->is_number_integer() ? value->get<std::int64_t>() : 0;
}

std::vector<std::string> Spec::texts(std::string_view key) const { return detail::texts_or_none(find(key)); }

Json Spec::value(std::string_view key) const { return detail::value_or_null(find(key)); }

}  // namespace slipway
