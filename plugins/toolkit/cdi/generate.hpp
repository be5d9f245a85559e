// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/cdi/generate.hpp - makes CDI specs: full GPUs and MIG devices, and the kinds for single functions.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <slipway/result.hpp>

#include "nvidia/cdi/spec.hpp"
#include "toolkit/cdi/hooks.hpp"
#include "toolkit/cdi/inventory.hpp"

namespace slipway::toolkit {

enum class Mode { nvml, management, gds, mofed, gdrcopy, nvswitch, imex };
/// Parses the values of the spec key and of --mode; "auto" is nvml.
std::optional<Mode> parse_mode(std::string_view word);
std::string_view to_string(Mode mode);
/// Returns the default kind of a mode's specs: "nvidia.com/gds".
std::string default_kind(Mode mode);
/// True when the mode needs GPUs from NVML.
bool needs_inventory(Mode mode);

enum class Naming { index, uuid, type_index };
std::optional<Naming> parse_naming(std::string_view word);

struct GenerateOptions {
  Mode mode = Mode::nvml;
  std::vector<Naming> names{Naming::index, Naming::uuid};
  std::string vendor;  ///< empty: the mode's
  std::string class_name;
  HookOptions hooks;
  std::vector<std::string> library_folders;  ///< empty: the usual folders
  std::vector<std::string> config_folders;
  std::vector<std::string> program_folders;  ///< searched for the driver's programs after the usual folders
  std::vector<std::string> device_ids;  ///< empty: all; else indexes, "GPU:MIG" indexes, UUIDs, channels, or "none"
  bool all_device = true;
  bool additional_gids = true;
  bool sockets = true;
  bool explicit_libraries = false;       ///< include OpenGL, EGL and OpenCL, which do not have the driver's version
  bool coherent = false;                 ///< annotate each GPU: is its memory coherent with the processor's
  std::string container_library_folder;  ///< library folder of containers, for specs without hooks; empty: as here
};

/// Returns the kind of the spec: the mode's, with the requested vendor and class.
std::string kind_of(const GenerateOptions& options);

/// Returns a valid spec in the lowest version that covers it.
/// @param inventory  GPUs for the mode nvml; `driver_version` in all modes that mount driver files, where it may be
///                   empty: then that of the libraries
/// @param notes      receives a note for each optional part that is missing
/// Errors: `not_found` no device, a missing node or library; `conflict` a half-upgraded driver; `invalid` an id without
/// a device.
Result<nvidia::cdi::Spec> generate(const GenerateOptions& options, const Roots& roots, const Inventory& inventory,
                                   std::vector<std::string>& notes);
/// The same, with an inventory that is requested as late as possible: NVML may be opened meanwhile. Errors: those of
/// `inventory`, before all others.
Result<nvidia::cdi::Spec> generate(const GenerateOptions& options, const Roots& roots,
                                   const std::function<Result<Inventory>()>& inventory,
                                   std::vector<std::string>& notes);

/// One of the two specs beside the main one, for containers that select GPUs by their memory.
struct CoherentHalf {
  std::string suffix;  ///< suffix of the file's name and of the class: ".coherent" or ".noncoherent"
  nvidia::cdi::Spec spec;
};
/// Splits the GPUs of a spec that was made with `coherent`, by their annotation; leaves out a half without GPUs.
std::vector<CoherentHalf> split_coherent(const nvidia::cdi::Spec& spec);

// The parts of generate(), one for each kind of mode; the spec is not finished yet.
Status add_gpu_devices(const GenerateOptions& options, const Roots& roots, const Inventory& inventory,
                       nvidia::cdi::Spec& spec);
Status add_function_device(const GenerateOptions& options, const Roots& roots, nvidia::cdi::Spec& spec);

}  // namespace slipway::toolkit
