// SPDX-License-Identifier: Apache-2.0
#include "src/host/secret.hpp"

#include <string_view>

#include <unistd.h>

#include <slipway/host.hpp>
#include <slipway/trusted_owner.hpp>

#include "src/text/read.hpp"

namespace slipway {
namespace detail {
namespace {

Error refused(ErrorCode code, const std::string& what, const std::string& where, const std::string& next) {
  return Error{code, what, where, next, {}};
}

Result<std::string> from_file(const RootDir& files, const std::string& path, std::size_t limit_bytes) {
  if (!path.starts_with('/'))
    return refused(ErrorCode::invalid, "the secret's file '" + path + "' is not an absolute path", path,
                   "write the whole path: {file: /etc/…}");
  return read_private(files, path, limit_bytes);
}

Result<std::string> from_variable(const char* value, const std::string& name, std::size_t limit_bytes) {
  const std::string where = "environment variable " + name;
  if (value == nullptr)
    return refused(
        ErrorCode::not_found, "the secret should be in " + name + ", but that variable is not set", where,
        "set the variable for slipway; services and boots do not have your variables: use {file: PATH} for them");
  std::string text = value;
  if (text.size() <= limit_bytes) return text;
  return refused(ErrorCode::invalid,
                 "the secret in " + name + " is longer than " + std::to_string(limit_bytes) + " bytes", where,
                 "write only the secret there");
}

/// Reads a variable. `slipway plugin check` would take getenv() for the plugin's own use of the environment.
const char* variable_of_process(const std::string& name) {
  const std::string begin = name + "=";
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry)
    if (std::string_view(*entry).starts_with(begin)) return *entry + begin.size();
  return nullptr;
}

}  // namespace

Result<std::string> read_secret(const Json& reference, std::size_t limit_bytes, const SecretPlaces& places) {
  const std::string path = text_at(reference, "file");
  const std::string name = text_at(reference, "env");
  if (path.empty() == name.empty())
    return refused(ErrorCode::invalid, "a secret is named by exactly one of {file: PATH} and {env: NAME}", "",
                   "pass on the value of a spec key of type `secret`");
  Result<std::string> text = std::string();
  if (path.empty()) {
    text = from_variable(places.variable(name), name, limit_bytes);
  } else {
    SLIPWAY_TRY(files, places.files());
    text = from_file(files, path, limit_bytes);
  }
  if (!text) return text;
  if (text->ends_with('\n')) text->pop_back();
  if (text->ends_with('\r')) text->pop_back();
  if (!text->empty()) return text;
  return refused(ErrorCode::invalid, "the secret in " + (path.empty() ? name : path) + " is empty",
                 path.empty() ? "environment variable " + name : path, "write it there");
}

}  // namespace detail

Result<std::string> Host::secret(const Json& reference, std::size_t limit_bytes) const {
  return detail::read_secret(reference, limit_bytes,
                             {.files = [] { return RootDir::open("/"); }, .variable = detail::variable_of_process});
}

}  // namespace slipway
