// SPDX-License-Identifier: Apache-2.0
// plugins/driver/detect/existing_driver.hpp - an NVIDIA driver in the root that slipway did not install: its origin,
// and how to remove it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <slipway/host.hpp>
#include <slipway/json.hpp>

namespace slipway::driver {

/// One trace of a driver that is not slipway's.
struct ExistingDriver {
  std::string how;      ///< "packages", "DKMS", "installer", "modules", "libraries"
  std::string what;     ///< "libcuda1, nvidia-smi (dpkg)", a path, or a program
  std::string version;  ///< driver version, if the trace has it; may be empty
  std::string flavour;  ///< "open", "proprietary"; empty: unknown
  std::string remove;   ///< how to remove it: "`apt-get purge …`", or a sentence, "remove the package that owns …"
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(ExistingDriver, how, what, version, flavour, remove)

/// Finds all traces outside of slipway's store, including modules of these kernels.
std::vector<ExistingDriver> find_existing_drivers(const Host& host, const std::vector<std::string>& kernel_releases);

struct InstalledPackage {
  std::string name;
  std::string
      version;  ///< the upstream version, "535.261.03" for "1:535.261.03-1~deb12u1"; empty: it is not a driver version
};

/// Returns the installed packages whose names are wanted, from the text of /var/lib/dpkg/status.
std::vector<InstalledPackage> installed_packages(std::string_view dpkg_status, bool (*wanted)(std::string_view name));

/// True for a Debian package that contains driver libraries or modules, false for one that only uses them.
bool is_driver_package(std::string_view name);

/// Returns the installed driver packages in the text of /var/lib/dpkg/status: one trace per version, since a mix is
/// important.
std::vector<ExistingDriver> driver_packages_in(std::string_view dpkg_status);

/// Returns the modules of an NVIDIA driver in the text of modules.dep, as paths below /lib/modules/REL; slipway's own
/// are left out.
std::vector<std::string> driver_modules_in(std::string_view modules_dep);

/// Returns the driver version in a library's file name: "libcuda.so.535.261.03"; empty: it has none.
std::string library_version(std::string_view file_name);

}  // namespace slipway::driver
