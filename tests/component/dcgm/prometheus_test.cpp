// SPDX-License-Identifier: Apache-2.0
// What Prometheus itself makes of the page: its checker, and a server that scrapes.
#include "tests/component/dcgm/dcgm_node.hpp"

namespace slipway {
namespace {

using slipway::testing::comes_true;
using slipway::testing::DcgmNode;
using slipway::testing::http_body;
using slipway::testing::Ran;
using slipway::testing::RunningService;
using slipway::testing::ScratchHost;
using ::testing::HasSubstr;

using Prometheus = DcgmNode;

/// Ends with the test.
class Server {
 public:
  Server(const ScratchHost& host, std::uint16_t port, std::uint16_t target) {
    host.folder().file("prometheus.yml",
                       "global: {scrape_interval: 1s, scrape_timeout: 1s}\n"
                       "scrape_configs: [{job_name: gpus, static_configs: [{targets: ['127.0.0.1:" +
                           std::to_string(target) + "']}]}]\n");
    pid_ = slipway::testing::spawn(
        {.words = {"/usr/bin/prometheus", "--config.file=" + host.folder().at("prometheus.yml").string(),
                   "--storage.tsdb.path=" + host.folder().at("tsdb").string(),
                   "--web.listen-address=127.0.0.1:" + std::to_string(port)},
         .out = host.folder().at("prometheus.log").string(),
         .err = host.folder().at("prometheus.log").string()});
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }

 private:
  pid_t pid_;
};

/// The values of a query's answer.
std::vector<std::string> ask(std::uint16_t port, const std::string& query) {
  std::vector<std::string> values;
  const Json answer = Json::parse(http_body(port, "/api/v1/query?query=" + query), nullptr, false);
  if (!answer.is_object() || answer.value("status", "") != "success") return values;
  for (const Json& each : answer["data"]["result"]) values.push_back(each["value"][1].get<std::string>());
  return values;
}

// The names of dcgm-exporter break Prometheus' conventions for names; that is all that may be wrong.
TEST_F(Prometheus, FindsNothingWrongInWhatIsScraped) {
  RunningService service(host_, service_words());
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  const std::string page = scrape().text;
  host_.folder().file("page", page);
  ScratchHost shell;
  shell.program = "/bin/sh";
  const Ran checked = shell.bare({"-c", "promtool check metrics < '" + host_.folder().at("page").string() + "'"});
  EXPECT_THAT(checked.code, ::testing::AnyOf(0, 3)) << checked.err << page;
  for (const std::string& line : lines_of(checked.out + checked.err))
    EXPECT_THAT(line, ::testing::AnyOf("", ::testing::StartsWith("DCGM_FI_"))) << "of slipway's own";
}

TEST_F(Prometheus, SeesTheGpusAndAnOutageOfTheDriver) {
  RunningService service(host_, service_words());
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  const std::uint16_t port = slipway::testing::free_port();
  const Server server(host_, port, port_);
  const std::vector<std::string> eight{"8"};
  ASSERT_TRUE(comes_true([&] { return ask(port, "count(DCGM_FI_DEV_GPU_TEMP)") == eight; }))
      << host_.folder().at("prometheus.log");
  EXPECT_EQ(ask(port, "up"), std::vector<std::string>{"1"});
  sim("driver unloaded");
  EXPECT_TRUE(comes_true([&] { return ask(port, "slipway_dcgm_driver_up") == std::vector<std::string>{"0"}; }));
  EXPECT_TRUE(comes_true([&] { return ask(port, "DCGM_FI_DEV_GPU_TEMP").empty(); }));
  EXPECT_EQ(ask(port, "up"), std::vector<std::string>{"1"}) << "the exporter answers all the while";
  sim("driver loaded");
  EXPECT_TRUE(comes_true([&] { return ask(port, "count(DCGM_FI_DEV_GPU_TEMP)") == eight; }));
  EXPECT_EQ(ask(port, "slipway_dcgm_driver_outages_total"), std::vector<std::string>{"1"});
}

}  // namespace
}  // namespace slipway
