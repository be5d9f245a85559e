// SPDX-License-Identifier: Apache-2.0
// The store of compiled modules: the entries that it returns, ignores, and removes first.
#include "core/engine/packages/compiled_cache.hpp"

#include <cstdint>
#include <ctime>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/engine/packages/compiled_key.hpp"
#include "tests/unit/core/host/temp_root.hpp"

namespace slipway::core {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class CompiledCacheTest : public ::testing::Test {
 protected:
  CompiledCacheTest() {
    work.make_folder("/cache");
    work.put("/made/kernel/nvidia.ko", "the module");
    work.put("/made/Module.symvers", "0x1\tsymbol\n");
  }
  static Json key(const std::string& source = "a") {
    return {{"source", "sha256:" + std::string(64, source.front())}, {"live", true}};
  }
  CompiledCache cache(std::uint64_t limit = kCompiledBytes) const { return CompiledCache(work.at("/cache"), limit); }
  void keep(const Json& of, std::uint64_t limit = kCompiledBytes) const {
    const Status kept = cache(limit).keep(of, "NVIDIA 535", work.at("/made"));
    ASSERT_TRUE(kept.ok()) << to_text(kept.error());
  }
  std::string entry(const Json& of) const { return "/cache/compiled/" + compiled_name(of); }
  /// Returns how take() ends: "taken", "none" or its error.
  std::string take(const Json& of) const {
    std::filesystem::remove_all(work.at("/into"));
    const auto taken = cache().take(of, work.at("/into"));
    if (!taken) {
      EXPECT_FALSE(work.has("/into"));
      return std::string(to_string(taken.error().code)) + ": " + taken.error().what;
    }
    EXPECT_EQ(work.has("/into"), *taken);
    return *taken ? "taken" : "none";
  }
  /// Makes the entry one that was used that many seconds ago.
  void age(const std::string& path, std::time_t seconds) const {
    const timespec time{std::time(nullptr) - seconds, 0};
    const timespec both[] = {time, time};
    ASSERT_EQ(::utimensat(AT_FDCWD, work.at(path).c_str(), both, 0), 0);
  }
  std::vector<std::string> unneeded(const std::set<std::string>& needed, std::uint64_t limit = kCompiledBytes) const {
    const auto found = cache(limit).unneeded(needed, std::time(nullptr));
    EXPECT_TRUE(found.ok());
    std::vector<std::string> folders;
    for (const CompiledEntry& each : found.value_or({})) folders.push_back(each.folder);
    return folders;
  }

