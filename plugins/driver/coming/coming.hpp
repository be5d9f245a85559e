// SPDX-License-Identifier: Apache-2.0
// plugins/driver/coming/coming.hpp - the kernels that apt or dnf would install next, by the lists that they keep in a
// root, and what a source of driver packages has for each.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <slipway/host.hpp>
#include <slipway/inputs.hpp>
#include <slipway/json.hpp>

#include "driver/choose/choose.hpp"
#include "driver/coming/list_reader.hpp"
#include "driver/detect/receipt.hpp"
#include "driver/settings.hpp"

namespace slipway::driver {

struct ComingKernel {
  std::string release;
  std::string package;   ///< that brings it: "linux-image-amd64", "kernel-core"
  std::string version;   ///< of that package
  std::string list;      ///< the file that has it
  bool headers = false;  ///< the kernel's headers are installed with it
  // What the source has:
  std::string modules;  ///< "package", "compile" or "none"; empty: not asked
  std::string driver;   ///< "535.261.03 open"; empty: none
  std::string manifest;
  std::string text;  ///< remark, or why there is nothing
};

struct Coming {
  std::string manager;                ///< "apt" or "dnf"
  std::int64_t time = 0;              ///< of the newest of its lists, in seconds since 1970
  std::vector<ComingKernel> kernels;  ///< the newest first
  std::vector<std::string> notes;     ///< sentences

  bool has_one_without_modules() const;
};

/// Errors: `not_found` the root has no lists; `corrupt` a list, with its file; `timed_out`.
Result<Coming> read_coming(const Host& host, const ListLimits& limits);

/// Adds what the catalogue has for each kernel: in the version and flavour of the receipt, since a new kernel changes
/// neither; without a receipt in those that the settings allow.
void add_offers(const Settings& settings, const std::optional<Receipt>& receipt, const Catalogue& catalogue,
                const Host& host, Coming& coming);

/// True when the lists are older than a week.
bool is_old(const Coming& coming, std::int64_t now);

/// Adds the members `coming` and `lists` to the JSON of a root's kernels.
void add_coming(const Coming& coming, std::int64_t now, Json& json);
std::string to_text(const Coming& coming, std::int64_t now);

}  // namespace slipway::driver
