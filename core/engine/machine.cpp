// SPDX-License-Identifier: Apache-2.0
#include "core/engine/machine.hpp"

#include <charconv>
#include <cstdlib>
#include <filesystem>

namespace slipway::core {
namespace {

Result<std::string> absolute_folder(const std::string& path) {
  std::error_code code;
  const std::filesystem::path absolute = std::filesystem::canonical(path, code);
  if (code)
    return Error{ErrorCode::not_found,
                 "the root " + path + " cannot be opened: " + code.message(),
                 path,
                 "make the folder first (an empty one will do), or name another with --root",
                 {}};
  return absolute.string();
}

}  // namespace

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string{} : std::string(value);
}

Result<std::optional<std::int64_t>> source_date_epoch() {
  const std::string text = environment("SOURCE_DATE_EPOCH");
  if (text.empty()) return std::optional<std::int64_t>{};
  std::int64_t seconds = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (problem != std::errc{} || end != text.data() + text.size() || seconds < 0)
    return Error{ErrorCode::usage,
                 "SOURCE_DATE_EPOCH is '" + text + "', not a number of seconds since 1970",
                 "environment",
                 "unset the variable, or set it to a whole number",
                 {}};
  return std::optional<std::int64_t>{seconds};
}

Status Machine::open(Ui& ui) {
  SLIPWAY_TRY(folder, absolute_folder(options_.root));
  host_config_.root = folder;
  host_config_.live = options_.live.value_or(folder == "/" && options_.sim.empty());
  host_config_.booting = options_.booting;
  host_config_.kernel_change = options_.kernel_change;
  name_kernels();
  if (host_config_.live) host_config_.kernel_view = "/";
  if (!options_.sim.empty()) {
    SLIPWAY_TRY(simulated, SimulatedMachine::enter(options_.sim, folder, ui));
    simulated_ = std::move(simulated);
    host_config_.kernel_view = simulated_->kernel_view();
  }
  SLIPWAY_TRY(epoch, source_date_epoch());
  SLIPWAY_TRY(root, RootDir::open(folder));
  root_ = std::make_unique<RootFs>(std::move(root), epoch);
  state_ = std::make_unique<StateDir>(*root_);
  set_hardware(options_.hardware);
  return open_host_of_root();
}

Status Machine::open_host_of_root() {
  SLIPWAY_TRY(host, open_host(host_config_));
  host_ = std::move(host);
  // An empty root of a simulated machine gets that machine's kernel.
  if (host_config_.kernel.empty() && simulated_ && host_->installed_kernels().empty()) {
    host_config_.kernel = simulated_->kernel_release();
    SLIPWAY_TRY(again, open_host(host_config_));
    host_ = std::move(again);
  }
  return {};
}

void Machine::name_kernels() {
  const std::vector<std::string>& asked = options_.kernels;
  host_config_.kernel = asked.empty() ? "" : asked.front();
  host_config_.further_kernels.assign(asked.empty() ? asked.end() : asked.begin() + 1, asked.end());
}

Status Machine::set_kernels(const std::vector<std::string>& releases) {
  options_.kernels = releases;
  name_kernels();
  return open_host_of_root();
}

Status Machine::set_kernel_change(const KernelChange& change) {
  options_.kernel_change = change;
  host_config_.kernel_change = change;
  return open_host_of_root();
}

void Machine::set_hardware(const std::string& word) {
  assumes_hardware_ = word == "assume";
  const bool visible = host_config_.live || !host_config_.kernel_view.empty();
  host_config_.hardware = !word.empty() ? word : visible ? "detect" : "assume";
}

}  // namespace slipway::core
