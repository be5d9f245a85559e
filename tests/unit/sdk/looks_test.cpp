// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <slipway/looks.hpp>
#include <slipway/testing/fake_host.hpp>

namespace slipway {
namespace {

using testing::FakeHost;

constexpr LookKey kKey{0x0706050403020100U, 0x0f0e0d0c0b0a0908U};

std::string counted_bytes(std::size_t count) {
  std::string bytes;
  for (std::size_t i = 0; i < count; ++i) bytes += static_cast<char>(i);
  return bytes;
}

// The vectors of the reference implementation (veorq/SipHash, vectors.h), read as little-endian numbers.
TEST(SipHash, GivesTheNumbersOfItsAuthors) {
  EXPECT_EQ(siphash(kKey, ""), 0x726fdb47dd0e0e31U);
  EXPECT_EQ(siphash(kKey, counted_bytes(1)), 0x74f839c593dc67fdU);
  EXPECT_EQ(siphash(kKey, counted_bytes(7)), 0xab0200f58b01d137U);
  EXPECT_EQ(siphash(kKey, counted_bytes(8)), 0x93f5f5799a932462U);
  EXPECT_EQ(siphash(kKey, counted_bytes(15)), 0xa129ca6149be45e5U);  // the example of the paper's appendix A
}

TEST(LookKey, SurvivesJson) {
  EXPECT_EQ(*look_key_from_json(to_json(kKey)), kKey);
  EXPECT_EQ(*look_key_from_json(to_json(LookKey{0, ~std::uint64_t{0}})), (LookKey{0, ~std::uint64_t{0}}));
  for (const Json& bad : {Json(), Json("1"), Json{"1"}, Json{"1", "x"}, Json{"1", ""}, Json{1, 2}, Json{"1", "2", "3"}})
    EXPECT_FALSE(look_key_from_json(bad).ok()) << bad.dump();
}

class Looks : public ::testing::Test {
 protected:
  Looks() {
    host_.file("/etc/name", "node-1\n")
        .file("/etc/long", "0123456789")
        .directory("/srv")
        .link("/alias", "/etc/name")
        .kernel("6.1.0-9");
  }

  /// What every test looks at.
  static void look(const Host& host) {
    (void)host.read("/etc/name");
    (void)host.read("/etc/missing");
    (void)host.read_part("/etc/long", 2, 3);
    (void)host.info("/etc/name");
    (void)host.list("/srv");
    (void)host.read_link("/alias");
    (void)host.resolve("/alias");
    (void)host.kernel_release();
    (void)host.arch();
  }
  Json looks() const {
    const WatchedHost watched(host_, kKey);
    look(watched);
    return watched.looks();
  }

  FakeHost host_;
};

TEST_F(Looks, AreTheSameWhileNothingChanges) {
  const Json before = looks();
  EXPECT_EQ(before.size(), 9U);
  EXPECT_TRUE(looks_the_same(before, kKey, host_));
}

TEST_F(Looks, AreOthersWhenAFileALinkAFolderOrTheKernelIsAnother) {
  const std::vector<std::function<void()>> changes{[&] { host_.file("/etc/name", "node-2\n"); },
                                                   [&] { host_.file("/etc/missing", "here"); },
                                                   [&] { host_.file("/etc/name", "node-1\n", 0600); },
                                                   [&] { host_.file("/srv/new", ""); },
                                                   [&] { host_.file("/etc/long", "012-456789"); },
                                                   [&] { host_.file("/etc/long", "012"); },
                                                   [&] { host_.without("/alias").link("/alias", "/srv"); },
                                                   [&] { host_.kernel("6.1.0-10"); },
                                                   [&] { host_.arch("aarch64"); },
                                                   [&] { host_.without("/etc/name"); }};
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const Json before = looks();
    changes[i]();
    EXPECT_FALSE(looks_the_same(before, kKey, host_)) << "change " << i;
  }
}

TEST_F(Looks, AreTheSameWhenAFileChangesWhereNobodyLooked) {
  const Json before = looks();
  host_.file("/etc/long", "x1234y");
  EXPECT_EQ(*WatchedHost(host_, kKey).read_part("/etc/long", 2, 3), "234");
  EXPECT_TRUE(looks_the_same(before, kKey, host_));
}

TEST_F(Looks, UnderAnotherKeyTellNothing) { EXPECT_FALSE(looks_the_same(looks(), {1, 2}, host_)); }

TEST_F(Looks, ThatAreNoneAreNeverTheSame) {
  for (const Json& bad :
       {Json(), Json("all"), Json{1}, Json{{"read", "/etc/name", 1}},
        Json::parse(R"([["sniff", "/etc/name", 1, "0"]])"), Json::parse(R"([["read", "/etc/name", "1", "0"]])"),
        Json::parse(R"([["read", "/etc/name", 1, "zz"]])")})
    EXPECT_FALSE(looks_the_same(bad, kKey, host_)) << bad.dump();
}

TEST_F(Looks, AreNotKnownOfWhoLeavesTheHostOrRunsOrOpensSomething) {
  const std::vector<std::function<void(const Host&)>> ways{
      [](const Host& host) { (void)host.root_folder(); }, [](const Host& host) { (void)host.opens("/etc/name"); },
      [](const Host& host) { (void)host.run({"/bin/true"}, std::chrono::seconds(1)); }};
  for (const auto& way : ways) {
    const WatchedHost watched(host_, kKey);
    look(watched);
    way(watched);
    EXPECT_TRUE(watched.looks().is_null());
  }
}

TEST_F(Looks, AreNotKnownOfWhatChangedInBetween) {
  const WatchedHost watched(host_, kKey);
  (void)watched.read("/etc/name");
  host_.file("/etc/name", "node-2\n");
  (void)watched.read("/etc/name");
  EXPECT_TRUE(watched.looks().is_null());
}

TEST_F(Looks, GiveTheComponentWhatTheHostSees) {
  const WatchedHost watched(host_, kKey);
  EXPECT_EQ(*watched.read("/alias"), "node-1\n");
  EXPECT_EQ(*watched.resolve("/alias"), "/etc/name");
  EXPECT_EQ(*watched.kernel_release(), "6.1.0-9");
  EXPECT_EQ(watched.installed_kernels(), std::vector<std::string>{"6.1.0-9"});
  EXPECT_FALSE(watched.live());
}

}  // namespace
}  // namespace slipway
