// SPDX-License-Identifier: Apache-2.0
// plugins/driver/detect/receipt.hpp - /usr/lib/slipway/driver.json: the record of the installed driver, written with
// it.
//
// verify() and the next plan() read it: neither has the package's manifest at hand. Other programs may read it too.
#pragma once

#include <optional>
#include <string>

#include <slipway/host.hpp>

#include "driver/package/package.hpp"

namespace slipway::driver {

inline constexpr std::string_view kReceiptPath = "/usr/lib/slipway/driver.json";

/// A kernel with the driver's modules.
struct InstalledKernel {
  std::string release;
  bool compiled = false;             ///< modules compiled here, from the source package `manifest`
  std::string manifest;              ///< digest of their package
  std::vector<std::string> modules;  ///< file names below modules/REL/kernel
};

struct Receipt {
  std::string version;
  std::string flavour;
  std::string kernel_release;
  bool compiled = false;                          ///< modules compiled here, from the source package `manifest`
  std::string manifest;                           ///< digest of the package
  PackageFiles files;                             ///< of user space
  bool firmware = false;                          ///< the package has GSP firmware
  std::vector<std::string> modules;               ///< file names below modules/REL/kernel
  std::string libdir;                             ///< public folder with links to the libraries; empty: none
  std::vector<InstalledKernel> further = {};      ///< kernels that have modules besides `kernel_release`
  std::vector<InstalledKernel> proprietary = {};  ///< each kernel's second set of modules; empty: there is only one set
  std::vector<std::string> without = {};          ///< kernels for which there is no package although they were to get
                                                  ///< modules
  std::string kept_entry = {};    ///< the boot default that slipway keeps: saved_entry of GRUB, or that of loader.conf
  std::string former_entry = {};  ///< saved_entry before
  bool follows_kernels = false;   ///< kernels were installed or removed since: see kernels_of_plan()

  /// Returns the kind of the modules; empty when both kinds are installed.
  std::string only_flavour() const { return proprietary.empty() ? flavour : std::string(); }
  /// Returns each kernel with modules, the target first.
  std::vector<InstalledKernel> kernels() const;
  bool has_kernel(const std::string& release) const;
  /// "open", "open and proprietary"
  std::string flavours_text() const;
  /// "kernel A", "kernels A and B"
  std::string kernels_text() const;
};

/// Returns the text of the file: formatted JSON, identical for the same driver.
std::string receipt_text(const Receipt& receipt);

/// Empty when there is no receipt, or none that this version of slipway can read.
std::optional<Receipt> read_receipt(const Host& host);
std::optional<Receipt> receipt_from_json(const Json& value);
Json to_json(const Receipt& receipt);

}  // namespace slipway::driver
