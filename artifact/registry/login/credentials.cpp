// SPDX-License-Identifier: Apache-2.0
#include "artifact/registry/login/credentials.hpp"

#include <cstdlib>
#include <vector>

#include <unistd.h>

#include <slipway/text.hpp>

#include "artifact/io/file.hpp"
#include "artifact/oci/json_field.hpp"

namespace slipway::artifact {
namespace {

constexpr std::uint64_t kMaxConfigBytes = 1UL << 20;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

std::vector<std::string> config_files() {
  std::vector<std::string> files;
  const auto add = [&files](const std::string& folder, const std::string& file) {
    if (!folder.empty()) files.push_back(folder + file);
  };
  add(environment("REGISTRY_AUTH_FILE"), "");
  add(environment("DOCKER_CONFIG"), "/config.json");
  add(environment("XDG_RUNTIME_DIR"), "/containers/auth.json");
  add("/run/containers/" + std::to_string(::getuid()), "/auth.json");
  add(environment("HOME"), "/.docker/config.json");
  return files;
}

bool is_docker_hub(const Reference& reference) {
  return reference.host == "docker.io" || reference.host == "index.docker.io" ||
         reference.host == "registry-1.docker.io";
}

/// Returns a key of `auths` without scheme and the "/v1/" or "/v2/" that older tools wrote.
std::string plain_key(std::string key) {
  if (const std::size_t scheme = key.find("://"); scheme != std::string::npos) key.erase(0, scheme + 3);
  for (const char* version : {"/v1/", "/v2/", "/v1", "/v2", "/"})
    if (key.ends_with(version)) key.erase(key.size() - std::string_view(version).size());
  return key;
}

/// Returns how well a key fits: the length of the part of the repository that it names; 0 when it is for another one.
std::size_t fit(const std::string& raw_key, const Reference& reference) {
  const std::string key = plain_key(raw_key);
  if (is_docker_hub(reference) && (key == "index.docker.io" || key == "docker.io")) return key.size();
  const std::string whole = reference.authority() + "/" + reference.name + "/";
  return whole.starts_with(key + "/") ? key.size() : 0;
}

Error malformed(const std::string& file, const std::string& why) {
  return Error{
      .code = ErrorCode::invalid, .what = file + ": " + why, .where = file, .next = "log in to the registry again"};
}

Result<std::optional<Credentials>> from_entry(const Json& entry, const std::string& file) {
  Credentials credentials{.user = text_at(entry, "username"),
                          .password = text_at(entry, "password"),
                          .identity_token = text_at(entry, "identitytoken"),
                          .found_in = file};
  if (const std::string encoded = text_at(entry, "auth"); !encoded.empty()) {
    const auto pair = base64_decoded(trimmed(encoded));
    const std::size_t colon = pair ? pair->find(':') : std::string::npos;
    if (colon == std::string::npos) return malformed(file, "an `auth` is not the base64 of USER:PASSWORD");
    credentials.user = pair->substr(0, colon);
    credentials.password = pair->substr(colon + 1);
    while (credentials.password.ends_with('\0')) credentials.password.pop_back();
  }
  if (credentials.user.empty() && credentials.identity_token.empty()) return std::optional<Credentials>();
  return std::optional(std::move(credentials));
}

Result<std::optional<Credentials>> from_config(const Json& config, const Reference& reference,
                                               const std::string& file) {
  for (const auto& [key, helper] : object_at(config, "credHelpers").items())
    if (fit(key, reference) > 0 && helper.is_string()) return ask_helper(helper, key);
  const Json* best = nullptr;
  std::string best_key;
  std::size_t best_fit = 0;
  for (const auto& [key, entry] : object_at(config, "auths").items()) {
    if (const std::size_t quality = fit(key, reference); quality > best_fit) {
      best = &entry;
      best_key = key;
      best_fit = quality;
    }
  }
  if (best != nullptr) {
    SLIPWAY_TRY(found, from_entry(*best, file));
    if (found) return found;
  }
  const std::string store = text_at(config, "credsStore");
  if (store.empty()) return std::optional<Credentials>();
  const std::string server = is_docker_hub(reference) ? "https://index.docker.io/v1/" : reference.authority();
  return ask_helper(store, best_key.empty() ? server : best_key);
}

Result<std::optional<Credentials>> from_text(const std::string& text, const std::string& file,
                                             const Reference& reference) {
  auto config = parse_json(text, file);
  if (!config) return malformed(file, "it is not valid JSON");
  return from_config(*config, reference, file);
}

}  // namespace

Result<std::optional<Credentials>> find_credentials(const Reference& reference, const std::string& auth_file) {
  if (!auth_file.empty()) {
    SLIPWAY_TRY(text, read_regular(auth_file, kMaxConfigBytes));
    return from_text(text, auth_file, reference);
  }
  for (const std::string& file : config_files()) {
    const auto text = read_regular(file, kMaxConfigBytes);
    if (!text && (text.error().code == ErrorCode::not_found || text.error().code == ErrorCode::denied)) continue;
    if (!text) return text.error();
    auto found = from_text(*text, file, reference);
    if (!found || *found) return found;
  }
  return std::optional<Credentials>();
}

}  // namespace slipway::artifact
