// SPDX-License-Identifier: Apache-2.0
#include "dcgm/health/told.hpp"

#include <filesystem>

#include <fcntl.h>
#include <unistd.h>

#include <slipway/json.hpp>
#include <slipway/unix_socket.hpp>
#include <slipway/write/new_file.hpp>

#include "nvidia/machine/causes.hpp"

namespace slipway::dcgm {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFile = "/run/slipway/dcgm/health.json";
constexpr const char* kName = "dcgm.health";
constexpr std::size_t kMostBytes = std::size_t{4} << 20U;
constexpr std::size_t kMostFindings = 64;

std::string text_at(const Json& entry, const char* key) {
  return entry.contains(key) && entry[key].is_string() ? entry[key].get<std::string>() : std::string();
}

}  // namespace

Status HealthFile::write(const std::vector<ToldReason>& reasons, const ScrapeProblem& scrape) {
  Json list = Json::array();
  for (const ToldReason& reason : reasons)
    list.push_back({{"device", reason.device},
                    {"severity", to_string(reason.severity)},
                    {"text", reason.text},
                    {"remedy", reason.remedy}});
  Json file{{"apiVersion", "slipway.dev/v1"}, {"kind", "GpuHealth"}, {"reasons", std::move(list)}};
  if (!scrape.text.empty()) file["scrape"] = {{"text", scrape.text}, {"remedy", scrape.remedy}};
  std::string text = pretty(file);
  if (text == text_) return {};
  SLIPWAY_CHECK(replace_file(root_, kFile, text));
  text_ = std::move(text);
  return {};
}

void HealthFile::remove() {
  if (const auto folder = root_.open_at(fs::path(kFile).parent_path().string(), O_RDONLY | O_DIRECTORY))
    (void)::unlinkat(folder->get(), fs::path(kFile).filename().c_str(), 0);
  text_.clear();
}

void add_told_health(const Host& host, Findings& findings) {
  if (!service_runs(host, "dcgm"))
    return findings.not_exercised(kName, "the service does not run, so nobody watches the GPUs for XIDs");
  const auto text = host.read(kFile, kMostBytes);
  if (!text && text.error().code != ErrorCode::not_found)
    return findings.not_exercised(kName, std::string(kFile) + " cannot be read: " + text.error().what);
  const Json told = text ? Json::parse(*text, nullptr, false) : Json();
  const Json reasons = told.is_object() && told.contains("reasons") ? told["reasons"] : Json();
  if (!text)
    return findings.not_exercised(kName, "the service has told nothing of the GPUs yet, as its first sample does");
  if (!reasons.is_array())
    return findings.warning(kName,
                            std::string("the service runs, and ") + kFile +
                                " is none of this version, so the GPUs' health is not known here",
                            "see its log (`journalctl -u slipway-dcgm`), then `systemctl restart slipway-dcgm`");
  if (const Json scrape = told.value("scrape", Json()); scrape.is_object())
    findings.fail("dcgm.scrape", "nobody can scrape: " + text_at(scrape, "text"), text_at(scrape, "remedy"));
  std::size_t count = 0;
  for (const Json& entry : reasons) {
    if (!entry.is_object() || ++count > kMostFindings) break;
    const bool fatal = text_at(entry, "severity") == to_string(nvidia::health::Severity::fatal);
    findings.add({fatal ? Finding::Status::fail : Finding::Status::warning, kName,
                  text_at(entry, "device") + ": " + text_at(entry, "text"), text_at(entry, "remedy"),
                  nvidia::gpu_cause(nvidia::gpu_address_in(text_at(entry, "device")))});
  }
  if (count == 0) findings.pass(kName, "no GPU has anything against it");
}

}  // namespace slipway::dcgm
