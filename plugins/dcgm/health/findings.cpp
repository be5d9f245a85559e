// SPDX-License-Identifier: Apache-2.0
#include "dcgm/health/findings.hpp"

#include <filesystem>

#include <fcntl.h>
#include <unistd.h>

#include <slipway/json.hpp>
#include <slipway/unix_socket.hpp>

#include "base/write/new_file.hpp"
#include "nvidia/health/shared_health.hpp"
#include "nvidia/machine/causes.hpp"

namespace slipway::dcgm {
namespace {

namespace fs = std::filesystem;
namespace health = nvidia::health;

constexpr const char* kScrapeFile = "/run/slipway/dcgm/scrape.json";
constexpr const char* kName = "dcgm.health";
constexpr const char* kService = "dcgm";
constexpr std::size_t kMostBytes = 65536;
constexpr std::size_t kMostFindings = 64;

void add_scrape_problem(const Host& host, Findings& findings) {
  const Json told = parse_foreign(host.read(kScrapeFile, kMostBytes).value_or(""));
  if (!told.is_object() || !told.contains("text") || !told["text"].is_string()) return;
  findings.fail("dcgm.scrape", "metrics cannot be scraped: " + told["text"].get<std::string>(),
                told.value("remedy", ""));
}

}  // namespace

Status ScrapeFile::write(const ScrapeProblem& problem) {
  if (problem.text.empty()) {
    if (!text_.empty()) remove();
    return {};
  }
  std::string text = pretty(Json{{"text", problem.text}, {"remedy", problem.remedy}});
  if (text == text_) return {};
  SLIPWAY_CHECK(base::replace_file(root_, kScrapeFile, text));
  text_ = std::move(text);
  return {};
}

void ScrapeFile::remove() {
  if (const auto folder = root_.open_at(fs::path(kScrapeFile).parent_path().string(), O_RDONLY | O_DIRECTORY))
    (void)::unlinkat(folder->get(), fs::path(kScrapeFile).filename().c_str(), 0);
  text_.clear();
}

void add_health_findings(const Host& host, Findings& findings) {
  if (!service_runs(host, kService))
    return findings.not_exercised(kName, "the service does not run, so the GPUs are not watched for XIDs");
  add_scrape_problem(host, findings);
  const auto root = RootDir::open(host.root_folder());
  auto parts = root ? health::read_shared_health(*root) : health::SharedHealth();
  if (!parts.contains(kService))
    return findings.not_exercised(
        kName, std::string("the service has not reported on the GPUs yet (") + health::kHealthFile + ")");
  health::drop_stopped(parts, [&host](const std::string& service) { return service_runs(host, service); });
  std::size_t count = 0;
  for (const auto& [uuid, gpu] : health::merged(parts))
    for (const health::Fault& fault : gpu.faults) {
      if (++count > kMostFindings) break;
      const bool is_fatal = fault.severity == health::Severity::fatal;
      const std::string instance = fault.instance ? ", GPU instance " + std::to_string(*fault.instance) : "";
      const std::string address = nvidia::gpu_address_in(gpu.name);
      findings.add(
          {is_fatal ? Finding::Status::fail : Finding::Status::warning, kName, gpu.name + instance + ": " + fault.text,
           health::remedy_for(fault.remedy + health::wait_text(fault.ends_at), address), nvidia::gpu_cause(address)});
    }
  if (count == 0) findings.pass(kName, "the health rules find nothing wrong with any GPU");
}

}  // namespace slipway::dcgm
