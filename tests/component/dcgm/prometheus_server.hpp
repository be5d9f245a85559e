// SPDX-License-Identifier: Apache-2.0
// tests/component/dcgm/prometheus_server.hpp - Debian's Prometheus, which scrapes a service of a test, and questions to
// it.
#pragma once

#include <cctype>
#include <string>
#include <vector>

#include "tests/component/service/http_client.hpp"
#include "tests/component/service/running_service.hpp"

namespace slipway::testing {

/// Ends with the test.
class PrometheusServer {
 public:
  /// @param rules  a file of alerts in the host's folder; empty: none
  PrometheusServer(const ScratchHost& host, std::uint16_t port, std::uint16_t target, const std::string& rules = {}) {
    host.folder().file("prometheus.yml",
                       "global: {scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s}\n" +
                           (rules.empty() ? "" : "rule_files: ['" + rules + "']\n") +
                           "scrape_configs: [{job_name: gpus, static_configs: [{targets: ['127.0.0.1:" +
                           std::to_string(target) + "']}]}]\n");
    pid_ = spawn({.words = {"/usr/bin/prometheus", "--config.file=" + host.folder().at("prometheus.yml").string(),
                            "--storage.tsdb.path=" + host.folder().at("tsdb").string(),
                            "--web.listen-address=127.0.0.1:" + std::to_string(port)},
                  .out = host.folder().at("prometheus.log").string(),
                  .err = host.folder().at("prometheus.log").string()});
  }
  PrometheusServer(const PrometheusServer&) = delete;
  PrometheusServer& operator=(const PrometheusServer&) = delete;
  ~PrometheusServer() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }

 private:
  pid_t pid_;
};

inline std::string url_encoded(const std::string& text) {
  constexpr const char* kDigits = "0123456789ABCDEF";
  std::string encoded;
  for (const char letter : text) {
    const auto byte = static_cast<unsigned char>(letter);
    if (std::isalnum(byte) != 0)
      encoded += letter;
    else
      encoded += {'%', kDigits[byte >> 4U], kDigits[byte & 15U]};
  }
  return encoded;
}

/// Returns the values in a query's answer.
inline std::vector<std::string> ask(std::uint16_t port, const std::string& query) {
  std::vector<std::string> values;
  const Json answer = Json::parse(http_body(port, "/api/v1/query?query=" + url_encoded(query)), nullptr, false);
  if (!answer.is_object() || answer.value("status", "") != "success") return values;
  for (const Json& each : answer["data"]["result"]) values.push_back(each["value"][1].get<std::string>());
  return values;
}

}  // namespace slipway::testing
