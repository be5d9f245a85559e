// SPDX-License-Identifier: Apache-2.0
#include "driver/live/driver_modules.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <string_view>

#include <fmt/format.h>
#include <unistd.h>

#include <slipway/json.hpp>
#include <slipway/regular_file.hpp>
#include <slipway/root_dir.hpp>
#include <slipway/text.hpp>

#include "base/write/new_file.hpp"
#include "nvidia/process/process.hpp"

namespace slipway::driver {
namespace {

/// Each before those that it needs. nvidia_fs finds the driver's functions when it runs, so that the kernel does not
/// know that it needs nvidia.
constexpr std::array<std::string_view, 8> kUnloadOrder{"nvidia_fs",      "gdrdrv",     "nvidia_vgpu_vfio",
                                                       "nvidia_peermem", "nvidia_drm", "nvidia_modeset",
                                                       "nvidia_uvm",     "nvidia"};
constexpr const char* kRecord = "/run/slipway/driver-modules.json";
constexpr std::size_t kLongestRecord = 65536;
constexpr std::chrono::seconds kUnloadLimit{60};
constexpr std::chrono::seconds kLoadLimit{300};

/// @param argv  rmmod or modprobe, and the module
Status run_kmod(const Host& host, const std::vector<std::string>& argv, std::chrono::seconds limit) {
  SLIPWAY_TRY(ran, host.run(argv, limit));
  if (ran.exit_status == 0) return {};
  const std::string says = nvidia::cleaned(trimmed(ran.errors), 256);
  return Error{.code = ErrorCode::busy,
               .what = fmt::format("{}: {}", argv.back(), says.empty() ? argv.front() + " failed" : says),
               .where = argv.back(),
               .next = "look at the kernel's log (`dmesg`)"};
}

Status unload(const Host& host, const std::string& module) { return run_kmod(host, {"rmmod", module}, kUnloadLimit); }

std::string version_of(const Host& host, const std::string& module) {
  return host.attribute("/sys/module/" + module + "/version");
}

Status write_record(const Host& host, const UnloadedModules& unloaded) {
  SLIPWAY_TRY(root, RootDir::open(host.root_folder()));
  return base::replace_file(root, kRecord,
                            canonical(Json{{"version", unloaded.version}, {"modules", unloaded.modules}}));
}

}  // namespace

std::vector<std::string> loaded_modules(const Host& host) {
  std::vector<std::string> loaded;
  for (const auto name : kUnloadOrder)
    if (host.module_loaded(name)) loaded.emplace_back(name);
  return loaded;
}

std::vector<std::string> other_modules_on_top(const Host& host) {
  std::vector<std::string> others;
  const auto loaded = loaded_modules(host);
  for (const auto& name : loaded) {
    const auto holders = host.list("/sys/module/" + name + "/holders").value_or(std::vector<std::string>{});
    for (const auto& holder : holders)
      if (std::ranges::count(kUnloadOrder, holder) == 0 && std::ranges::count(others, holder) == 0)
        others.push_back(holder);
  }
  return others;
}

Status unload_modules(const Host& host, const std::string& version) {
  UnloadedModules unloaded{version, loaded_modules(host)};
  // After a crash the record has modules that are unloaded already.
  if (const auto before = read_unloaded_modules(host); before && before->version == version)
    for (const auto name : kUnloadOrder)
      if (std::ranges::count(before->modules, name) != 0 && std::ranges::count(unloaded.modules, name) == 0)
        unloaded.modules.emplace_back(name);
  std::ranges::sort(unloaded.modules, {},
                    [](const std::string& name) { return std::ranges::find(kUnloadOrder, name); });
  SLIPWAY_CHECK(write_record(host, unloaded));
  const auto loaded = loaded_modules(host);
  for (const auto& module : loaded) {
    Status done = unload(host, module);
    if (done) continue;
    Error error = std::move(done).error();
    const auto failures = load_again(host, unloaded);
    for (const auto& failure : failures) error.details.emplace_back("not loaded again", failure);
    if (failures.empty()) forget_unloaded_modules(host);
    return error;
  }
  return {};
}

std::optional<UnloadedModules> read_unloaded_modules(const Host& host) {
  const auto root = RootDir::open(host.root_folder());
  if (!root) return std::nullopt;
  const Json record = parse_foreign(read_regular(*root, kRecord, kLongestRecord).value_or(""));
  if (!record.is_object()) return std::nullopt;
  UnloadedModules unloaded;
  if (const Json version = record.value("version", Json()); version.is_string()) unloaded.version = version;
  const Json names = record.value("modules", Json::array());
  for (const auto name : kUnloadOrder)
    if (std::ranges::count(names, Json(name)) != 0) unloaded.modules.emplace_back(name);
  return unloaded;
}

void forget_unloaded_modules(const Host& host) {
  const auto root = RootDir::open(host.root_folder());
  const auto place = root ? root->parent_of(kRecord) : root.error();
  if (place) (void)::unlinkat(place->first.get(), place->second.c_str(), 0);
}

std::vector<std::string> load_again(const Host& host, const UnloadedModules& unloaded) {
  std::vector<std::string> failures;
  for (auto module = unloaded.modules.rbegin(); module != unloaded.modules.rend(); ++module) {
    if (host.module_loaded(*module)) continue;
    if (const Status loaded = run_kmod(host, {"modprobe", *module}, kLoadLimit); !loaded)
      failures.push_back(loaded.error().what);
  }
  return failures;
}

std::vector<std::string> bring_back(const Host& host, const UnloadedModules& unloaded) {
  std::vector<std::string> failures;
  if (host.module_loaded("nvidia") && version_of(host, "nvidia") != unloaded.version) {
    const auto loaded = loaded_modules(host);
    for (const auto& module : loaded)
      if (const Status done = unload(host, module); !done) failures.push_back(done.error().what);
  }
  for (auto& failure : load_again(host, unloaded)) failures.push_back(std::move(failure));
  if (const auto is = version_of(host, "nvidia"); failures.empty() && is != unloaded.version)
    failures.push_back(fmt::format("nvidia {} is loaded, not {}", is, unloaded.version));
  return failures;
}

}  // namespace slipway::driver
