// SPDX-License-Identifier: Apache-2.0
#include "driver/settings.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <slipway/text.hpp>

#include "nvidia/loaded_driver.hpp"

namespace slipway::driver {
namespace {

constexpr std::string_view kSection = "spec.components.driver";

Error invalid(std::string what, std::string_view key, std::string next) {
  return {ErrorCode::invalid, std::move(what), fmt::format("{}.{}", kSection, key), std::move(next), {}};
}

Result<std::vector<nvidia::Gpu>> read_gpus(const std::vector<std::string>& texts, const nvidia::GpuTable& table) {
  std::vector<nvidia::Gpu> gpus;
  for (const auto& text : texts) {
    auto gpu = table.find(text);
    if (!gpu) {
      return invalid(
          fmt::format("'{}' is not a GPU that slipway knows", text), "gpus",
          suggestion(text, table.names(), "write a product (H100), a PCI id (10de:2330) or an architecture (hopper)"));
    }
    gpus.push_back(std::move(*gpu));
  }
  return gpus;
}

// Returns the form that the kernel's parameter parser reads: 1 and 0 for true and false.
std::string value_text(const Json& value) {
  if (value.is_boolean()) return value.get<bool>() ? "1" : "0";
  if (value.is_string()) return value.get<std::string>();
  return canonical(value);
}

Status read_modules(const Json& value, Settings& settings) {
  const auto flavour_of = [](const Json& word) {
    return word.is_string() ? nvidia::parse_flavour(word.get<std::string>()) : std::nullopt;
  };
  if (value.is_null() || value == "auto") return {};
  settings.modules = flavour_of(value);
  if (settings.modules) return {};
  if (value.is_array() && value.size() == 2 && flavour_of(value[0]) && flavour_of(value[1]) && value[0] != value[1]) {
    settings.both_modules = true;
    return {};
  }
  return invalid(fmt::format("{} does not name kernel modules", value.dump()), "modules",
                 "write auto, open, proprietary, or [open, proprietary] for both");
}

bool fits_one_word(const std::string& text) {
  return std::ranges::none_of(text,
                              [](char c) { return c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20; });
}

Result<std::map<std::string, std::string>> read_module_parameters(const std::string& module, const Json& values) {
  std::map<std::string, std::string> parameters;
  for (const auto& [name, value] : values.items()) {
    const std::string key = fmt::format("parameters.{}.{}", module, name);
    if (value.is_structured() || value.is_null())
      return invalid(fmt::format("the module parameter {} has no plain value", name), key,
                     "write a number or a string");
    const std::string text = value_text(value);
    const bool plain_name = !name.empty() && name.find_first_of(" \t=") == std::string::npos && fits_one_word(name);
    if (!plain_name || !fits_one_word(text))
      return invalid(fmt::format("the module parameter {} cannot be written to a modprobe.d file", name), key,
                     "leave out quotes, backslashes and line breaks");
    parameters[name] = text;
  }
  return parameters;
}

Status read_parameters(const Json& section, Settings& settings) {
  if (!section.is_object()) return {};
  for (const auto& [module, values] : section.items()) {
    if (std::ranges::find(nvidia::kModules, module) == std::end(nvidia::kModules)) {
      const std::vector<std::string> known(std::begin(nvidia::kModules), std::end(nvidia::kModules));
      return invalid(fmt::format("'{}' is not a module of the NVIDIA driver", module), "parameters." + module,
                     suggestion(module, known, "write " + listed(known, "or")));
    }
    SLIPWAY_TRY(parameters, read_module_parameters(module, values));
    settings.parameters[module] = parameters;
  }
  return {};
}

Status read_signing(const Spec& spec, Settings& settings) {
  settings.sign_key = spec.text("signing.key.file");
  settings.sign_certificate = spec.text("signing.certificate");
  settings.trusted_certificates = spec.texts("signing.trusted");
  if (spec.has("signing.key.env"))
    return invalid("the signing key must be a file", "signing.key",
                   "write the key to a file that only root can read, then signing: {key: {file: PATH}, …}");
  if (settings.sign_key.empty() != settings.sign_certificate.empty())
    return invalid("signing needs both a key and its certificate", "signing",
                   "write signing: {key: {file: PATH}, certificate: PATH}");
  return {};
}

// Adds the modules that other modules need: all need nvidia; nvidia-drm also needs nvidia-modeset.
std::vector<std::string> with_needed(const std::vector<std::string>& wanted) {
  const auto has = [&](std::string_view name) { return std::ranges::find(wanted, name) != wanted.end(); };
  std::vector<std::string> load;
  for (const auto module : nvidia::kModules) {
    const bool needed = (module == "nvidia" && !wanted.empty()) || (module == "nvidia-modeset" && has("nvidia-drm"));
    if (needed || has(module)) load.emplace_back(module);
  }
  return load;
}

Precompiled precompiled_from(const std::string& text) {
  if (text == "require") return Precompiled::require;
  return text == "never" ? Precompiled::never : Precompiled::prefer;
}

}  // namespace

Result<TrustedKeys> named_keys(const Settings& settings) {
  TrustedKeys keys;
  keys.spec_is_complete = !settings.trusted_certificates.empty();
  for (const auto& path : settings.trusted_certificates) {
    auto key = key_of_certificate_file(path);
    if (!key) {
      Error error = std::move(key).error();
      error.details.emplace_back("key", fmt::format("{}.signing.trusted", kSection));
      return error;
    }
    keys.spec.push_back(std::move(*key));
  }
  // The sandbox that compiles and signs reports a certificate that cannot be read.
  if (settings.sign_certificate.empty()) return keys;
  if (auto key = key_of_certificate_file(settings.sign_certificate)) keys.spec.push_back(std::move(*key));
  return keys;
}

Result<Settings> read_settings(const Spec& spec, const nvidia::GpuTable& table) {
  Settings settings;
  const auto version = VersionConstraint::parse(spec.text("version"));
  if (!version)
    return invalid(fmt::format("'{}' names no driver version", spec.text("version")), "version",
                   "write a version (535.261.03), a branch (535), latest, or a range (\">=535.200 <550\")");
  settings.version = *version;
  SLIPWAY_CHECK(read_modules(spec.value("modules"), settings));
  SLIPWAY_TRY(gpus, read_gpus(spec.texts("gpus"), table));
  settings.gpus = std::move(gpus);
  settings.precompiled = precompiled_from(spec.text("precompiled"));
  SLIPWAY_CHECK(read_signing(spec, settings));
  SLIPWAY_CHECK(read_parameters(spec.value("parameters"), settings));
  settings.load = with_needed(spec.texts("load"));
  settings.blacklist_nouveau = spec.flag("blacklist_nouveau");
  settings.libdir = spec.text("libdir");
  settings.keep_existing = spec.text("existing") == "keep";
  SLIPWAY_TRY(kernels, kernel_choice_from(spec.value("kernels")));
  settings.kernels = std::move(kernels);
  settings.holds_kernel = !spec.has("new_kernel.without_modules") || spec.text("new_kernel.without_modules") == "hold";
  SLIPWAY_TRY(drain, nvidia::drain::read_settings(spec.value("drain"), fmt::format("{}.drain", kSection)));
  settings.drain = drain;
  settings.kubelet_socket = spec.text("kubelet_socket");
  settings.note_missing_package = spec.text("kernel_without_package") == "note";
  return settings;
}

}  // namespace slipway::driver
