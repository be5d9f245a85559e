// SPDX-License-Identifier: Apache-2.0
#include "core/journal/records.hpp"

#include <gtest/gtest.h>

#include "core/journal/unproven.hpp"

namespace slipway::core {
namespace {

TEST(Records, OfAComponentAreWrittenAsTheyWereRead) {
  const std::string text =
      R"({"component":"acme","items":[{"action":{"kind":"file","target":"/etc/x"},"original":{"type":"absent"},)"
      R"("record":{"digest":"sha256:ab"}},{"action":{"kind":"file","target":"/etc/z"},"original":{"type":"absent"},)"
      R"("record":{},"replaced":{"2":{"type":"absent"}}}],"order":3,"outputs":{"root":"/"}})";
  const Ownership owned = ownership_from_json(Json::parse(text));
  EXPECT_EQ(canonical(to_json(owned)), text);
  ASSERT_NE(owned.find("file /etc/x"), nullptr);
  EXPECT_EQ(owned.find("file /etc/x")->action.target(), "/etc/x");
  EXPECT_EQ(owned.find("file /etc/y"), nullptr);
}

TEST(Records, OfAGenerationHaveAcceptedEdits) {
  Generation generation;
  EXPECT_FALSE(to_json(generation).contains("accepted"));
  generation.accepted["acme"]["file /etc/x"] = {{"of", "sha256:ab"}, {"edit", {{"mode", 420}}}};
  EXPECT_EQ(generation_from_json(to_json(generation)).accepted, generation.accepted);
  Json wrong = to_json(generation);
  wrong["accepted"]["acme"] = 1;
  EXPECT_THROW(generation_from_json(wrong), Json::exception);
}

TEST(Records, OfProductsAreWrittenAsTheyWereRead) {
  const std::string text = R"({"/etc/ld.so.cache":{"original":{"type":"absent"},"trigger":"ldconfig"},)"
                           R"("/usr/lib/slipway/store/a":{"original":{"type":"absent"},"store":"a","trigger":""}})";
  const auto products = products_from_json(Json::parse(text));
  EXPECT_EQ(canonical(to_json(products)), text);
  EXPECT_EQ(products.at("/etc/ld.so.cache").trigger, "ldconfig");
  EXPECT_EQ(products.at("/usr/lib/slipway/store/a").store, "a");
}

TEST(Records, OfAnUnprovenChangeAreWrittenAsTheyWereRead) {
  const std::string text =
      R"({"attempts":1,"before":2,"boot_id":"b","failed":false,"generation":3,"returned":["driver/set-cd"],)"
      R"("stores":{"driver":{"component":"driver","former":["set-ab"],"set":"set-cd"}},"verified":false})";
  const UnprovenChange change = unproven_from_json(Json::parse(text));
  EXPECT_EQ(canonical(to_json(change)), text);
  EXPECT_TRUE(change.waits());
  EXPECT_TRUE(has_store_names(change));
  EXPECT_TRUE(unproven_from_json({{"stores", Json::object()}}).is_empty());
  EXPECT_THROW(unproven_from_json(Json::object()), Json::exception);
}

// The record is in a root that may be another user's image, and its names become paths.
TEST(Records, OfAnUnprovenChangeNameNoFolderOutsideTheStore) {
  const UnprovenChange good{.stores = {{"driver", {"driver", "set-cd", {"set-ab"}}}}};
  EXPECT_TRUE(has_store_names(good));
  for (const std::string name : {"..", "a/b", "", "set-/../x", "set-a/b"}) {
    EXPECT_FALSE(has_store_names({.stores = {{"driver", {"driver", "set-cd", {name}}}}})) << name;
    EXPECT_FALSE(has_store_names({.stores = {{"driver", {"driver", name, {"set-ab"}}}}})) << name;
    EXPECT_FALSE(has_store_names({.stores = {{name + "/", {"driver", "set-cd", {"set-ab"}}}}})) << name;
  }
  EXPECT_FALSE(has_store_names({.stores = {{"driver", {"driver", "set-cd", {}}}}}));
}

}  // namespace
}  // namespace slipway::core
