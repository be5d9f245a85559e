// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "driver/fits/fits.hpp"
#include "driver/package/annotations.hpp"
#include "driver/plan/plan.hpp"

namespace slipway::driver {
namespace {

/// Returns the JSON in an annotation of the modules layer; null if not found.
Json note_of(const Package& package, const char* name) {
  const Json notes = package.modules.value("annotations", Json::object());
  if (!notes.is_object() || !notes.contains(name) || !notes[name].is_string()) return nullptr;
  Json value = parse_foreign(notes[name].get_ref<const std::string&>());
  return value.is_object() ? value : Json();
}

std::optional<KeyId> recorded_signer(const Package& package) {
  const Json value = note_of(package, annotation::kSignerKey);
  const auto text = [&](const char* member) {
    return value.contains(member) && value[member].is_string() ? value[member].get<std::string>() : std::string{};
  };
  if (!value.is_object()) return std::nullopt;
  KeyId signer{text("name"), text("issuer"), text("serial"), text("key")};
  if (signer.name.empty()) signer.name = package.signer;
  return signer;
}

}  // namespace

Status check_package_fits(const HostFacts& facts, const KernelFacts& kernel, const Package& package,
                          std::vector<std::string>& notes) {
  const KernelDemands demands{kernel.release, kernel.symbols, kernel.enforces, kernel.signer, facts.keys};
  const Json symbols = note_of(package, annotation::kSymbols);
  std::vector<ModuleRecord> modules;
  if (symbols.is_object())
    for (const auto& [file, versions] : symbols.items())
      modules.push_back({file, symbol_versions_from_json(versions), {}, false});
  Fit fit;
  if (symbols.is_object() || (kernel.symbols.known && !kernel.symbols.modversions))
    check_symbols(modules, demands, {}, fit);
  else if (kernel.symbols.known)
    fit.not_checked.push_back(
        fmt::format("not checked: symbol checksums for kernel {}, which this package does not record ({}); apply "
                    "compares those in the modules before it switches to them",
                    kernel.release, annotation::kSymbols));
  // A package without signed modules is refused elsewhere, with the ways to sign them.
  if (!package.signer.empty())
    check_signatures({{"the package's module", {}, recorded_signer(package), true}}, demands, fit);
  notes.insert(notes.end(), fit.not_checked.begin(), fit.not_checked.end());
  if (fit.faults.empty()) return {};
  Error error = fit.faults.front();
  error.where = package.tag.empty() ? package.digest : package.tag;
  return error;
}

}  // namespace slipway::driver