  test::TempRoot work;
};

TEST_F(CompiledCacheTest, GivesBackWhatWasKeptForThisKeyAlone) {
  EXPECT_TRUE(cache().absent());
  EXPECT_FALSE(cache().has(key()));
  EXPECT_EQ(take(key()), "none");
  keep(key());
  EXPECT_FALSE(cache().absent());
  EXPECT_TRUE(cache().has(key()));
  EXPECT_EQ(take(key()), "taken");
  EXPECT_EQ(work.content("/into/kernel/nvidia.ko"), "the module");
  EXPECT_EQ(work.content("/into/Module.symvers"), "0x1\tsymbol\n");
  EXPECT_FALSE(cache().has(key("b")));
  EXPECT_EQ(take(key("b")), "none");
  EXPECT_EQ(work.mode("/cache/compiled"), 0700U);
  EXPECT_EQ(work.mode(entry(key())), 0700U);
}

TEST_F(CompiledCacheTest, NeverGivesBackADamagedEntryAndReplacesItLater) {
  const auto damage = [&](const std::string& name, const std::string& file, const std::string& content,
                          const std::string& says) {
    keep(key());
    work.put(entry(key()) + file, content);
    EXPECT_THAT(take(key()), HasSubstr(says)) << name;
    keep(key());
    EXPECT_EQ(take(key()), "taken") << name;
    EXPECT_EQ(work.content("/into/kernel/nvidia.ko"), "the module") << name;
  };
  damage("other bytes", "/files/kernel/nvidia.ko", "the modulE", "kernel/nvidia.ko has another content");
  damage("cut off", "/files/kernel/nvidia.ko", "the", "damaged");
  damage("one more", "/files/kernel/more.ko", "x", "kernel/more.ko was not in the layer");
  damage("no record", "/entry.json", "", "entry.json lacks a member that slipway writes");
  damage("foreign record", "/entry.json", R"({"key": 1, "name": 2, "list": 3})",
         "entry.json lacks a member that slipway writes");
  damage("record of others", "/entry.json", R"({"key": {}, "name": "x", "list": ""})", "describes other modules");
  keep(key());
  std::filesystem::remove(work.at(entry(key()) + "/files/kernel/nvidia.ko"));
  EXPECT_THAT(take(key()), HasSubstr("kernel/nvidia.ko is missing"));
}

TEST_F(CompiledCacheTest, FollowsNoLink) {
  keep(key());
  std::filesystem::rename(work.at(entry(key())), work.at("/elsewhere"));
  work.link(entry(key()), work.at("/elsewhere"));
  EXPECT_THAT(take(key()), AllOf(HasSubstr("invalid"), HasSubstr("is a link, or not a folder")));
  EXPECT_FALSE(cache().has(key()));
  EXPECT_TRUE(unneeded({}).empty());
  keep(key());
  EXPECT_EQ(take(key()), "taken") << "a new entry takes the link's place";
  EXPECT_TRUE(work.has("/elsewhere/files/kernel/nvidia.ko"));

  work.put("/secret", "the module");
  std::filesystem::remove(work.at(entry(key()) + "/files/kernel/nvidia.ko"));
  work.link(entry(key()) + "/files/kernel/nvidia.ko", work.at("/secret"));
  EXPECT_THAT(take(key()), HasSubstr("is neither a file nor a folder"));

  std::filesystem::remove_all(work.at("/cache/compiled"));
  work.make_folder("/other");
  work.link("/cache/compiled", work.at("/other"));
  EXPECT_THAT(take(key()), HasSubstr("/cache/compiled is a link, or not a folder"));
  const Status kept = cache().keep(key(), "NVIDIA 535", work.at("/made"));
  EXPECT_FALSE(kept.ok());
  EXPECT_TRUE(std::filesystem::is_empty(work.at("/other")));
}

TEST_F(CompiledCacheTest, TrustsOnlyWhatNoOtherUserCouldHaveWritten) {
  keep(key());
  const auto refused = [&](const std::string& path) {
    ASSERT_EQ(::chmod(work.at(path).c_str(), 0777), 0);
    EXPECT_THAT(take(key()), AllOf(HasSubstr("denied"), HasSubstr("users other than root and you may write to")))
        << path;
    ASSERT_EQ(::chmod(work.at(path).c_str(), 0700), 0);
  };
  refused("/cache");
  refused("/cache/compiled");
  refused(entry(key()));
  refused(entry(key()) + "/files");
  refused(entry(key()) + "/entry.json");
  if (::geteuid() != 0) return;
  ASSERT_EQ(::chown(work.at(entry(key())).c_str(), 1000, 1000), 0);
  EXPECT_THAT(take(key()), HasSubstr("denied"));
  EXPECT_FALSE(cache().has(key()));
  age(entry(key()), 1'000'000);
  EXPECT_TRUE(unneeded({}).empty()) << "another user's";
}

TEST_F(CompiledCacheTest, RemovesTheLeastRecentlyUsedBeyondTheLimit) {
  work.put("/made/kernel/nvidia.ko", std::string(100'000, 'x'));
  constexpr std::uint64_t kTwo = 250'000;
  keep(key("a"), kTwo);
  keep(key("b"), kTwo);
  age(entry(key("a")), 20);
  age(entry(key("b")), 10);
  EXPECT_EQ(take(key("a")), "taken") << "and is now the newest";
  keep(key("c"), kTwo);
  EXPECT_EQ(take(key("a")), "taken");
  EXPECT_EQ(take(key("b")), "none");
  EXPECT_EQ(take(key("c")), "taken");

  work.put("/made/kernel/nvidia.ko", std::string(300'000, 'x'));
  keep(key("d"), kTwo);
  EXPECT_EQ(take(key("d")), "none") << "larger than the limit";
  EXPECT_EQ(take(key("a")), "taken") << "and nothing had to go for it";
  age(entry(key("a")), 20);
  EXPECT_EQ(unneeded({std::string(64, 'a'), std::string(64, 'c')}, 150'000),
            std::vector<std::string>{compiled_name(key("a"))});
}

TEST_F(CompiledCacheTest, WithoutUseOfADayOnlyWhatAGenerationNeedsStays) {
  for (const std::string source : {"a", "b", "c"}) keep(key(source));
  age(entry(key("a")), 200'000);
  age(entry(key("b")), 200'000);
  EXPECT_EQ(unneeded({std::string(64, 'a')}), std::vector<std::string>{compiled_name(key("b"))});
  work.put(entry(key("c")) + "/entry.json", "{");
  work.put("/cache/compiled/.new-1/files/x", "begun");
  work.put("/cache/compiled/.old-2/files/x", "replaced");
  work.put("/cache/compiled/notes/x", "a user's");
  EXPECT_EQ(unneeded({std::string(64, 'a'), std::string(64, 'b')}), std::vector<std::string>{compiled_name(key("c"))})
      << "a damaged one";
  age("/cache/compiled/.new-1", 100'000);
  age("/cache/compiled/.old-2", 100'000);
  const auto found = cache().unneeded({std::string(64, 'a'), std::string(64, 'b')}, std::time(nullptr));
  ASSERT_TRUE(found.ok() && found->size() == 3);
  for (const CompiledEntry& each : *found) ASSERT_TRUE(cache().remove(each).ok());
  EXPECT_FALSE(work.has("/cache/compiled/.new-1"));
  EXPECT_FALSE(work.has("/cache/compiled/.old-2"));
  EXPECT_TRUE(work.has("/cache/compiled/notes/x"));
  EXPECT_EQ(take(key("c")), "none");
  EXPECT_EQ(take(key("b")), "taken");
}

TEST_F(CompiledCacheTest, HasOneWholeEntryAfterTwoWritersAndReadersAtOnce) {
  keep(key());
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([this] {
      for (int n = 0; n < 30; ++n) {
        const Status kept = cache().keep(key(), "NVIDIA 535", work.at("/made"));
        EXPECT_TRUE(kept.ok()) << to_text(kept.error());
      }
    });
    threads.emplace_back([this, i] {
      const std::string into = work.at("/read-" + std::to_string(i));
      for (int n = 0; n < 30; ++n) {
        const auto taken = cache().take(key(), into);
        if (!taken || !*taken) continue;
        EXPECT_EQ(work.content("/read-" + std::to_string(i) + "/kernel/nvidia.ko"), "the module");
        std::filesystem::remove_all(into);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(take(key()), "taken");
  for (const auto& left : std::filesystem::directory_iterator(work.at("/cache/compiled")))
    EXPECT_EQ(left.path().filename().string(), compiled_name(key()));
}

TEST_F(CompiledCacheTest, LeavesNothingBehindWhenItCannotKeep) {
  work.link("/made/kernel/link.ko", "nvidia.ko");
  const Status kept = cache().keep(key(), "NVIDIA 535", work.at("/made"));
  ASSERT_FALSE(kept.ok());
  EXPECT_THAT(kept.error().what, HasSubstr("is neither a file nor a folder"));
  EXPECT_TRUE(std::filesystem::is_empty(work.at("/cache/compiled")));
}

}  // namespace
}  // namespace slipway::core
