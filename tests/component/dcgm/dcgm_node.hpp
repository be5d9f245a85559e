// SPDX-License-Identifier: Apache-2.0
// tests/component/dcgm/dcgm_node.hpp - a simulated machine with the service dcgm, and access to the answer of a scrape.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include <slipway/text.hpp>

#include "tests/component/service/http_client.hpp"
#include "tests/component/service/running_service.hpp"

namespace slipway::testing {

/// The page of a scrape.
struct Page {
  std::string text;

  /// Returns the samples of a metric, each as its line.
  std::vector<std::string> of(const std::string& metric) const {
    std::vector<std::string> found;
    for (const std::string& line : lines_of(text))
      if (line.starts_with(metric + "{") || line.starts_with(metric + " ")) found.push_back(line);
    return found;
  }
  std::size_t count(const std::string& metric) const { return of(metric).size(); }
  /// Returns the value of the only sample that contains `part`; empty if no sample contains it, or several do.
  std::string value(const std::string& metric, const std::string& part = {}) const {
    std::vector<std::string> found = of(metric);
    std::erase_if(found, [&](const std::string& line) { return line.find(part) == std::string::npos; });
    return found.size() == 1 ? found.front().substr(found.front().rfind(' ') + 1) : "";
  }
};

class DcgmNode : public ::testing::Test {
 protected:
  DcgmNode() { spec(""); }
  /// @param keys  further keys, each after a comma
  void spec(const std::string& keys) const {
    host_.spec("    dcgm: {listen: \"127.0.0.1:" + std::to_string(port_) + "\", node: node-1, interval: " + interval_ +
               keys + "}\n");
  }
  std::vector<std::string> words(const std::vector<std::string>& command) const {
    std::vector<std::string> all = command;
    for (const auto& word :
         {std::string("-f"), host_.folder().at("host.yaml").string(), std::string("--sim"), machine_})
      all.push_back(word);
    return all;
  }
  std::vector<std::string> service_words() const { return words({"service", "dcgm"}); }
  /// Changes the simulated machine under the running service, or queries it.
  Ran sim(const std::string& words) const {
    std::vector<std::string> all{host_.path("run/slipway/sim").string()};
    for (const std::string& word : split(words, ' ')) all.push_back(word);
    ScratchHost tool;
    tool.program = SLIPWAY_SIM_PROGRAM;
    const Ran ran = tool.bare(all);
    EXPECT_EQ(ran.code, 0) << words << ran.err;
    return ran;
  }
  /// Returns how often the simulated NVML had that call.
  int calls_of(const std::string& function) const {
    const std::string text = "\n" + sim("calls").out;
    const std::size_t at = text.find("\n" + function + " ");
    return at == std::string::npos ? 0 : std::stoi(text.substr(at + function.size() + 2));
  }
  Page scrape() const { return {http_body(port_, "/metrics")}; }
  std::string health() const { return http_get(port_, "/health"); }
  /// True when the page meets the condition in time.
  template <class Condition>
  bool page_gets(const Condition& holds) const {
    return eventually([&] { return holds(scrape()); });
  }
  bool has_gpus(std::size_t count) const {
    return page_gets([count](const Page& page) { return page.count("DCGM_FI_DEV_GPU_TEMP") == count; });
  }

  ScratchHost host_;
  std::uint16_t port_ = free_port();
  std::string interval_ = "100ms";
  std::string machine_ = "h100x8,driver=550.90.07";
};

}  // namespace slipway::testing
