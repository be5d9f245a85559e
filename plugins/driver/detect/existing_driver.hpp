// SPDX-License-Identifier: Apache-2.0
// plugins/driver/detect/existing_driver.hpp - an NVIDIA driver in the root that is not ours: who put it there, and how
// it goes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <slipway/host.hpp>
#include <slipway/json.hpp>

namespace slipway::driver {

/// One trace of it.
struct ExistingDriver {
  std::string how;      ///< "packages", "DKMS", "installer", "modules", "libraries"
  std::string what;     ///< "libcuda1, nvidia-smi (dpkg)", a path, a program
  std::string version;  ///< driver version where the trace tells it; may be empty
  std::string flavour;  ///< "open", "proprietary"; empty: the trace does not tell
  std::string remove;   ///< what removes it: "`apt-get purge …`", or a sentence, "remove the package that owns …"
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(ExistingDriver, how, what, version, flavour, remove)

/// Everything that is there and does not belong to slipway's store, with the modules of these kernels.
std::vector<ExistingDriver> find_existing_drivers(const Host& host, const std::vector<std::string>& kernel_releases);

struct InstalledPackage {
  std::string name;
  std::string
      version;  ///< the upstream one, "535.261.03" of "1:535.261.03-1~deb12u1"; empty: it is not a driver version
};

/// Those that are installed, from the text of /var/lib/dpkg/status, and that are wanted by their name.
std::vector<InstalledPackage> installed_packages(std::string_view dpkg_status, bool (*wanted)(std::string_view name));

/// A Debian package that brings driver libraries or modules, not just something that uses them.
bool is_driver_package(std::string_view name);

/// Driver packages that are installed, from the text of /var/lib/dpkg/status: one trace for each
/// version, since a mix is worth knowing.
std::vector<ExistingDriver> driver_packages_in(std::string_view dpkg_status);

/// Modules of an NVIDIA driver in the text of modules.dep, paths below /lib/modules/REL; ours are left out.
std::vector<std::string> driver_modules_in(std::string_view modules_dep);

/// The driver version in a library's file name: "libcuda.so.535.261.03"; empty: it has none.
std::string library_version(std::string_view file_name);

}  // namespace slipway::driver
