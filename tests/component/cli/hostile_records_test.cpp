// SPDX-License-Identifier: Apache-2.0
// Files that another user may have left in a root, or in a folder that a command line names: records in no slipway
// format, logs without an end, links that lead out.
#include "tests/component/cli/driver_root.hpp"

namespace slipway {
namespace {

namespace fs = std::filesystem;
using slipway::testing::DriverRoot;
using slipway::testing::Ran;
using ::testing::EndsWith;
using ::testing::HasSubstr;

constexpr const char* kRecord = "var/lib/slipway/components/driver.json";
constexpr const char* kLog = "var/log/slipway/history.jsonl";

/// Creates a file that is three days old.
fs::path old_file(const DriverRoot& root, const std::string& name) {
  root.folder().file(name, "bytes");
  const fs::path path = root.folder().at(name);
  fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(72));
  return path;
}

Ran gc(const DriverRoot& root, const std::string& cache) {
  return root.bare({"gc", "--root", root.folder().at("root").string(), "--cache", root.folder().at(cache).string(),
                    "--sim", "h100x8"});
}

/// Runs `slipway log` on the root as for an image.
Ran log_of(const DriverRoot& root, const std::string& output) {
  return root.bare({"log", "--root", root.folder().at("root").string(), "-o", output});
}

/// Edits the driver's record.
void edit_record(const DriverRoot& root, const std::function<void(Json&)>& edit) {
  Json record = Json::parse(root.text(kRecord));
  edit(record);
  root.put(kRecord, record.dump());
}

// Before the fix, a link at CACHE/blobs/sha256 was followed, and root removed any old file behind it.
TEST(Gc, RemovesNothingBehindALinkInTheCache) {
  const DriverRoot root;
  ASSERT_EQ(root.run({"apply"}).code, 0);
  const fs::path victim = old_file(root, "victim/" + std::string(64, 'a'));
  root.folder().link("linked/blobs/sha256", root.folder().at("victim").string());
  root.folder().directory("victim2/sha256");
  const fs::path other = old_file(root, "victim2/sha256/" + std::string(64, 'b'));
  root.folder().link("linked2/blobs", root.folder().at("victim2").string());
  const auto before = root.tree();
  expect_refused(root, gc(root, "linked"), 1, {"linked/blobs/sha256 is a link", "do:"}, before);
  expect_refused(root, gc(root, "linked2"), 1, {"linked2/blobs is a link", "do:"}, before);
  EXPECT_TRUE(fs::exists(victim) && fs::exists(other));
}

TEST(Gc, RemovesOnlyFilesNamedLikeDownloads) {
  const DriverRoot root;
  ASSERT_EQ(root.run({"apply"}).code, 0);
  const std::string blobs = "other/blobs/sha256/";
  const fs::path download = old_file(root, blobs + std::string(64, 'b'));
  const fs::path begun = old_file(root, blobs + std::string(64, 'c') + ".partial");
  const std::vector<fs::path> kept{old_file(root, blobs + "passwd"), old_file(root, blobs + std::string(64, 'B')),
                                   old_file(root, blobs + std::string(63, 'b')),
                                   old_file(root, blobs + std::string(64, 'b') + ".conf"),
                                   old_file(root, blobs + std::string(64, 'b') + ".partial.partial")};
  const Ran ran = gc(root, "other");
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_FALSE(fs::exists(download) || fs::exists(begun));
  for (const fs::path& file : kept) EXPECT_TRUE(fs::exists(file)) << file;
}

// A package's blobs have names like downloads, and no generation needs them.
TEST(Gc, RefusesAPackageLayoutInsteadOfACache) {
  const DriverRoot root;
  ASSERT_EQ(root.run({"apply"}).code, 0);
  const fs::path blob = old_file(root, "layout/blobs/sha256/" + std::string(64, 'b'));
  const fs::path index_alone = old_file(root, "index/blobs/sha256/" + std::string(64, 'b'));
  root.folder().file("layout/oci-layout", R"({"imageLayoutVersion":"1.0.0"})");
  root.folder().file("index/index.json", "{}");
  const auto before = root.tree();
  expect_refused(root, gc(root, "layout"), 1, {"is a package layout, not a cache", "oci-layout", "do:"}, before);
  expect_refused(root, gc(root, "index"), 1, {"is a package layout, not a cache", "index.json", "do:"}, before);
  EXPECT_TRUE(fs::exists(blob) && fs::exists(index_alone));
}

TEST(Gc, RefusesACacheThatOthersMayWriteTo) {
  const DriverRoot root;
  ASSERT_EQ(root.run({"apply"}).code, 0);
  const fs::path blob = old_file(root, "shared/blobs/sha256/" + std::string(64, 'b'));
  fs::permissions(root.folder().at("shared/blobs"), fs::perms(0777));
  const auto before = root.tree();
  expect_refused(root, gc(root, "shared"), 1, {"users other than root and you may write to", "shared/blobs", "do:"},
                 before);
  EXPECT_TRUE(fs::exists(blob));
}

TEST(Gc, LeavesADownloadOfAnotherUserAlone) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root, to give a file away";
  const DriverRoot root;
  ASSERT_EQ(root.run({"apply"}).code, 0);
  const fs::path theirs = old_file(root, "other/blobs/sha256/" + std::string(64, 'b'));
  const fs::path ours = old_file(root, "other/blobs/sha256/" + std::string(64, 'c'));
  ASSERT_EQ(::chown(theirs.c_str(), 65534, 65534), 0);
  const Ran ran = gc(root, "other");
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_TRUE(fs::exists(theirs));
  EXPECT_FALSE(fs::exists(ours));
}

