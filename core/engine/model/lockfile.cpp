// SPDX-License-Identifier: Apache-2.0
#include "core/engine/model/lockfile.hpp"

#include <slipway/regular_file.hpp>

#include "base/write/new_file.hpp"
#include "core/spec/document.hpp"

namespace slipway::core {
Result<Lock> Lock::from_json(const Json& value, const std::string& origin) {
  if (!value.is_object() || value.value("kind", "") != "Lock" || value.value("apiVersion", "") != kApiVersion)
    return Error{
        ErrorCode::invalid,
        "this is not a lock of slipway.dev/v1",
        origin,
        "name the file that `slipway apply --lock FILE` wrote, or remove this file, so that a new lock is created",
        {}};
  Lock lock;
  lock.origin_ = origin;
  lock.components_ = value.value("components", Json::object());
  return lock;
}

Result<Lock> Lock::read(const std::string& file) {
  SLIPWAY_TRY(text, read_regular(file, kMostBytes));
  return from_json(parse_foreign(text), file);
}

Status Lock::write(const std::string& file) const {
  const std::string text = pretty(to_json());
  if (const auto old = read_regular(file, kMostBytes); old && *old == text) return {};
  return base::put_file(file, text);
}

Json Lock::entries(const std::string& component, const std::string& key, const Json& source) const {
  const Json pinned = components_.value(component, Json::object()).value(key, Json::object());
  if (pinned.value("source", Json{}) != source) return Json::array();
  return pinned.value("entries", Json::array());
}

std::optional<Json> Lock::other_source(const std::string& component, const std::string& key, const Json& source) const {
  Json named = components_.value(component, Json::object()).value(key, Json::object()).value("source", Json{});
  if (named.is_null() || named == source) return std::nullopt;
  return named;
}

void Lock::pin(const std::string& component, const std::string& key, const Json& source, const Json& entries) {
  components_[component][key] = {{"source", source}, {"entries", entries}};
}

Json Lock::to_json() const { return {{"apiVersion", kApiVersion}, {"kind", "Lock"}, {"components", components_}}; }

}  // namespace slipway::core
