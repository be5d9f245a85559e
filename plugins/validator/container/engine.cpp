// SPDX-License-Identifier: Apache-2.0
#include "validator/container/engine.hpp"

#include <cstdlib>

#include <slipway/root_dir.hpp>
#include <slipway/text.hpp>
#include <slipway/trusted_owner.hpp>

namespace slipway::validator {
namespace {

constexpr std::chrono::seconds kVersionLimit{10};
constexpr const char* kRuntimeConfig = "/etc/nvidia-container-runtime/config.toml";
constexpr const char* kAcceptVariable = "accept-nvidia-visible-devices-envvar-when-unprivileged";
constexpr const char* kCrioSocket = "/run/crio/crio.sock";

Offer ask_crio(const Host& host) {
  if (!host.exists(kCrioSocket)) return {};
  return {{}, "CRI-O starts nothing without an image in its storage"};
}

}  // namespace

Offer choose_engine(const Host& host, const Wanted& wanted) {
  std::vector<Offer> offers;
  const auto ask = [&](const auto& engine) {
    offers.push_back(engine());
    return offers.back().engine.has_value();
  };
  const bool has_device = !wanted.device.empty();
  if ((has_device && ask([&] { return ask_podman(host, wanted); })) || ask([&] { return ask_docker(host, wanted); }) ||
      ask([&] { return ask_containerds(host, wanted); }))
    return offers.back();
  offers.push_back(ask_crio(host));
  std::vector<std::string> reasons;
  if (!has_device) reasons.emplace_back("no CDI spec has a GPU that a container could be given");
  for (const Offer& offer : offers)
    if (!offer.why_not.empty()) reasons.push_back(offer.why_not);
  return {{}, joined(reasons, "; ")};
}

Program find_program(const Host& host, std::span<const char* const> paths) {
  const auto root = RootDir::open(host.root_folder());
  if (!root) return {};
  Program found;
  for (const char* path : paths) {
    if (!host.exists(path)) continue;
    if (check_only_ours(*root, path)) return {path, {}};
    found.why_not = std::string(path) + " is not run, as others than root could exchange it";
  }
  return found;
}

std::string why_no_variable(const Host& host) {
  const std::string config = host.read(kRuntimeConfig).value_or("");
  for (const std::string_view line : lines_of<std::string_view>(config)) {
    const auto words = split<std::string_view>(line, '=');
    if (words.size() == 2 && trimmed(words[0]) == kAcceptVariable && trimmed(words[1]).starts_with("false"))
      return std::string(kRuntimeConfig) + " lets no unprivileged container ask for GPUs by NVIDIA_VISIBLE_DEVICES";
  }
  return {};
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

std::string version_of_program(const Host& host, Words program) {
  program.emplace_back("--version");
  const auto shown = host.run(program, kVersionLimit);
  if (!shown || shown->exit_status != 0) return {};
  const std::string text(trimmed(shown->output));
  return text.substr(text.rfind(' ') + 1);  // npos + 1 is 0
}

}  // namespace slipway::validator
