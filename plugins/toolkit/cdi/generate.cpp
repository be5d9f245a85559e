// SPDX-License-Identifier: Apache-2.0
#include "toolkit/cdi/generate.hpp"

#include <algorithm>

#include "nvidia/cdi/text.hpp"
#include "nvidia/loaded_driver.hpp"
#include "toolkit/cdi/driver_files.hpp"
#include "toolkit/cdi/nodes.hpp"
#include "toolkit/cdi/transform.hpp"

namespace slipway::toolkit {
namespace {

using nvidia::cdi::Edits;
using nvidia::cdi::Spec;

struct ModeName {
  Mode mode;
  std::string_view word;
  std::string_view kind;
};
constexpr ModeName kModes[] = {{Mode::nvml, "nvml", "nvidia.com/gpu"},
                               {Mode::management, "management", "management.nvidia.com/gpu"},
                               {Mode::gds, "gds", "nvidia.com/gds"},
                               {Mode::mofed, "mofed", "nvidia.com/mofed"},
                               {Mode::gdrcopy, "gdrcopy", "nvidia.com/gdrcopy"},
                               {Mode::nvswitch, "nvswitch", "nvidia.com/nvswitch"},
                               {Mode::imex, "imex", "nvidia.com/imex-channel"}};

const ModeName& entry_of(Mode mode) { return *std::ranges::find(kModes, mode, &ModeName::mode); }

bool mounts_driver(Mode mode) { return mode == Mode::nvml || mode == Mode::management; }

/// The driver's files for every container.
class CommonEdits {
 public:
  CommonEdits(const GenerateOptions& options, const Roots& roots)
      : options_(options), roots_(roots), search_(roots.driver, options.library_folders) {
    if (const auto loaded = nvidia::read_loaded_driver(roots.kernel)) loaded_ = loaded->version;
  }

  /// Looks for the driver's files as far as possible without NVML, which is usually all of them.
  void look_ahead() {
    if (!loaded_.empty()) made_.emplace(make(loaded_));
  }

  Status add(const Inventory& inventory, std::vector<std::string>& notes, Spec& spec) {
    SLIPWAY_TRY(version, driver_version(inventory));
    if (!made_ || version != loaded_) made_.emplace(make(version));
    // NVML creates the nodes when it is opened, so they are never searched before.
    if (*made_) spec.edits = (*made_)->edits;
    if (options_.mode == Mode::nvml)
      SLIPWAY_CHECK(add_control_nodes(roots_, NodeWriter(roots_, options_.additional_gids), spec.edits));
    if (!*made_) return made_->error();
    for (const std::string& note : (*made_)->notes) add_once(notes, note);
    return {};
  }

 private:
  struct Made {
    Edits edits;
    std::vector<std::string> notes;
  };

  /// Checks that the versions of the loaded module and the libraries are equal.
  Result<std::string> driver_version(const Inventory& inventory) {
    std::string version = inventory.driver_version;
    if (version.empty()) version = loaded_;
    if (version.empty()) version = installed_version(search_);
    if (version.empty())
      return Error{ErrorCode::not_found,
                   "there is no NVIDIA driver: no module is loaded and no libcuda is installed",
                   "libcuda.so.1",
                   "install the driver: `slipway apply` with the component driver",
                   {}};
    if (!loaded_.empty() && loaded_ != version)
      return Error{ErrorCode::conflict,
                   "the driver is half upgraded: NVML is of " + version + ", the loaded kernel module of " + loaded_,
                   "/proc/driver/nvidia/version",
                   "reboot, or load the modules of " + version + " once no process uses a GPU",
                   {}};
    return version;
  }

  Result<Made> make(const std::string& version) {
    const HookWriter hooks(options_.hooks);
    const DriverFiles files(roots_, version, search_, hooks,
                            {.hooks = hooks.wanted("create-symlinks"),
                             .explicit_libraries = options_.explicit_libraries,
                             .library_folder = options_.container_library_folder,
                             .config_folders = options_.config_folders,
                             .program_folders = options_.program_folders});
    Made made;
    const bool gpus = options_.mode == Mode::nvml;
    if (gpus) files.add_graphics(made.edits);
    SLIPWAY_CHECK(files.add_libraries(gpus, made.edits));
    if (options_.sockets) files.add_sockets(made.edits);
    files.add_firmware(made.edits);
    made.notes = files.add_programs(gpus, made.edits);
    if (gpus) hooks.add("update-application-profile", {}, made.edits);
    return made;
  }

  const GenerateOptions& options_;
  const Roots& roots_;
  LibrarySearch search_;
  std::string loaded_;  ///< the version of the loaded module; empty: none is loaded
  std::optional<Result<Made>> made_;
};

bool none_wanted(const GenerateOptions& options) {
  return options.device_ids.size() == 1 && options.device_ids.front() == "none";
}

}  // namespace

std::optional<Mode> parse_mode(std::string_view word) {
  if (word == "auto" || word.empty()) return Mode::nvml;
  const auto* found = std::ranges::find(kModes, word, &ModeName::word);
  if (found == std::end(kModes)) return std::nullopt;
  return found->mode;
}

std::string_view to_string(Mode mode) { return entry_of(mode).word; }
std::string default_kind(Mode mode) { return std::string(entry_of(mode).kind); }
bool needs_inventory(Mode mode) { return mode == Mode::nvml; }

std::optional<Naming> parse_naming(std::string_view word) {
  if (word == "index") return Naming::index;
  if (word == "uuid") return Naming::uuid;
  if (word == "type-index") return Naming::type_index;
  return std::nullopt;
}

std::string kind_of(const GenerateOptions& options) {
  const std::string kind = default_kind(options.mode);
  const auto slash = kind.find('/');
  return (options.vendor.empty() ? kind.substr(0, slash) : options.vendor) + "/" +
         (options.class_name.empty() ? kind.substr(slash + 1) : options.class_name);
}

Result<Spec> generate(const GenerateOptions& options, const Roots& roots, const Inventory& inventory,
                      std::vector<std::string>& notes) {
  return generate(
      options, roots, [&inventory] { return Result<Inventory>(inventory); }, notes);
}

Result<Spec> generate(const GenerateOptions& options, const Roots& roots,
                      const std::function<Result<Inventory>()>& inventory, std::vector<std::string>& notes) {
  std::optional<CommonEdits> common;
  if (mounts_driver(options.mode)) common.emplace(options, roots).look_ahead();
  SLIPWAY_TRY(found, inventory());
  Spec spec;
  spec.kind = kind_of(options);
  bool all = options.all_device && options.mode != Mode::imex;
  if (none_wanted(options)) {
    spec.devices.push_back({"none", {}, {}});
    spec.devices.back().edits.env = {"NVCT_EMPTY_DEVICE="};
    all = false;
  } else if (options.mode == Mode::nvml) {
    SLIPWAY_CHECK(add_gpu_devices(options, roots, found, spec));
  } else {
    SLIPWAY_CHECK(add_function_device(options, roots, spec));
  }
  if (common) SLIPWAY_CHECK(common->add(found, notes, spec));
  spec.edits.env.emplace_back("NVIDIA_VISIBLE_DEVICES=void");
  finish(spec, all);
  SLIPWAY_CHECK(nvidia::cdi::validate(spec, spec.kind));
  return spec;
}

}  // namespace slipway::toolkit