// Before the fix, the link's target on the machine itself was measured, and its target in the root was removed.
TEST(Gc, DoesNotFollowLinks) {
  const DriverRoot root;
  ASSERT_EQ(root.run({"apply"}).code, 0);
  const std::string name(64, 'd');
  root.folder().file("outside/" + name, std::string(3 << 20, 'x'));
  const std::string outside = root.folder().at("outside").string();
  root.put(outside.substr(1) + "/" + name, "of the image");
  fs::remove_all(root.path("var/lib/slipway/originals"));
  root.folder().link("root/var/lib/slipway/originals", outside);
  const Ran ran = root.run({"gc", "-o", "json"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  const Json garbage = Json::parse(ran.out);
  EXPECT_EQ(garbage["paths"], Json::array());
  EXPECT_EQ(garbage["bytes"], 0);
  EXPECT_TRUE(fs::exists(root.path(outside.substr(1) + "/" + name)));
}

// A store without `current` is removed completely; before the fix, `..` in its name made any folder of the root such a
// store.
TEST(Gc, RefusesAPathAsTheNameOfAStore) {
  const DriverRoot root;
  ASSERT_EQ(root.run({"apply"}).code, 0);
  root.put("srv/data", std::string(3 << 20, 'x'));
  edit_record(root, [](Json& record) {
    for (const std::string target : {"../../../../srv", "..", "driver/..", "."})
      record["items"].push_back({{"action", {{"kind", "unpack"}, {"target", target}, {"layers", Json::array()}}},
                                 {"original", Json::object()},
                                 {"record", Json::object()}});
  });
  const auto before = root.tree();
  const Ran ran = root.run({"gc", "-o", "json"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(Json::parse(ran.out)["bytes"], 0);
  EXPECT_EQ(root.tree(), before);
}

// Before the fix, the missing time of a begin event was looked up in a constant object: the program crashed.
TEST(Log, AcceptsAStartEventWithoutATime) {
  const DriverRoot root;
  root.put(kLog, "{\"event\":\"begin\",\"id\":\"x\",\"command\":\"apply\"}\n{\"event\":\"end\",\"id\":\"x\"}\n");
  const Ran ran = log_of(root, "json");
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(Json::parse(ran.out)["entries"], Json::parse(R"([{"command": "apply", "id": "x", "result": "cut off"}])"));
  EXPECT_EQ(log_of(root, "text").code, 0);
}

// Before the fix, all events of one id became one entry, which was copied for each of them: 20,000 took 40 s.
TEST(Log, JoinsAStartEventWithItsEndEvent) {
  const DriverRoot root;
  root.put(kLog,
           "{\"event\":\"begin\",\"id\":\"x\",\"command\":\"apply\",\"time\":\"2026-01-01T00:00:00Z\"}\n"
           "{\"event\":\"end\",\"id\":\"x\",\"time\":\"2026-01-01T00:01:00Z\",\"result\":\"done\",\"k1\":1,"
           "\"command\":\"remove\"}\n"
           "{\"event\":\"end\",\"id\":\"x\",\"time\":\"2026-01-01T00:02:00Z\",\"result\":\"failed\"}\n");
  const Ran ran = log_of(root, "json");
  ASSERT_EQ(ran.code, 0) << ran.err;
  const Json entries = Json::parse(ran.out)["entries"];
  ASSERT_EQ(entries.size(), 2U) << entries.dump(2);
  EXPECT_EQ(entries[0], Json::parse(R"({"command": "apply", "ended": "2026-01-01T00:01:00Z", "id": "x",
                                        "result": "done", "time": "2026-01-01T00:00:00Z"})"));
  EXPECT_EQ(entries[1]["result"], "failed");
}

TEST(Log, ReadsTheNewestEventsOfARootThatHasTooMany) {
  const DriverRoot root;
  std::string older;
  std::string newer;
  for (int n = 0; n < 6'000; ++n) {
    older += "{\"event\":\"image\",\"generation\":" + std::to_string(n) + "}\n";
    newer += "{\"event\":\"image\",\"generation\":" + std::to_string(6'000 + n) + "}\n";
  }
  root.put(std::string(kLog) + ".1", older);
  root.put(kLog, newer);
  const Ran ran = log_of(root, "json");
  ASSERT_EQ(ran.code, 0) << ran.err;
  const Json entries = Json::parse(ran.out)["entries"];
  ASSERT_EQ(entries.size(), 10'000U);
  EXPECT_EQ(entries.front()["generation"], 2'000);
  EXPECT_EQ(entries.back()["generation"], 11'999);
  EXPECT_THAT(ran.err, HasSubstr("only the newest 10000 events"));
  EXPECT_THAT(ran.err, HasSubstr("/var/log/slipway"));
}

// Before the fix, the oldest lines were removed one by one, each time with a copy of all others: with four million
// empty lines an apply never ended, and the root stayed locked.
TEST(Log, OfAnImageIsShortenedQuickly) {
  const DriverRoot root;
  root.put(kLog, std::string((4U << 20U) - 10, '\n'));
  const Ran ran = root.run({"apply"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  const std::string log = root.text(kLog);
  EXPECT_EQ(log.size(), 1U << 20U) << "as much as there is room for";
  EXPECT_EQ(Json::parse(log)["command"], "apply") << "the rest of it is empty lines";
  EXPECT_THAT(log, EndsWith("}\n"));
}

// Before the fix, the digest of the original was computed first, over a terabyte of zeros.
TEST(Repair, ReadsNoOversizedOriginal) {
  const DriverRoot root;
  ASSERT_EQ(root.run({"apply"}).code, 0);
  const std::string hex(64, 'a');
  const std::string original = "var/lib/slipway/originals/" + hex;
  root.put(original, "");
  std::error_code problem;
  fs::resize_file(root.path(original), std::uintmax_t{1} << 40U, problem);
  if (problem) GTEST_SKIP() << "this filesystem has no files of a terabyte";
  fs::permissions(root.path(original), fs::perms(0600));
  std::string target;
  edit_record(root, [&](Json& record) {
    for (Json& item : record["items"]) {
      if (item["action"]["kind"] != "file") continue;
      item["original"] = {{"type", "regular"}, {"digest", "sha256:" + hex}, {"mode", 420}, {"uid", 0}, {"gid", 0}};
      target = item["action"]["target"];
      break;
    }
  });
  ASSERT_FALSE(target.empty());
  const Ran removal = root.run({"remove", "driver"});
  EXPECT_EQ(removal.code, 1) << removal.out;
  EXPECT_THAT(removal.err + removal.out, HasSubstr("at:    /var/lib/slipway/originals/" + hex));
  const Ran repair = root.slipway({"repair"});
  EXPECT_EQ(repair.code, 0) << repair.err;
  EXPECT_THAT(repair.out, HasSubstr(target));
  EXPECT_TRUE(fs::exists(root.path("var/lib/slipway/damaged/originals-" + hex + ".1")));
  EXPECT_EQ(root.run({"remove", "driver"}).code, 0);
}

// Before the fix, "components-", the name and ".1" exceeded the limit for a file name, so that every repair failed.
TEST(Repair, SetsAsideARecordWithTheLongestName) {
  const DriverRoot root;
  ASSERT_EQ(root.run({"apply"}).code, 0);
  const std::string record = "var/lib/slipway/components/" + std::string(250, 'a') + ".json";
  root.put(record, "{}");
  const Ran repair = root.slipway({"repair"});
  EXPECT_EQ(repair.code, 0) << repair.err;
  EXPECT_THAT(repair.out, HasSubstr("such a long name"));
  EXPECT_FALSE(fs::exists(root.path(record)));
  ASSERT_TRUE(fs::exists(root.path("var/lib/slipway/damaged")));
  const fs::directory_iterator aside(root.path("var/lib/slipway/damaged"));
  EXPECT_THAT(aside->path().filename().string(), ::testing::StartsWith("components-aaa"));
  const Ran whole = root.slipway({"repair", "--dry-run"});
  EXPECT_EQ(whole.code, 0) << whole.out << whole.err;
  EXPECT_EQ(root.run({"apply"}).code, 0);
}

}  // namespace
}  // namespace slipway
