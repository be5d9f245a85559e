// SPDX-License-Identifier: Apache-2.0
// Login of valid users while others guess.
#include "base/http/basic_auth.hpp"

#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "peer.hpp"

namespace slipway::base {
namespace {

using Answer = BasicAuth::Answer;
using std::chrono::milliseconds;
using std::chrono::seconds;

// "secret", with a cost of 4.
constexpr const char* kHashOfSecret = "$2b$04$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW";

/// Stands in for bcrypt: the hash of "secret" is "dear" and takes as long as a hash of 2^12 rounds, that of "other" is
/// "cheap".
class Guessed : public ::testing::Test {
 protected:
  BasicAuth::HashCheck take(const std::string& password, const std::string& hash) {
    const auto spent = hash == "dear" ? milliseconds(230) : milliseconds(1);
    hashed_.push_back(hash);
    busy_ += spent;
    return {password == (hash == "dear" ? "secret" : "other"), spent};
  }
  BasicAuth auth(std::map<std::string, std::string> users = {{"ada", "dear"}}) {
    return BasicAuth(std::move(users),
                     [this](const std::string& password, const std::string& hash) { return take(password, hash); });
  }
  std::string guess() { return "guess" + std::to_string(guesses_++); }

  BasicAuth::Clock::time_point now_{std::chrono::hours(1)};
  std::vector<std::string> hashed_;
  milliseconds busy_{0};
  int guesses_ = 0;
};

// Before the fix, the peer with the most requests used up the one shared budget: after each restart Prometheus waited
// for as long as another client guessed.
TEST_F(Guessed, AHundredTimesASecondDoesNotDelayTheRightUserAtAnotherAddress) {
  BasicAuth users = auth();
  for (int i = 0; i < 6000; ++i, now_ += milliseconds(10))
    EXPECT_NE(users.check("attacker", "ada", guess(), now_), Answer::right);
  EXPECT_EQ(users.check("prometheus", "ada", "secret", now_), Answer::right);
}

// The same for a crowd of addresses that were wrong before, each of them within its own share.
TEST_F(Guessed, ByAHundredAddressesDoesNotDelayTheRightUserAtAnotherOne) {
  BasicAuth users = auth();
  const auto wave = [&] {
    for (int peer = 0; peer < 100; ++peer) (void)users.check("attacker " + std::to_string(peer), "ada", guess(), now_);
  };
  for (int i = 0; i < 20 * 60 * 10; ++i, now_ += milliseconds(100)) wave();  // for longer than they are remembered
  EXPECT_EQ(users.check("prometheus", "ada", "secret", now_), Answer::right);
}

// Before the fix, a host on a link created an address for each guess, and had a peer's share with each.
TEST_F(Guessed, ByAllAddressesOfALinkAsOftenAsByOne) {
  const auto attempts_by = [this](const std::string& network) {
    BasicAuth users = auth({{"eve", "cheap"}});
    int tries = 0;
    for (int i = 0; i < 10'000; ++i, now_ += milliseconds(1))
      if (users.check(peer(network + std::to_string(i % 100) + "::1"), "eve", guess(), now_) == Answer::wrong) ++tries;
    return tries;
  };
  for (const char* link : {"fe80:0:0:", "febf:0:0:"}) {
    EXPECT_LE(attempts_by(link), 11 * BasicAuth::kTriesPerSecond) << link;
    EXPECT_GE(attempts_by(link), 9 * BasicAuth::kTriesPerSecond) << link;
  }
  for (const char* networks : {"2001:db8:0:", "fec0:0:0:", "fe7f:0:0:"})
    EXPECT_GT(attempts_by(networks), 50 * BasicAuth::kTriesPerSecond) << "a ration each: " << networks;
}

// Before the fix, the allowed tries took 0.93 s of each second, in which no client was answered.
TEST_F(Guessed, ByManyMostOfTheTimeIsLeftForAnswers) {
  BasicAuth users = auth();
  for (int i = 0; i < 60'000; ++i, now_ += milliseconds(1))
    (void)users.check("attacker " + std::to_string(i), "ada", guess(), now_);  // a new address each time
  EXPECT_LE(busy_, seconds(60) / 2);
  EXPECT_GE(busy_, seconds(60) / 8) << "it is rationed, not refused";
}

TEST_F(Guessed, ByOneAnEighthOfTheTimeIsTaken) {
  BasicAuth users = auth();
  for (int i = 0; i < 60'000; ++i, now_ += milliseconds(1)) (void)users.check("attacker", "ada", guess(), now_);
  EXPECT_LE(busy_, seconds(60) / 8 + seconds(1));
}

TEST_F(Guessed, AUserWithACorrectPasswordIsAnsweredDuringGuessing) {
  BasicAuth users = auth();
  EXPECT_EQ(users.check("prometheus", "ada", "secret", now_), Answer::right);
  for (int i = 0; i < 100; ++i) (void)users.check("prometheus", "ada", guess(), now_);
  EXPECT_EQ(users.check("prometheus", "ada", "wrong", now_), Answer::later);
  EXPECT_EQ(users.check("prometheus", "ada", "secret", now_), Answer::right);
}

// Before the fix, guesses from all addresses of a network used up the share of others, so Prometheus on another network
// was refused for as long as they went on.
TEST_F(Guessed, ByAWholeNetworkDoesNotDelayTheRightUserOfAnotherOne) {
  BasicAuth users = auth();
  for (int i = 0; i < 60'000; ++i, now_ += milliseconds(10))
    (void)users.check("10.1." + std::to_string(i / 250) + "." + std::to_string(i % 250), "ada", guess(), now_);
  EXPECT_EQ(users.check("10.1.250.250", "ada", "secret", now_), Answer::later) << "the attack itself";
  EXPECT_EQ(users.check("10.2.0.1", "ada", "secret", now_), Answer::right);
}

TEST_F(Guessed, ByAWholeIPv6SiteDoesNotDelayTheRightUserOfAnotherOne) {
  BasicAuth users = auth();
  for (int i = 0; i < 60'000; ++i, now_ += milliseconds(10))
    (void)users.check(peer("2001:db8:1:" + std::to_string(i % 10'000) + "::1"), "ada", guess(), now_);
  EXPECT_EQ(users.check(peer("2001:db8:1:ffff::1"), "ada", "secret", now_), Answer::later) << "the attack itself";
  EXPECT_EQ(users.check(peer("2001:db8:2::1"), "ada", "secret", now_), Answer::right);
}

// Before the fix, a guessing user of a machine was the same peer as its Prometheus.
TEST_F(Guessed, ByAUserOfThisMachineAnotherOneGetsInAtOnce) {
  BasicAuth users = auth();
  for (int i = 0; i < 6000; ++i, now_ += milliseconds(10)) (void)users.check("user 65534", "ada", guess(), now_);
  EXPECT_EQ(users.check("user 65534", "ada", "secret", now_), Answer::later) << "the attack itself";
  EXPECT_EQ(users.check("user 0", "ada", "secret", now_), Answer::right);
}

/// A guess every 10 ms for 40 s, each from another network.
class GuessedWithoutEnd : public Guessed {
 protected:
  void guess_on(BasicAuth& users) {
    for (int i = 0; i < 4000; ++i, now_ += milliseconds(10))
      (void)users.check(peer(std::to_string(11 + i / 200) + "." + std::to_string(i % 200) + ".0.1"), "ada", guess(),
                        now_);
  }
  std::shared_ptr<KnownClients> known_ = std::make_shared<KnownClients>();
  BasicAuth with_known(std::map<std::string, std::string> users) {
    return BasicAuth(
        std::move(users), [this](const std::string& password, const std::string& hash) { return take(password, hash); },
        known_);
  }
};

// Before the fix, all clients became unknown again when a certificate was renewed.
TEST_F(GuessedWithoutEnd, AUserWithACorrectPasswordIsKnownToTheNextListener) {
  (void)with_known({{"ada", "dear"}, {"bob", "cheap"}}).check("10.2.0.1", "ada", "secret", now_);
  for (const auto& [users, wanted] :
       {std::pair(known_, Answer::right), std::pair(std::shared_ptr<KnownClients>(), Answer::later)}) {
    BasicAuth next(
        {{"ada", "dear"}},
        [this](const std::string& password, const std::string& hash) { return take(password, hash); }, users);
    guess_on(next);
    EXPECT_EQ(next.check("10.2.0.9", "ada", "secret", now_), wanted);
  }
}

TEST_F(GuessedWithoutEnd, AFormerPasswordIsRefusedWithAnotherHash) {
  (void)with_known({{"ada", "dear"}}).check("10.2.0.1", "ada", "secret", now_);
  EXPECT_EQ(with_known({{"ada", "cheap"}}).check("10.2.0.1", "ada", "secret", now_), Answer::wrong);
  EXPECT_EQ(with_known({{"ada", "cheap"}}).check("10.2.0.2", "ada", "other", now_), Answer::right);
  EXPECT_EQ(with_known({{"eve", "cheap"}}).check("10.2.0.2", "ada", "other", now_), Answer::wrong) << "she is gone";
}

// Before the fix, a client whose password was changed on both sides waited for as long as another client guessed.
TEST_F(GuessedWithoutEnd, ANewPasswordIsAcceptedAtOnceFromAKnownPeer) {
  (void)with_known({{"ada", "cheap"}}).check("10.2.0.1", "ada", "other", now_);
  BasicAuth next = with_known({{"ada", "dear"}});
  guess_on(next);
  EXPECT_EQ(next.check("10.2.0.2", "ada", "secret", now_), Answer::later) << "the attack itself";
  EXPECT_EQ(next.check("10.2.0.1", "ada", "secret", now_), Answer::right);
}

TEST_F(GuessedWithoutEnd, PeersWithACorrectPasswordAreRememberedUpToANumber) {
  BasicAuth users = with_known({{"ada", "dear"}});
  for (std::size_t i = 0; i < 2 * BasicAuth::kMostPeers; ++i, now_ += milliseconds(1))
    (void)users.check("peer " + std::to_string(i), "ada", "secret", now_);
  EXPECT_EQ(known_->peers.size(), BasicAuth::kMostPeers);
  EXPECT_TRUE(known_->peers.contains("peer " + std::to_string(2 * BasicAuth::kMostPeers - 1)));
}

// When hashes are cheap, the number of tries is limited.
TEST_F(Guessed, CheaplyAPeerHasFewTriesASecond) {
  BasicAuth users = auth({{"eve", "cheap"}});
  int tries = 0;
  for (int i = 0; i < 10'000; ++i, now_ += milliseconds(1))
    if (users.check("attacker", "eve", guess(), now_) == Answer::wrong) ++tries;
  EXPECT_LE(tries, 11 * BasicAuth::kTriesPerSecond);
  EXPECT_GE(tries, 9 * BasicAuth::kTriesPerSecond);
}

// A user who mistyped a password may try again soon, even from the same address as a guessing client.
TEST_F(Guessed, APeerWithAWrongPasswordIsAnsweredWithinSeconds) {
  BasicAuth users = auth();
  for (int i = 0; i < 100; ++i) (void)users.check("admin", "ada", guess(), now_);
  EXPECT_EQ(users.check("admin", "ada", "secret", now_ + seconds(5)), Answer::right);
}

// Before the fix, an unknown name took the time of the first user's hash: the time showed which names exist.
TEST_F(Guessed, AnUnknownNameTakesTheSameTimeAsAKnownOne) {
  BasicAuth users = auth({{"ada", "dear"}, {"eve", "cheap"}});
  std::set<std::string> seen;
  for (int i = 0; i < 100; ++i) {
    const std::string name = "nobody" + std::to_string(i);
    hashed_.clear();
    for (int again = 0; again < 3; ++again, now_ += seconds(10))
      EXPECT_EQ(users.check("attacker", name, again == 1 ? "secret" : "other", now_), Answer::wrong);
    ASSERT_EQ(hashed_.size(), 3U);
    EXPECT_EQ(std::set<std::string>(hashed_.begin(), hashed_.end()).size(), 1U) << "the same each time";
    seen.insert(hashed_.front());
  }
  EXPECT_EQ(seen.size(), 2U) << "and of some names one, of some another";
}

TEST_F(Guessed, ByMoreAddressesThanAreRememberedServiceContinues) {
  BasicAuth users = auth({{"eve", "cheap"}});
  for (std::size_t i = 0; i < 2 * BasicAuth::kMostPeers; ++i, now_ += milliseconds(10))
    EXPECT_EQ(users.check("attacker " + std::to_string(i), "eve", guess(), now_), Answer::wrong);
  EXPECT_EQ(users.check("prometheus", "eve", "other", now_), Answer::right);
}

TEST(BasicAuth, TakesThePasswordOfItsHashAndNoOther) {
  BasicAuth users(std::map<std::string, std::string>{{"ada", kHashOfSecret}});
  auto now = BasicAuth::Clock::time_point{std::chrono::hours(1)};
  const auto check = [&](const std::string& user, const std::string& password) {
    now += std::chrono::minutes(1);
    return users.check("peer", user, password, now);
  };
  EXPECT_EQ(check("ada", "Secret"), Answer::wrong);
  EXPECT_EQ(check("eve", "secret"), Answer::wrong);
  EXPECT_EQ(check("ada", std::string(BasicAuth::kMostBytes + 1, 'x')), Answer::wrong);
  EXPECT_EQ(check("ada", "secret"), Answer::right);
  EXPECT_EQ(check("ada", "secret2"), Answer::wrong);
  EXPECT_EQ(check("eve", "secret"), Answer::wrong) << "who is right for one is not for another";
}

}  // namespace
}  // namespace slipway::base
