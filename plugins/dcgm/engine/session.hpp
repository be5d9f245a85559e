// SPDX-License-Identifier: Apache-2.0
// plugins/dcgm/engine/session.hpp - one connection to a DCGM engine: the fields that it watches and reads. All calls
// block.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <slipway/result.hpp>

#include "dcgm/counters/field.hpp"
#include "dcgm/engine/library.hpp"
#include "dcgm/engine/options.hpp"
#include "dcgm/sampler/sample.hpp"

namespace slipway::dcgm {

/// Values by field number; a blank is not stored.
using FieldValues = std::map<unsigned, Value>;

struct EngineReading {
  std::map<std::string, FieldValues> gpus = {};                            ///< by UUID
  std::map<std::pair<std::string, unsigned>, FieldValues> gpu_links = {};  ///< by the GPU's UUID and the link, from 0
  std::map<unsigned, FieldValues> switches = {};                           ///< NVSwitches, by DCGM's number
  std::map<std::pair<unsigned, unsigned>, FieldValues> switch_links = {};  ///< by NVSwitch and link, from 0
};

/// Used by one thread at a time.
class EngineSession {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kConnectLimit{2000};
  static constexpr std::chrono::seconds kLookAgain{60};  ///< how often to look for NVSwitches and links that are up

  /// @param now  the clock that decides when to look again
  explicit EngineSession(std::shared_ptr<const DcgmLibrary> library,
                         std::function<Clock::time_point()> now = Clock::now)
      : library_(std::move(library)), now_(std::move(now)) {}
  ~EngineSession() { end(false); }
  EngineSession(const EngineSession&) = delete;
  EngineSession& operator=(const EngineSession&) = delete;

  /// Errors: `not_found` no engine answers; DCGM's own.
  Status begin(const EngineAddress& address);
  /// Starts watching the fields: for all GPUs, and for all NVSwitches and links that are up if some fields belong to
  /// them. Errors: DCGM's own, about GPUs; those about the others are in missing().
  Status watch(const std::vector<unsigned>& fields, std::chrono::milliseconds interval);
  /// Returns the newest values. Errors: DCGM's own.
  Result<EngineReading> read();
  /// Says why fields of NVSwitches or links have no values; empty: they have values, or no such field is wanted.
  std::string missing() const;
  /// @param shut_down  shuts the whole library down, which ends other connections as well
  void end(bool shut_down);

 private:
  using Taken = std::map<std::pair<int, unsigned>, FieldValues>;  ///< by DCGM's kind and number of the entity
  /// Fields of one kind, and the entities that have them.
  struct Part {
    FieldLevel level = FieldLevel::gpu;
    std::vector<unsigned short> fields = {};
    std::vector<abi::FieldGroup> field_groups = {};
    std::vector<unsigned> entities = {};
    std::optional<abi::Group> group = {};
    std::string problem = {};
    bool is_stale = false;  ///< the engine rejected something: the next check creates the group again
  };

  Status make_field_groups(Part& part);
  Status watch_group(const Part& part, abi::Group group) const;
  void look_for_entities(Part& part);
  Result<std::vector<unsigned>> entities_of(FieldLevel level) const;
  Result<std::vector<unsigned>> active_links(int kind) const;
  Status take(Part& part, Taken& taken) const;

  std::shared_ptr<const DcgmLibrary> library_;
  std::function<Clock::time_point()> now_;
  bool initialised_ = false;
  std::optional<abi::Handle> handle_;
  std::chrono::milliseconds interval_{0};
  std::vector<Part> parts_;  ///< the GPUs' part comes first
  Clock::time_point look_again_;
};

}  // namespace slipway::dcgm
