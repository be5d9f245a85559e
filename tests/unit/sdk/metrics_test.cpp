// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include <gtest/gtest.h>

#include <slipway/service/metrics.hpp>

namespace slipway {
namespace {

TEST(Metrics, AreWrittenAsPrometheusReadsThem) {
  MetricsText metrics;
  metrics.begin("gpu_healthy", "1 when it may be handed out");
  metrics.sample({{"uuid", "GPU-1"}, {"reason", ""}}, true);
  metrics.sample({{"uuid", "GPU-2"}, {"reason", "xid-79"}}, false);
  metrics.begin("errors_total", "Errors since the start", "counter");
  metrics.sample({}, std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(std::move(metrics).take(),
            "# HELP gpu_healthy 1 when it may be handed out\n# TYPE gpu_healthy gauge\n"
            "gpu_healthy{uuid=\"GPU-1\",reason=\"\"} 1\ngpu_healthy{uuid=\"GPU-2\",reason=\"xid-79\"} 0\n"
            "# HELP errors_total Errors since the start\n# TYPE errors_total counter\n"
            "errors_total 18446744073709551615\n");
}

// Before the fix, one byte of a file of counters that was not UTF-8 made Prometheus refuse the whole page.
TEST(Metrics, AreUtf8ForAnyText) {
  const auto shown = [](std::string_view text) { return MetricsText::rendered({{"a", text}}); };
  EXPECT_EQ(shown("\u00e9\u20ac\U0001f600"), "{a=\"\u00e9\u20ac\U0001f600\"}");
  for (const std::string_view text : {"x\xff", "x\xc3", "x\xc0", "x\xf5"}) EXPECT_EQ(shown(text), "{a=\"x\ufffd\"}");
  EXPECT_EQ(shown("\xed\xa0\x80"), "{a=\"\ufffd\ufffd\ufffd\"}") << "half of a pair of UTF-16";
  EXPECT_EQ(shown("\xe2\x82\"}"), "{a=\"\ufffd\ufffd\\\"}\"}") << "a quote behind half a letter";
  EXPECT_EQ(shown(std::string_view("a\0b", 3)), "{a=\"a\ufffdb\"}");
}

TEST(Metrics, EscapeQuotesAndLineEnds) {
  MetricsText metrics;
  metrics.begin("m", "a \"b\"\\\nc");
  metrics.sample({{"container", "a\"b\\c\nd"}}, 0);
  EXPECT_EQ(std::move(metrics).take(),
            "# HELP m a \"b\"\\\\\\nc\n# TYPE m gauge\nm{container=\"a\\\"b\\\\c\\nd\"} 0\n");
}

TEST(Metrics, WriteRealNumbersInFull) {
  MetricsText metrics;
  metrics.begin("m", "");
  for (const double each : {0.1, 1e300, -2.0, std::numeric_limits<double>::infinity(),
                            -std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()})
    metrics.sample({}, each);
  EXPECT_EQ(std::move(metrics).take(), "# HELP m \n# TYPE m gauge\nm 0.1\nm 1e+300\nm -2\nm +Inf\nm -Inf\nm NaN\n");
}

}  // namespace
}  // namespace slipway
