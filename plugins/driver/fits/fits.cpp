// SPDX-License-Identifier: Apache-2.0
#include "driver/fits/fits.hpp"

#include <algorithm>
#include <memory>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <slipway/text.hpp>

#include "driver/detect/kernel_config.hpp"

namespace slipway::driver {
namespace {

constexpr std::size_t kShownSymbols = 6;
constexpr std::size_t kDepmodFileLimit = 64U << 20;

struct Difference {
  std::string symbol;
  std::string file;
  std::uint32_t module = 0;
  std::uint32_t kernel = 0;
  std::string source;
};

/// module_layout first: the kernel compares it first, and names it.
bool comes_first(const Difference& one, const Difference& other) {
  const bool layout = one.symbol == kModuleLayout;
  if (layout != (other.symbol == kModuleLayout)) return layout;
  return one.symbol < other.symbol;
}

Error disagreement(std::vector<Difference> differences, std::size_t compared, const KernelDemands& kernel) {
  std::ranges::sort(differences, comes_first);
  const Difference& first = differences.front();
  std::set<std::string> symbols;
  for (const auto& each : differences) symbols.insert(each.symbol);
  const std::vector<std::string> all(symbols.begin(), symbols.end());
  const std::size_t shown = std::min(all.size(), kShownSymbols);
  const std::string others = all.size() > shown ? fmt::format(", and {} more", all.size() - shown) : "";
  return {ErrorCode::invalid,
          fmt::format("{} was compiled for another build of kernel {}: it has checksum {} for the symbol {}, and this "
                      "kernel has {}",
                      first.file, kernel.release, base::checksum_text(first.module), first.symbol,
                      base::checksum_text(first.kernel)),
          {},
          fmt::format("use a package that was made with the headers of this build of the kernel: `slipway driver build "
                      "--kernel {}` makes one; a kernel may be built again under the same release",
                      kernel.release),
          {{"kernel", fmt::format("{} has {} for {}", first.source, base::checksum_text(first.kernel), first.symbol)},
           {"symbols",
            fmt::format("{} of {} differ: {}{}", all.size(), compared,
                        fmt::join(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(shown), ", "), others)}}};
}

Error without_versions(const ModuleRecord& module, const KernelDemands& kernel) {
  return {ErrorCode::invalid,
          fmt::format("{} records no symbol checksums, and kernel {} demands them (CONFIG_MODVERSIONS)", module.file,
                      kernel.release),
          {},
          fmt::format("build the package again with the headers of this kernel: `slipway driver build --kernel {}`",
                      kernel.release),
          {}};
}

Error no_trust(const std::string& what, const KernelDemands& kernel, const std::string& next) {
  Error error{ErrorCode::denied, what, {}, next, {}};
  if (kernel.signer) error.details.emplace_back("kernel", "its own modules are signed by " + kernel.signer->text());
  return error;
}

/// Returns the symbols that modules outside of `kernel/` export, from depmod's files.
std::set<std::string, std::less<>> symbols_of_others(const Host& host, const std::string& release) {
  std::set<std::string, std::less<>> symbols;
  const std::string folder = fmt::format("/lib/modules/{}/", release);
  const auto dep = host.read(folder + "modules.dep", kDepmodFileLimit);
  const auto list = host.read(folder + "modules.symbols", kDepmodFileLimit);
  if (!dep || !list) return symbols;
  std::set<std::string> others;  // "ib_core"
  for (const std::string& line : lines_of(*dep)) {
    if (line.starts_with("kernel/")) continue;
    const std::string path = line.substr(0, line.find(':'));
    std::string name = path.substr(path.rfind('/') + 1);
    name.resize(std::min(name.find('.'), name.size()));
    std::ranges::replace(name, '-', '_');
    others.insert(name);
  }
  constexpr std::string_view kAlias = "alias symbol:";
  for (const std::string& line : lines_of(*list)) {
    if (!line.starts_with(kAlias)) continue;
    const std::size_t space = line.find(' ', kAlias.size());
    if (space == std::string::npos || !others.contains(line.substr(space + 1))) continue;
    symbols.insert(line.substr(kAlias.size(), space - kAlias.size()));
  }
  return symbols;
}

}  // namespace

Result<ModuleRecord> module_record(std::string file, std::string_view elf) {
  ModuleRecord record;
  record.file = std::move(file);
  SLIPWAY_TRY(versions, base::symbol_versions_of(elf));
  SLIPWAY_TRY(signer, signer_of_module(elf));
  record.versions = std::move(versions);
  record.signer = std::move(signer);
  record.is_signed = record.signer.has_value();
  return record;
}

void check_symbols(const std::vector<ModuleRecord>& modules, const KernelDemands& kernel,
                   const std::function<bool(std::string_view)>& foreign, Fit& fit) {
  if (!kernel.symbols.left_out.empty()) fit.not_checked.push_back("not used: " + kernel.symbols.left_out);
  if (!kernel.symbols.known) {
    fit.not_checked.push_back(fmt::format(
        "not checked: symbol checksums, because no module of kernel {} itself can be read", kernel.release));
    return;
  }
  if (!kernel.symbols.modversions) {
    fit.not_checked.push_back(fmt::format(
        "not checked: symbol checksums, which kernel {} does not have (it is built without CONFIG_MODVERSIONS)",
        kernel.release));
    return;
  }
  std::vector<Difference> differences;
  std::set<std::string> skipped;
  for (const auto& module : modules) {
    if (module.versions.empty()) fit.faults.push_back(without_versions(module, kernel));
    for (const auto& [symbol, checksum] : module.versions) {
      const SymbolSource* const source = kernel.symbols.find(symbol);
      if (source == nullptr) continue;
      const std::uint32_t expected = source->versions.find(symbol)->second;
      ++fit.compared;
      if (expected == checksum) continue;
      if (foreign && foreign(symbol))
        skipped.insert(symbol);
      else
        differences.push_back({symbol, module.file, checksum, expected, source->file});
    }
  }
  if (!skipped.empty())
    fit.not_checked.push_back(fmt::format("not checked: {}, of modules that are not part of kernel {}",
                                          fmt::join(skipped, ", "), kernel.release));
  if (fit.compared == 0 && fit.faults.empty())
    fit.not_checked.push_back(
        fmt::format("not checked: symbol checksums, since no module of kernel {} records those of the same symbols",
                    kernel.release));
  if (!differences.empty()) fit.faults.push_back(disagreement(std::move(differences), fit.compared, kernel));
}

void check_signatures(const std::vector<ModuleRecord>& modules, const KernelDemands& kernel, Fit& fit) {
  if (kernel.enforces.empty()) return;
  fit.signatures = true;
  std::set<std::string> unknown;
  for (const auto& module : modules) {
    const std::string rule =
        fmt::format("kernel {} loads only modules with a trusted signature ({})", kernel.release, kernel.enforces);
    const Trust trust = module.signer ? trust_of(*module.signer, kernel.signer, kernel.keys)
                                      : (module.is_signed ? Trust::unknown : Trust::no);
    if (trust == Trust::yes) continue;
    fit.signatures = false;
    if (trust == Trust::unknown) {
      unknown.insert(module.signer ? module.signer->text() : "a key that the package does not record");
      continue;
    }
    fit.faults.push_back(
        module.signer
            ? no_trust(fmt::format("{}, and {} is signed by {}, which it does not trust", rule, module.file,
                                   module.signer->text()),
                       kernel,
                       "use the package that was made for this build of the kernel, or one signed by a key that the "
                       "machine trusts (`slipway driver build --sign-key KEY --sign-cert CERT`; `mokutil --import` "
                       "makes a machine trust a certificate)")
            : no_trust(fmt::format("{}, and {} is not signed", rule, module.file), kernel,
                       "use a package with signed modules: `slipway driver build --sign-key KEY --sign-cert CERT`"));
    return;
  }
  for (const auto& signer : unknown)
    fit.not_checked.push_back(fmt::format(
        "not checked: whether kernel {}, which loads only modules with a trusted signature ({}), trusts {}; "
        "name its certificate in signing.trusted",
        kernel.release, kernel.enforces, signer));
}

std::string Fit::text(const std::string& release) const {
  std::vector<std::string> parts;
  if (compared > 0) parts.push_back(fmt::format("{} symbol checksums agree with kernel {}", compared, release));
  if (signatures) parts.emplace_back("the kernel trusts the signatures");
  parts.insert(parts.end(), not_checked.begin(), not_checked.end());
  return fmt::format("{}", fmt::join(parts, "; "));
}

KernelDemands read_demands(const Host& host, const std::string& release, const std::vector<ModuleRecord>& modules,
                           const TrustedKeys& named) {
  KernelDemands demands;
  demands.release = release;
  const auto own = read_own_module(host, first_own_module(host, release));
  const auto imports = [&](std::string_view symbol) {
    return std::ranges::any_of(modules, [&](const ModuleRecord& each) { return each.versions.contains(symbol); });
  };
  demands.symbols = read_kernel_symbols(host, release, own, imports, true);
  demands.enforces = running_kernel_enforces(host);
  if (demands.enforces.empty()) demands.enforces = kernel_enforces(host, release);
  if (own) demands.signer = own->signer;
  if (demands.enforces.empty()) return demands;
  demands.keys = read_trusted_keys(host, named);
  return demands;
}

std::function<bool(std::string_view)> foreign_symbols(const Host& host, const std::string& release) {
  // Read only when a checksum differs.
  auto symbols = std::make_shared<std::optional<std::set<std::string, std::less<>>>>();
  return [symbols, &host, release](std::string_view symbol) {
    if (!*symbols) *symbols = symbols_of_others(host, release);
    return (*symbols)->contains(symbol);
  };
}

Fit fit_of(const std::vector<ModuleRecord>& modules, const Host& host, const std::string& release,
           const TrustedKeys& named) {
  const KernelDemands kernel = read_demands(host, release, modules, named);
  Fit fit;
  check_symbols(modules, kernel, foreign_symbols(host, release), fit);
  check_signatures(modules, kernel, fit);
  const auto by_kernel = [&](const ModuleRecord& each) {
    return each.signer && trust_of(*each.signer, kernel.signer, {}) == Trust::yes;
  };
  if (kernel.enforces.empty() && !host.has_kernel_view() && !std::ranges::all_of(modules, by_kernel))
    fit.not_checked.emplace_back(
        "not checked: signatures, since only the machine shows whether it boots with Secure Boot");
  return fit;
}

}  // namespace slipway::driver
