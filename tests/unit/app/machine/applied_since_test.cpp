// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "app/machine/facts.hpp"

namespace slipway::app {
namespace {

Json began(const char* id) {
  return {{"event", "begin"}, {"id", id}, {"boot", true}, {"boot_id", "b"}, {"only", {"runtime"}}};
}

Json ended(const char* id, Json components) {
  return {{"event", "end"}, {"id", id}, {"time", "2026-01-01T00:00:00Z"}, {"components", std::move(components)}};
}

// Before the fix, an image's log with a text in place of a component ended `slipway status`.
TEST(PutBack, IsReadFromAnUntrustedLog) {
  const Json good = {{"name", "runtime"}, {"changes", {"/etc/x", 7}}};
  std::vector<Json> events{began("1")};
  for (const Json& strange : {Json("runtime"), Json(7), Json(), Json::array({"runtime"}),
                              Json{{"name", "runtime"}, {"changes", "x"}}, Json{{"name", 7}, {"changes", {1}}}})
    events.push_back(ended("1", Json::array({strange})));
  EXPECT_TRUE(put_back(events, "runtime", "b").is_null());
  events.push_back(ended("1", Json::array({good})));
  EXPECT_EQ(put_back(events, "runtime", "b"),
            (Json{{"times", 1}, {"last", "2026-01-01T00:00:00Z"}, {"changes", {"/etc/x"}}}));
}

}  // namespace
}  // namespace slipway::app
