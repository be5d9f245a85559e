// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/requests/specs.hpp - the CDI specs on the host, and what the devices that a container asks for
// amount to.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include <slipway/result.hpp>

#include "nvidia/cdi/spec.hpp"
#include "toolkit/requests/request.hpp"

namespace slipway::shim {

/// Files ending in .json and .yaml directly in the folders. A later folder outranks those before it; a device that two
/// files of one folder have belongs to nobody, as for engines.
class Specs {
 public:
  /// Never fails: what cannot be read is left out, and named when a device is missing.
  static Specs read(const std::vector<std::string>& folders);
  /// As if the text were a file of the last folder.
  void add(const std::string& path, std::string_view text, std::size_t priority);
  /// In the place of all files of that kind. Errors: `invalid` it is not a spec.
  Status replace(const std::string& kind, const std::string& path, std::string_view text);

  /// Each spec's own edits once, before those of its first device; then the devices' in the order in which they are
  /// named. Errors: `not_found` naming the devices that there are, or how a spec is made where there is none of that
  /// kind; `conflict` when two files have the device.
  Result<nvidia::cdi::Edits> resolve(const Request& request, const Config& config) const;

  /// All names of that device within its kind: those that give a container the same. Empty: there is no such device.
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
  using Index = std::map<std::string, ByName>;               ///< by kind, each made when it is first asked for

  std::vector<Found> all_of(const std::string& kind) const;
  const ByName& named(const std::string& kind, Index& index) const;
  Result<std::vector<Found>> find(const std::string& device, Index& index, const Request& request,
                                  const Config& config) const;
  Result<nvidia::cdi::Edits> driver_files(const Request& request, const Config& config) const;
  Error missing(const std::string& kind, const std::string& name, const Request& request, const Config& config) const;

  std::vector<File> files_;  ///< in rising priority
  std::vector<Error> problems_;
};

/// Takes out what the settings switch off: the hook for CUDA compatibility, the groups of device nodes. What an image
/// requires is checked before, since that hook knows the driver's CUDA version.
void leave_out_unwanted(nvidia::cdi::Edits& edits, const Config& config);

/// Mode jit-cdi: specs of the hardware as it is when a container starts, which are no files. For each kind that the
/// request names and `slipway cdi generate` makes, that is started once, beside this program; files of the kind do not
/// count. Other vendors' kinds are those of the files. What the program warns of, such as a GPU that is lost, is added
/// to the request's warnings. Errors: those of `slipway cdi generate`, with its words;
/// `timed_out`.
Result<Specs> specs_made_now(Request& request, const Config& config);

}  // namespace slipway::shim
