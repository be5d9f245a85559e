// SPDX-License-Identifier: Apache-2.0
// plugins/gfd/probe.hpp - one look at the machine after the other, each with an NVML of its own.
#pragma once

#include <optional>
#include <string>

#include <slipway/host.hpp>

#include "gfd/labels/config.hpp"
#include "gfd/labels/labels.hpp"
#include "nvidia/nvml/nvml.hpp"

namespace slipway::gfd {

/// What a look came to. Without a driver there are still labels to make.
struct Seen {
  Sources sources;
  std::optional<Error> no_driver;  ///< why NVML could not be asked: nothing installed, not loaded, versions differ
};

/// NVML is opened for each look. Released after each, no GPU stays busy between them, and a driver that came, went or
/// was updated meanwhile is noticed.
class Probe {
 public:
  /// NVML is released after each look, but for a tool, whose process ends then. A service waits for a GPU that hangs; a
  /// command finds out what other workers know of it (NvmlOptions::find_hanging).
  enum class Use { service, command, tool };

  /// `host` is borrowed.
  Probe(const Host& host, Config config, Use use = Use::service);
  /// Errors: what makes a look worthless, such as a machine on which no GPU answers; `denied` SLIPWAY_NVML is
  /// refused.
  /// @param sharing  what the labels will be made by, which may be another than at the look before
  Result<Seen> look(const nvidia::config::Sharing& sharing);

 private:
  Result<Snapshot> ask_nvml(bool with_places, std::optional<Error>& no_driver);

  const Host& host_;
  Config config_;
  Use use_;
  std::int64_t timestamp_;
  std::optional<nvidia::nvml::Nvml> nvml_;
};

}  // namespace slipway::gfd
