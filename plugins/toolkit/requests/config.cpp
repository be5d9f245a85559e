// SPDX-License-Identifier: Apache-2.0
#include "toolkit/requests/config.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include <slipway/regular_file.hpp>
#include <slipway/text.hpp>

#include "toolkit/runtime/toml.hpp"

namespace slipway::shim {
namespace {

constexpr const char* kModes[] = {"auto", "cdi", "jit-cdi", "legacy", "csv"};
constexpr std::size_t kMaxConfig = 1U << 20U;

/// Reads keys of the file's tables; keeps the first error about a wrong type.
class Keys {
 public:
  Keys(const Json& file, std::string path) : file_(file), path_(std::move(path)) {}

  void take(const std::vector<std::string>& key, bool& into) {
    if (const Json* value = find(key); value != nullptr && expect(value->is_boolean(), key, "true or false"))
      into = value->get<bool>();
  }
  void take(const std::vector<std::string>& key, std::string& into) {
    if (const Json* value = find(key); value != nullptr && expect(value->is_string(), key, "a string"))
      into = value->get<std::string>();
  }
  void take(const std::vector<std::string>& key, std::vector<std::string>& into) {
    const Json* value = find(key);
    if (value == nullptr) return;
    const bool texts =
        value->is_array() && std::ranges::all_of(*value, [](const Json& one) { return one.is_string(); });
    if (expect(texts, key, "a list of texts")) into = value->get<std::vector<std::string>>();
  }
  void take(const std::vector<std::string>& key, toolkit::RequestRules& into) {
    const Json* value = find(key);
    if (value == nullptr) return;
    if (auto rules = toolkit::read_request_rules(*value))
      into = std::move(*rules);
    else
      expect(false, key, "a list of rules; " + rules.error().what);
  }
  bool expect(bool holds, const std::vector<std::string>& key, const std::string& what) {
    if (holds || !problem_.empty()) return holds;
    for (const std::string& part : key) problem_ += (problem_.empty() ? "" : ".") + part;
    problem_ += " is not " + what;
    return false;
  }
  Status status() const {
    if (problem_.empty()) return {};
    return Error{ErrorCode::invalid, problem_, path_, "correct the key; docs/slipway-runtime.md has them all", {}};
  }

 private:
  const Json* find(const std::vector<std::string>& key) const {
    const Json* at = &file_;
    for (const std::string& part : key) {
      const auto found = at->is_object() ? at->find(part) : at->end();
      if (found == at->end()) return nullptr;
      at = &*found;
    }
    return at;
  }

  const Json& file_;
  std::string path_;
  std::string problem_;
};

}  // namespace

Level level_of(std::string word) {
  for (char& letter : word) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  if (word == "debug" || word == "trace") return Level::debug;
  if (word == "warning" || word == "warn") return Level::warning;
  if (word == "error" || word == "fatal" || word == "panic") return Level::error;
  return Level::info;
}

std::string config_path() {
  constexpr const char* kName = "/nvidia-container-runtime/config.toml";
  if (const char* path = std::getenv("NVIDIA_CTK_CONFIG_FILE_PATH"); path != nullptr && *path != '\0') return path;
  if (const char* home = std::getenv("XDG_CONFIG_HOME"); home != nullptr && *home != '\0')
    return std::string(home) + kName;
  return std::string("/etc") + kName;
}

Result<Config> config_of(const Json& file, const std::string& path) {
  Config config;
  Keys keys(file, path);
  keys.take({"accept-nvidia-visible-devices-envvar-when-unprivileged"}, config.accept_env_when_unprivileged);
  keys.take({"accept-nvidia-visible-devices-as-volume-mounts"}, config.accept_mounts);
  std::string swarm;
  keys.take({"swarm-resource"}, swarm);
  config.swarm_resources = split_list(swarm);
  const std::string runtime = "nvidia-container-runtime";
  keys.take({runtime, "debug"}, config.debug_log);
  if (config.debug_log == "/dev/null") config.debug_log.clear();
  keys.take({runtime, "mode"}, config.mode);
  keys.expect(std::ranges::count(kModes, config.mode) != 0, {runtime, "mode"},
              "one of auto, cdi, jit-cdi, legacy, csv");
  keys.take({"nvidia-container-cli", "root"}, config.driver_root);
  keys.take({runtime, "modes", "jit-cdi", "nvcdi-feature-flags"}, config.jit_features);
  keys.take({runtime, "modes", "jit-cdi", "nvcdi-disable-hooks"}, config.jit_disabled_hooks);
  keys.take({runtime, "runtimes"}, config.runtimes);
  keys.expect(!config.runtimes.empty(), {runtime, "runtimes"}, "a list of at least one runtime");
  keys.take({runtime, "modes", "cdi", "spec-dirs"}, config.spec_folders);
  keys.take({runtime, "modes", "cdi", "default-kind"}, config.default_kind);
  keys.take({runtime, "modes", "cdi", "annotation-prefixes"}, config.annotation_prefixes);
  keys.take({"disable-require"}, config.disable_require);
  keys.take({"nvidia-container-cli", "no-cgroups"}, config.no_cgroups);
  keys.take({"features", "disable-cuda-compat-lib-hook"}, config.no_cuda_compat);
  std::string level;
  keys.take({runtime, "log-level"}, level);
  config.log_level = level_of(level);
  keys.take({"features", "ignore-imex-channel-requests"}, config.ignore_imex_channels);
  keys.take({"features", "no-additional-gids-for-device-nodes"}, config.no_device_groups);
  if (const auto own = file.find("slipway"); own != file.end())
    keys.expect(own->is_object() && own->size() == own->count("requests"), {"slipway"}, "a table with only `requests`");
  keys.take({"slipway", "requests"}, config.requests);
  SLIPWAY_CHECK(keys.status());
  return config;
}

Result<Config> parse_config(std::string_view text, const std::string& path) {
  SLIPWAY_TRY(file, toolkit::parse_toml(text, path));
  return config_of(file, path);
}

Result<Config> read_config(const std::string& path) {
  const auto text = read_regular(path, kMaxConfig);
  if (!text && text.error().code == ErrorCode::not_found) return Config{};
  if (!text) return text.error();
  return parse_config(*text, path);
}

}  // namespace slipway::shim
