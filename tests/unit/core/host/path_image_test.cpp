// SPDX-License-Identifier: Apache-2.0
#include "core/host/path_image.hpp"

#include <gtest/gtest.h>

namespace slipway::core {
namespace {

/// In the form of earlier slipways' journals and records.
constexpr const char* kTexts[] = {
    R"({"type":"absent"})",
    R"({"missing_parents":["/etc/a","/etc/a/b"],"type":"absent"})",
    R"({"attributes":{"user.note":"00ff"},"digest":"sha256:ab","gid":2,"mode":416,"mtime_ns":1700000000000000007,"type":"regular","uid":1})",
    R"({"gid":0,"mode":493,"mtime_ns":0,"type":"directory","uid":0})",
    R"({"gid":0,"mode":511,"mtime_ns":5,"points_to":"../x","type":"symlink","uid":0})",
    R"({"device":{"major":195,"minor":255,"type":"character"},"gid":0,"mode":438,"mtime_ns":5,"type":"other","uid":0})",
    R"({"gid":0,"mode":438,"mtime_ns":5,"type":"other","uid":0})",
};

TEST(PathImage, IsWrittenAsItWasRead) {
  for (const char* text : kTexts) EXPECT_EQ(canonical(to_json(path_image_from_json(Json::parse(text)))), text);
}

TEST(PathImage, CanBeAbsent) {
  EXPECT_TRUE(is_absent(Json::parse(kTexts[1])));
  EXPECT_FALSE(is_absent(Json::parse(kTexts[2])));
  EXPECT_FALSE(is_absent(Json())) << "nothing is known of it";
  EXPECT_FALSE(is_absent(Json{{"links", Json::object()}})) << "an image of several paths";
}

}  // namespace
}  // namespace slipway::core
