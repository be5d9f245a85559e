// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/gpus/gpu_table.hpp - the table of GPUs by PCI device id: the one that is compiled in, and the files in
// a root that renew it, so that a GPU that is newer than slipway needs no new slipway.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <slipway/host.hpp>
#include <slipway/json.hpp>
#include <slipway/result.hpp>

#include "nvidia/gpu.hpp"

namespace slipway::nvidia {

namespace config {
struct Node;
}

class GpuTable {
 public:
  /// A package's file, and the site's; what a later one names counts before the others.
  static constexpr std::array kFiles{"/usr/share/slipway/gpus.yaml", "/etc/slipway/gpus.yaml"};

  /// The table that is compiled in.
  static const GpuTable& built_in();
  /// The same, renewed by a root's files. Errors: `invalid`, with file, line and column; those of read_trusted().
  static Result<GpuTable> of(const Host& host);
  /// The same, renewed by the files of another one. @param renewals  of renewals(); null: none
  static GpuTable renewed_by(const Json& renewals);

  /// Adds a file. Errors: `invalid`, with file, line and column.
  Status add(const std::string& text, const std::string& file);
  /// The files that were added, with what is in them; null: none, or equal to what is compiled in.
  const Json& renewals() const { return renewals_; }

  Gpu of_id(std::uint16_t device) const;
  Gpu of_pci(const PciDevice& device) const;
  /// Reads a product ("H100-SXM", "h100", "RTX PRO 6000"), a PCI id ("2330", "10de:2330") or an architecture
  /// ("hopper"). Case, spaces and dashes do not matter; a family name ("H100") stands for all of its boards.
  std::optional<Gpu> find(std::string_view text) const;
  /// Returns the short product name ("H100-SXM"); empty when the table has none.
  std::string product_name(std::uint16_t device) const;
  /// Returns every product and architecture name that find() accepts, for messages and completion.
  std::vector<std::string> names() const;

 private:
  struct Chip {
    std::uint16_t first = 0;
    std::uint16_t last = 0;
    std::string architecture;
    std::string compute;
    std::optional<unsigned> first_branch, last_branch, first_open_branch;
    std::optional<bool> requires_open;

    bool operator==(const Chip&) const = default;
  };
  struct Board {
    std::uint16_t device = 0;
    std::string name;

    bool operator==(const Board&) const = default;
  };
  /// The rows of one file.
  struct Part {
    std::map<std::string, ArchitectureSupport> architectures;
    std::vector<Chip> chips;
    std::vector<Board> boards;

    bool operator==(const Part&) const = default;
  };

  Result<Part> part_from(const config::Node& root) const;
  Status take_architectures(const config::Node& list, Part& part) const;
  Status take_chips(const config::Node& list, Part& part) const;
  static Status take_boards(const config::Node& list, Part& part);
  static Result<Chip> chip_from(const std::string& ids, const config::Node& row);
  std::vector<std::string> architectures(const Part& and_of) const;
  const Chip* chip_of(std::uint16_t device) const;
  ArchitectureSupport support_of(const std::string& architecture) const;
  const Board* board_named(const std::string& wanted) const;

  std::vector<Part> parts_;  ///< the first to be asked first
  Json renewals_;
};

// The same for the table that is compiled in.
Gpu gpu_from_pci(const PciDevice& device);
std::optional<Gpu> gpu_from_text(std::string_view text);
std::string product_name(std::uint16_t device_id);
std::vector<std::string> known_gpu_names();

}  // namespace slipway::nvidia
