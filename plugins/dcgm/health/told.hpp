// SPDX-License-Identifier: Apache-2.0
// plugins/dcgm/health/told.hpp - what the service tells of the GPUs' health in a file, since NVML tells XIDs only to
// who waits for them: `slipway doctor` reads it.
#pragma once

#include <string>
#include <vector>

#include <slipway/findings.hpp>
#include <slipway/host.hpp>
#include <slipway/result.hpp>
#include <slipway/root_dir.hpp>

#include "nvidia/health/record.hpp"

namespace slipway::dcgm {

/// A reason, and whose it is: "GPU 3 (00000000:65:00.0)", with the GPU instance.
struct ToldReason {
  std::string device;
  nvidia::health::Severity severity = nvidia::health::Severity::degraded;
  std::string text;
  std::string remedy;
  bool operator==(const ToldReason&) const = default;
};

/// Why nobody can scrape; an empty text: nothing keeps anybody from it.
struct ScrapeProblem {
  std::string text;
  std::string remedy;
};

/// Used by one thread.
class HealthFile {
 public:
  explicit HealthFile(RootDir root) : root_(std::move(root)) {}
  /// Replaces the file below the root's /run/slipway/dcgm when it would be another. Errors: of the file system.
  Status write(const std::vector<ToldReason>& reasons, const ScrapeProblem& scrape = {});
  /// When the service ends, nobody knows of the GPUs' health any more.
  void remove();

 private:
  RootDir root_;
  std::string text_;
};

/// dcgm.health, of each reason; dcgm.scrape where nobody can; that nobody watches the GPUs where the service does not
/// run.
void add_told_health(const Host& host, Findings& findings);

}  // namespace slipway::dcgm
