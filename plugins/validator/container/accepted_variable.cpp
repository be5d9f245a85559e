// SPDX-License-Identifier: Apache-2.0
// plugins/validator/container/accepted_variable.cpp - what the settings of slipway-runtime and NVIDIA's runtimes say of
// the variable that asks for GPUs.
#include <slipway/merge/tomlplusplus.hpp>

#include "validator/container/engine.hpp"

namespace slipway::validator {
namespace {

constexpr const char* kRuntimeConfig = "/etc/nvidia-container-runtime/config.toml";
constexpr std::string_view kAcceptVariable = "accept-nvidia-visible-devices-envvar-when-unprivileged";

}  // namespace

std::string why_no_variable(const Host& host) {
  const std::string text = host.read(kRuntimeConfig).value_or("");
  const toml::parse_result config = toml::parse(text);
  // Of a file that is no TOML the runtime speaks itself when it is to start a container.
  if (!config || config.table()[kAcceptVariable].value_or(true)) return {};
  return std::string(kRuntimeConfig) + " lets no unprivileged container ask for GPUs by NVIDIA_VISIBLE_DEVICES";
}

}  // namespace slipway::validator
