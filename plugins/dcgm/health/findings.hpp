// SPDX-License-Identifier: Apache-2.0
// plugins/dcgm/health/findings.hpp - the findings of `slipway doctor` about the GPUs' health, and about the clients
// that can scrape.
#pragma once

#include <string>

#include <slipway/findings.hpp>
#include <slipway/host.hpp>
#include <slipway/result.hpp>
#include <slipway/root_dir.hpp>

namespace slipway::dcgm {

/// The reason why scrapes fail; an empty text: they can succeed.
struct ScrapeProblem {
  std::string text;
  std::string remedy;
};

/// Used by one thread.
class ScrapeFile {
 public:
  explicit ScrapeFile(RootDir root) : root_(std::move(root)) {}
  /// Writes the file below the root's /run/slipway/dcgm if its content changes. Errors: those of the file system.
  Status write(const ScrapeProblem& problem);
  void remove();

 private:
  RootDir root_;
  std::string text_;
};

/// Adds dcgm.health for each fault that a service has seen (nvidia/health/shared_health.hpp), dcgm.scrape if scrapes
/// fail, and a finding if no service watches the GPUs.
void add_health_findings(const Host& host, Findings& findings);

}  // namespace slipway::dcgm
