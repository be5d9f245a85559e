// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/health/shared_health.hpp - /run/slipway/health.json: the observations of slipway's services for each
// GPU, and their end, so that all services, and doctor, agree.
//
// Each service that watches GPUs has a part of its own in the file, and reads the others' parts. The file ends with the
// boot.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <slipway/host.hpp>
#include <slipway/json.hpp>
#include <slipway/result.hpp>
#include <slipway/root_dir.hpp>

#include "nvidia/health/rules.hpp"

namespace slipway::nvidia::health {

inline constexpr const char* kHealthFile = "/run/slipway/health.json";

/// This clock advances equally in all processes of a boot.
using Moment = std::chrono::steady_clock::time_point;

/// A fault of a GPU or GPU instance.
struct Fault {
  std::string code;  ///< "xid-79", "lost", "hangs", "ecc", "recovery-action", or a rule's name
  Severity severity = Severity::degraded;
  Scope scope = Scope::gpu;
  std::string text;
  std::string remedy;
  std::optional<unsigned> instance;
  unsigned xid = 0;  ///< 0: it is not an XID
  bool needs_reset = false;
  Moment last;               ///< when it was last seen
  std::int64_t seen_at = 0;  ///< the same in seconds since 1970, for display
  /// When it ends without a reset, in seconds since 1970, if the driver does not report resets. 0: resets are reported.
  std::int64_t ends_at = 0;
  bool operator==(const Fault&) const = default;
};

/// The value of `how` for faults that a reset ended.
inline constexpr const char* kReset = "reset";
/// The code of a fault by an uncorrectable memory error.
inline constexpr const char* kEccFault = "ecc";

/// Faults of a GPU, or of a GPU instance, that have ended.
struct EndedFaults {
  std::optional<unsigned> instance;  ///< empty: those of the whole GPU; a reset ends those of its instances too
  std::string how;                   ///< "found", "reset", "quiet"
  Moment when;                       ///< faults last seen before this time
  bool operator==(const EndedFaults&) const = default;
};

struct GpuHealth {
  std::string name;  ///< "GPU 3 (0000:65:00.0)"
  std::vector<Fault> faults;
  std::vector<EndedFaults> ended;
  bool operator==(const GpuHealth&) const = default;

  /// True when a fault that was last seen at that time has ended since.
  bool has_ended(std::optional<unsigned> instance, Moment last) const;
};
/// By UUID.
using HealthOfGpus = std::map<std::string, GpuHealth>;
/// By service.
using SharedHealth = std::map<std::string, HealthOfGpus>;

/// The name of the part that no service writes: the resets that `slipway pause` ran.
inline constexpr const char* kPausePart = "pause";

/// Reads all parts. Empty if there is no file, if it is from an earlier boot, or if users other than root and this one
/// could have written it.
SharedHealth read_shared_health(const RootDir& root);
/// Returns the faults of all parts without duplicates: by GPU, the worst first. Faults that have ended according to
/// another part are left out.
HealthOfGpus merged(const SharedHealth& parts);
/// Returns the parts without the faults that kPausePart has ended.
SharedHealth without_reset(SharedHealth parts);
/// Drops the parts of services that do not run: they are outdated.
void drop_stopped(SharedHealth& parts, const std::function<bool(const std::string& service)>& runs);

/// Replaces "UUID" in the remedy's commands by the GPU's own address. @param address  in any spelling
std::string remedy_for(std::string remedy, std::string_view address);
/// Says how long a fault that needs a reset counts if the driver does not report resets, as a sentence that follows the
/// remedy: ". The GPU counts as …". Empty for ends_at 0.
std::string wait_text(std::int64_t ends_at);

/// One service's part. Used by one thread.
class HealthPart {
 public:
  HealthPart(RootDir root, std::string service) : root_(std::move(root)), service_(std::move(service)) {}

  /// Writes the own part if it has changed, and reads the others. Errors: those of the file system; `locked` another
  /// service is writing: try again at the next check.
  Status exchange(const HealthOfGpus& own);
  /// Returns the other services' parts as of the last exchange, and kPausePart.
  const SharedHealth& others() const { return others_; }
  /// Returns the same without faults that a reset has ended; the service that reported them may not know that yet.
  SharedHealth unended() const { return without_reset(others_); }
  /// Returns this service's faults, also from an earlier process, without those that a reset has ended.
  HealthOfGpus own() const;

 private:
  RootDir root_;
  std::string service_;
  SharedHealth others_;
};

Json to_json(const HealthOfGpus& gpus);
HealthOfGpus health_from_json(const Json& json);

}  // namespace slipway::nvidia::health
