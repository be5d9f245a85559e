// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/health/shared.hpp - /run/slipway/health.json: what slipway's services have seen of each GPU, and what
// ended it, so that all of them, and doctor, say the same.
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

/// The clock goes on at the same pace in all processes of a boot.
using Moment = std::chrono::steady_clock::time_point;

/// What speaks against a GPU, or a GPU instance of it.
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
  std::int64_t seen_at = 0;  ///< the same in seconds since 1970, for people
  /// When it ends without a reset, in seconds since 1970: the driver does not report resets. 0: a reset is reported.
  std::int64_t ends_at = 0;
  bool operator==(const Fault&) const = default;
};

/// How faults end that a reset ended.
inline constexpr const char* kReset = "reset";
/// The code of the fault that an uncorrectable memory error is.
inline constexpr const char* kEccFault = "ecc";

/// Faults of a GPU, or of a GPU instance, that have ended.
struct EndedFaults {
  std::optional<unsigned> instance;  ///< empty: those of the whole GPU; a reset ends those of its instances as well
  std::string how;                   ///< "found", "reset", "quiet"
  Moment when;                       ///< those that were last seen before that
  bool operator==(const EndedFaults&) const = default;
};

struct GpuHealth {
  std::string name;  ///< "GPU 3 (0000:65:00.0)"
  std::vector<Fault> faults;
  std::vector<EndedFaults> ended;
  bool operator==(const GpuHealth&) const = default;

  /// Whether a fault that was last seen then has ended since.
  bool has_ended(std::optional<unsigned> instance, Moment last) const;
};
/// By UUID.
using HealthOfGpus = std::map<std::string, GpuHealth>;
/// By service.
using SharedHealth = std::map<std::string, HealthOfGpus>;

/// The name of the part that is not a service's: the resets that `slipway pause` ran.
inline constexpr const char* kPausePart = "pause";

/// All parts. Empty where there is no file, where it is of an earlier boot, and where others than root and this user
/// could have written it.
SharedHealth read_shared_health(const RootDir& root);
/// The faults of all parts, each once: by GPU, the worst first. Those that another part says have ended are left out.
HealthOfGpus merged(const SharedHealth& parts);
/// The parts without the faults that kPausePart has ended.
SharedHealth without_reset(SharedHealth parts);
/// Drops the parts of services that do not run: they tell nothing about the present.
void drop_stopped(SharedHealth& parts, const std::function<bool(const std::string& service)>& runs);

/// The remedy with the GPU's own address in the place of "UUID" in commands. @param address  in any spelling
std::string remedy_for(std::string remedy, std::string_view address);
/// Until when a fault that needs a reset counts where the driver does not report one: a sentence of its own, to stand
/// behind the remedy, which says what to do: ". The GPU counts as …".
/// Empty for ends_at 0.
std::string wait_text(std::int64_t ends_at);

/// A service's part. Used by one thread.
class HealthPart {
 public:
  HealthPart(RootDir root, std::string service) : root_(std::move(root)), service_(std::move(service)) {}

  /// Replaces the part where it would be another one, and takes the others' in.
  /// Errors: of the file system; `locked` another service writes just now: try again at the next look.
  Status exchange(const HealthOfGpus& own);
  /// What the other services said at the last exchange, and kPausePart.
  const SharedHealth& others() const { return others_; }
  /// The same without the faults that a reset has ended, which the service that saw them may not know yet.
  SharedHealth unended() const { return without_reset(others_); }
  /// What this service said, in an earlier process too, without what a reset has ended since.
  HealthOfGpus own() const;

 private:
  RootDir root_;
  std::string service_;
  SharedHealth others_;
};

Json to_json(const HealthOfGpus& gpus);
HealthOfGpus health_from_json(const Json& json);

}  // namespace slipway::nvidia::health
