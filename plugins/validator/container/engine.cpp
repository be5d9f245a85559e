// SPDX-License-Identifier: Apache-2.0
#include "validator/container/engine.hpp"

#include <cstdlib>

#include <slipway/root_dir.hpp>
#include <slipway/text.hpp>
#include <slipway/trusted_owner.hpp>

#include "base/merge/toml_depth.hpp"
#include "base/merge/tomlplusplus.hpp"
#include "validator/toolkit_check.hpp"

namespace slipway::validator {
namespace {

constexpr std::chrono::seconds kVersionLimit{10};
constexpr const char* kRuntimeConfig = "/etc/nvidia-container-runtime/config.toml";
constexpr std::string_view kAcceptVariable = "accept-nvidia-visible-devices-envvar-when-unprivileged";

Offer ask_crio(const Host& host) {
  if (!host.exists(kCrio.path)) return {};
  return {{}, "CRI-O starts nothing without an image in its storage"};
}

}  // namespace

Offer choose_engine(const Runner& runner, const Wanted& wanted) {
  const bool has_device = !wanted.device.empty();
  Offer chosen;
  std::vector<std::string> reasons;
  const auto ask = [&](Offer offer) {
    if (!offer.why_not.empty()) reasons.push_back(std::move(offer.why_not));
    chosen.engine = std::move(offer.engine);
    return chosen.engine.has_value();
  };
  const bool found = (has_device && ask(ask_podman(runner, wanted))) || ask(ask_docker(runner, wanted)) ||
                     ask(ask_containerds(runner, wanted)) || ask(ask_crio(runner.host()));
  if (!found && !has_device) reasons.insert(reasons.begin(), "no CDI spec has a GPU that a container could be given");
  chosen.why_not = joined(reasons, "; ");
  return chosen;
}

std::optional<Removals> removals_of(const Host& host, const Place& place) {
  if (place.engine == kPodman) return removals_of_podman(host, place);
  if (place.engine == kDocker) return removals_of_docker(host, place);
  return removals_of_containerd(host, place);
}

Program find_program(const Host& host, std::span<const char* const> paths) {
  const auto root = RootDir::open(host.root_folder());
  if (!root) return {};
  Program found;
  for (const char* path : paths) {
    if (!host.exists(path)) continue;
    if (check_only_ours(*root, path)) return {path, {}};
    found.why_not = std::string(path) + " is not run, since users other than root could replace it";
  }
  return found;
}

std::string why_no_variable(const Host& host) {
  const std::string text = host.read(kRuntimeConfig).value_or("");
  if (merge::find_deep_toml_key(text) != std::string::npos) return {};
  const toml::parse_result config = toml::parse(text);
  // If the file is not TOML, the runtime itself reports that when it starts a container.
  if (!config || config.table()[kAcceptVariable].value_or(true)) return {};
  return std::string(kRuntimeConfig) + " does not let unprivileged containers ask for GPUs by NVIDIA_VISIBLE_DEVICES";
}

EngineVersion parse_engine_version(std::string_view text) {
  text = trimmed(text);
  if (const auto at = text.rfind(' '); at != std::string_view::npos) text.remove_prefix(at + 1);
  if (text.starts_with('v')) text.remove_prefix(1);
  const auto numbers = split(text, '.');
  const auto number = [&](std::size_t at) {
    const bool is_number =
        at < numbers.size() && !numbers[at].empty() && numbers[at][0] >= '0' && numbers[at][0] <= '9';
    return is_number ? static_cast<unsigned>(std::strtoul(numbers[at].c_str(), nullptr, 10)) : 0U;
  };
  return {number(0), number(1)};
}

ProgramVersion version_of_program(const Runner& runner, Words program) {
  program.emplace_back("--version");
  const std::string none = "`" + joined(program, " ") + "` says no version";
  const auto shown = runner.run(program, kVersionLimit);
  if (!shown || shown->exit_status != 0) return {{}, {}, none};
  const std::string text(trimmed(shown->output));
  ProgramVersion version{text.substr(text.rfind(' ') + 1), parse_engine_version(text), {}};  // npos + 1 is 0
  if (version.numbers == EngineVersion()) version.why_not = none;
  return version;
}

}  // namespace slipway::validator
