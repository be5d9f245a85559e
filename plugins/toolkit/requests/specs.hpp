// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/requests/specs.hpp - the CDI specs on the host, and the edits for the devices that a container
// requests.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include <slipway/result.hpp>

#include "nvidia/cdi/spec.hpp"
#include "toolkit/requests/request.hpp"

namespace slipway::shim {

/// Reads files ending in .json and .yaml directly in the folders. A later folder overrides earlier ones; a device in
/// two files of one folder is ignored, as engines do.
class Specs {
 public:
  /// Never fails: unreadable files are left out, and listed when a device is missing.
  static Specs read(const std::vector<std::string>& folders);
  /// Adds the text like a file of the last folder.
  void add(const std::string& path, std::string_view text, std::size_t priority);
  /// Replaces all files of that kind. Errors: `invalid` it is not a spec.
  Status replace(const std::string& kind, const std::string& path, std::string_view text);

  /// Returns each spec's own edits once, before those of its first device; then the devices' edits in the requested
  /// order. Errors: `not_found` with the existing devices, or how to create a spec if there is none of that kind;
  /// `conflict` when two files have the device.
  Result<nvidia::cdi::Edits> resolve(const Request& request, const Config& config) const;

  /// Returns all names of that device within its kind, which have equal edits. Empty: there is no such device.
  /// @param device  "VENDOR/CLASS=NAME"
  std::vector<std::string> all_names_of(const std::string& device) const;

 private:
  struct File {
    std::string path;
    std::size_t priority = 0;
    nvidia::cdi::Spec spec;
  };
  struct Found {
    std::size_t file = 0;
    const nvidia::cdi::Device* device = nullptr;
  };

  using ByName = std::map<std::string, std::vector<Found>>;  ///< with the files that have it, in rising priority
  using Index = std::map<std::string, ByName>;               ///< by kind, each built at the first request

  std::vector<Found> all_of(const std::string& kind) const;
  const ByName& named(const std::string& kind, Index& index) const;
  Result<std::vector<Found>> find(const std::string& device, Index& index, const Request& request,
                                  const Config& config) const;
  Result<nvidia::cdi::Edits> driver_files(const Request& request, const Config& config) const;
  Error missing(const std::string& kind, const std::string& name, const Request& request, const Config& config) const;

  std::vector<File> files_;  ///< in rising priority
  std::vector<Error> problems_;
};

/// Removes edits that the settings disable: the hook for CUDA compatibility, the groups of device nodes. Call it after
/// the image's requirements are checked, since that hook has the driver's CUDA version.
void leave_out_unwanted(nvidia::cdi::Edits& edits, const Config& config);

/// Mode jit-cdi: generates specs of the current hardware when a container starts, without files. Runs `slipway cdi
/// generate`, installed beside this program, once for each requested kind that it supports, and ignores files of that
/// kind. Kinds of other vendors come from files. Warnings of the program, such as a lost GPU, are added to the
/// request's warnings. Errors: those of `slipway cdi generate`, with its text; `timed_out`.
Result<Specs> specs_made_now(Request& request, const Config& config);

}  // namespace slipway::shim
