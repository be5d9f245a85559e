// SPDX-License-Identifier: Apache-2.0
#include "dcgm/settings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <slipway/testing/fake_host.hpp>

#include "nvidia/duration.hpp"

namespace slipway::dcgm {
namespace {

using ::testing::HasSubstr;

TEST(DcgmListen, IsAnAddressAndAPort) {
  const std::vector<std::tuple<std::string, std::string, int>> table{{"127.0.0.1:9400", "127.0.0.1", 9400},
                                                                     {":9400", "::", 9400},
                                                                     {"[::1]:1", "::1", 1},
                                                                     {"0.0.0.0:65535", "0.0.0.0", 65535}};
  for (const auto& [text, address, port] : table) {
    Settings settings;
    EXPECT_TRUE(read_listen(text, settings).ok()) << text;
    EXPECT_EQ(settings.address, address);
    EXPECT_EQ(settings.port, port);
  }
  for (const char* text :
       {"", ":", "9400", "127.0.0.1", "127.0.0.1:", "127.0.0.1:0", "127.0.0.1:65536", "127.0.0.1:94a", "localhost:9400",
        "::1:9400", "[127.0.0.1]:9400", "[::1]", "127.0.0.1:-1", "300.0.0.1:1"}) {
    Settings settings;
    const Status read = read_listen(text, settings);
    ASSERT_FALSE(read.ok()) << text;
    EXPECT_THAT(read.error().next, HasSubstr("127.0.0.1:9400"));
  }
}

TEST(DcgmInterval, HasLimits) {
  EXPECT_EQ(read_interval("100ms", "k").value_or({}), std::chrono::milliseconds(100));
  EXPECT_EQ(read_interval("1m30s", "k").value_or({}), std::chrono::seconds(90));
  EXPECT_EQ(read_interval("1h", "k").value_or({}), std::chrono::hours(1));
  EXPECT_THAT(read_interval("99ms", "k").error().what, HasSubstr("too short"));
  EXPECT_THAT(read_interval("61m", "k").error().what, HasSubstr("too long"));
  for (const char* text : {"", "10", "soon", "-1s", "1 s"})
    EXPECT_THAT(read_interval(text, "k").error().what, HasSubstr("is not an interval")) << text;
}

TEST(Durations, AreWrittenAsTheyAreRead) {
  using std::chrono::milliseconds;
  for (const auto& [length, text] : std::vector<std::pair<int, std::string>>{{0, "0s"},
                                                                             {500, "500ms"},
                                                                             {1000, "1s"},
                                                                             {1500, "1500ms"},
                                                                             {60000, "1m"},
                                                                             {90000, "1m30s"},
                                                                             {3600000, "60m"}}) {
    EXPECT_EQ(nvidia::duration_text(milliseconds(length)), text);
    EXPECT_EQ(nvidia::parse_duration(text), milliseconds(length));
  }
}

TEST(DcgmCounters, ComeFromNoFileOfAnotherUsers) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives files away";
  slipway::testing::FakeHost host;
  host.file("/etc/counters.csv", "DCGM_FI_DEV_GPU_TEMP, gauge, The temperature.\n");
  const ReadFile read = reader_of(host, 1024);
  EXPECT_TRUE(read("/etc/counters.csv"));
  ASSERT_EQ(::chown((host.root_folder() + "/etc/counters.csv").c_str(), 65534, 0), 0);
  EXPECT_EQ(read("/etc/counters.csv").error().code, ErrorCode::denied);
}

TEST(DcgmCounters, ComeFromTheFileThatIsNamed) {
  EXPECT_GT(counters_of("", std::string()).value_or({}).series.size(), 20U);
  EXPECT_EQ(counters_of("/a", std::string("dcgm_gpu_temp, gauge, a")).value_or({}).series.size(), 1U);
  EXPECT_THAT(counters_of("/a", std::string("x")).error().what, HasSubstr("/a:1: "));
  EXPECT_EQ(counters_of("/a", Error{.code = ErrorCode::not_found, .what = "none"}).error().code, ErrorCode::not_found);
}

}  // namespace
}  // namespace slipway::dcgm
