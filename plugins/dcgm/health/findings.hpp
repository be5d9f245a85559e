// SPDX-License-Identifier: Apache-2.0
// plugins/dcgm/health/findings.hpp - what `slipway doctor` says of the GPUs' health, and of who can scrape.
#pragma once

#include <string>

#include <slipway/findings.hpp>
#include <slipway/host.hpp>
#include <slipway/result.hpp>
#include <slipway/root_dir.hpp>

namespace slipway::dcgm {

/// Why nobody can scrape; an empty text: nothing keeps anybody from it.
struct ScrapeProblem {
  std::string text;
  std::string remedy;
};

/// Used by one thread.
class ScrapeFile {
 public:
  explicit ScrapeFile(RootDir root) : root_(std::move(root)) {}
  /// Replaces the file below the root's /run/slipway/dcgm when it would be another. Errors: of the file system.
  Status write(const ScrapeProblem& problem);
  void remove();

 private:
  RootDir root_;
  std::string text_;
};

/// dcgm.health, of each fault that a service has seen (nvidia/health/shared.hpp); dcgm.scrape where nobody can; that
/// nobody watches the GPUs where no service does.
void add_health_findings(const Host& host, Findings& findings);

}  // namespace slipway::dcgm
