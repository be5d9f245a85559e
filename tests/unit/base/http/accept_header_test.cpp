// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "base/http/http_listener.hpp"

namespace slipway::base {
namespace {

TEST(Accept, PrefersTheGreaterWeight) {
  // The header of Prometheus 2.42.
  EXPECT_TRUE(
      prefers_openmetrics("application/openmetrics-text;version=1.0.0,application/openmetrics-text;version="
                          "0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1"));
  EXPECT_TRUE(prefers_openmetrics("application/openmetrics-text; version=1.0.0; q=0.4, text/plain;q=0.3"));
  EXPECT_TRUE(prefers_openmetrics("application/openmetrics-text"));
  EXPECT_FALSE(prefers_openmetrics(""));
  EXPECT_FALSE(prefers_openmetrics("*/*"));
  EXPECT_FALSE(prefers_openmetrics("text/plain"));
  EXPECT_FALSE(prefers_openmetrics("application/openmetrics-text;q=0.2,text/plain;q=0.8"));
  EXPECT_FALSE(prefers_openmetrics("application/openmetrics-text;q=0"));
  EXPECT_FALSE(prefers_openmetrics("application/openmetrics-text;version=2.0.0"));
  EXPECT_FALSE(prefers_openmetrics(";;;,,q=,=;q=0."));
  EXPECT_FALSE(prefers_openmetrics(std::string(4096, ',')));
}

}  // namespace
}  // namespace slipway::base
