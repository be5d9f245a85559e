// SPDX-License-Identifier: Apache-2.0
// plugins/driver/detect/receipt.hpp - /usr/lib/slipway/driver.json: what driver is installed here, written with it.
//
// verify() and the next plan() read it: neither has the package's manifest at hand. Other programs may read it too.
#pragma once

#include <optional>
#include <string>

#include <slipway/host.hpp>

#include "driver/package/package.hpp"

namespace slipway::driver {

inline constexpr std::string_view kReceiptPath = "/usr/lib/slipway/driver.json";

/// One kernel that has the driver's modules.
struct InstalledKernel {
  std::string release;
  bool compiled = false;             ///< modules compiled here, from the source package `manifest`
  std::string manifest;              ///< digest of the package that they are of
  std::vector<std::string> modules;  ///< file names below modules/REL/kernel
};

struct Receipt {
  std::string version;
  std::string flavour;
  std::string kernel_release;
  bool compiled = false;                      ///< modules compiled here, from the source package `manifest`
  std::string manifest;                       ///< digest of the package
  PackageFiles files;                         ///< of user space
  bool firmware = false;                      ///< the package has GSP firmware
  std::vector<std::string> modules;           ///< file names below modules/REL/kernel
  std::string libdir;                         ///< public folder with links to the libraries; empty: none
  std::vector<InstalledKernel> further = {};  ///< kernels that have modules besides `kernel_release`
  std::vector<std::string> without = {};      ///< kernels that were to have some, and there is no package for them

  /// Each kernel that has modules, the one that was planned for first.
  std::vector<InstalledKernel> kernels() const;
  bool has_kernel(const std::string& release) const;
  /// "kernel A", "kernels A and B"
  std::string kernels_text() const;
};

/// The text of the file: pretty JSON, the same for the same driver.
std::string receipt_text(const Receipt& receipt);

/// Nothing when there is none, or none that this slipway can read.
std::optional<Receipt> read_receipt(const Host& host);
std::optional<Receipt> receipt_from_json(const Json& value);
Json to_json(const Receipt& receipt);

}  // namespace slipway::driver
