// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "driver/fits/fits.hpp"
#include "driver/module/module_info.hpp"
#include "driver/package/package.hpp"

namespace slipway::driver {
namespace {

constexpr std::size_t kStagedModuleLimit = 256U << 20;
constexpr std::string_view kLayer = "modules/";

bool is_module_file(std::string_view name) { return name.find(".ko") != std::string_view::npos; }

Status check_layer(const std::string& folder, const std::string& release, const TrustedKeys& named, const Host& host) {
  const std::string kernel = folder + "/kernel";
  const auto names = host.list(kernel);
  if (!names) return {};  // verify reports missing modules
  std::vector<ModuleRecord> modules;
  for (const auto& name : *names) {
    if (!is_module_file(name)) continue;
    SLIPWAY_TRY(bytes, host.read(kernel + "/" + name, kStagedModuleLimit));
    SLIPWAY_TRY(elf, decompress(bytes));
    auto record = module_record(name, elf);
    if (!record)
      return Error{record.error().code,
                   fmt::format("{}: {}", name, record.error().what),
                   kernel + "/" + name,
                   "build the package again with `slipway driver build`",
                   {}};
    modules.push_back(std::move(*record));
  }
  const Fit fit = fit_of(modules, host, release, named);
  if (fit.faults.empty()) return {};
  Error error = fit.faults.front();
  error.where = kernel;
  return error;
}

}  // namespace

Status check_staged_modules(const Action& action, const Host& host) {
  const Json staged = action.value("staged");
  TrustedKeys named;
  if (const Json keys = action.value("check"); keys.is_object()) named = keys.value("keys", TrustedKeys{});
  if (!staged.is_object()) return {};
  for (const auto& [as, folder] : staged.items())
    for (const std::string_view layer : {kLayer, kProprietaryLayer})
      if (as.starts_with(layer) && folder.is_string())
        SLIPWAY_CHECK(check_layer(folder.get<std::string>(), as.substr(layer.size()), named, host));
  return {};
}

}  // namespace slipway::driver
