// SPDX-License-Identifier: Apache-2.0
// The choice of the connection to close when there are too many.
#include "base/http/connections.hpp"

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace slipway::base {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class ConnectionsTest : public ::testing::Test {
 protected:
  Connections::Connection* add(const std::string& peer) { return connections_.add(next_++, peer, now_); }
  std::vector<int> ended_;
  Connections connections_{{.all = 64, .of_a_peer = 16, .longest = seconds(10)},
                           [this](int fd) { ended_.push_back(fd); }};
  Connections::Clock::time_point now_;
  int next_ = 0;
};

TEST_F(ConnectionsTest, ClosesTheOldestOfAPeerWithTooMany) {
  add("other");
  for (int i = 0; i < 16; ++i) add("greedy");
  EXPECT_THAT(ended_, IsEmpty());
  add("greedy");
  add("greedy");
  EXPECT_THAT(ended_, ElementsAre(1, 2));
}

// On loopback all users are one peer. Before the fix, a client that only connected ended the response to Prometheus.
TEST_F(ConnectionsTest, ClosesConnectionsWithoutARequestFirst) {
  add("here")->asked = true;                 // 0
  for (int i = 0; i < 15; ++i) add("here");  // 1 to 15
  add("here");
  EXPECT_THAT(ended_, ElementsAre(1));
  for (int i = 0; i < 15; ++i) add("here")->asked = true;
  EXPECT_EQ(ended_.size(), 16U);
  EXPECT_THAT(ended_, ::testing::Not(::testing::Contains(0)));
  add("here");
  EXPECT_EQ(ended_.back(), 0) << "all have asked, so the oldest";
}

// Before the fix, the oldest of too many connections was closed, whatever its peer: a new client of a crowd displaced a
// single client.
TEST_F(ConnectionsTest, ClosesTheOldestOfThePeerWithTheMost) {
  add("alone");                               // 0
  for (int i = 0; i < 15; ++i) add("first");  // 1 to 15
  for (const char* peer : {"second", "third", "fourth"})
    for (int i = 0; i < 16; ++i) add(peer);  // 16 to 63
  EXPECT_THAT(ended_, IsEmpty()) << "64 are there";
  add("new");
  add("newer");
  EXPECT_THAT(ended_, ElementsAre(16, 32)) << "of those with 16, the one that came first, then the next";
}

TEST_F(ConnectionsTest, ClosesTheOldestOfManyPeers) {
  for (int i = 0; i < 66; ++i) add("peer " + std::to_string(i));
  EXPECT_THAT(ended_, ElementsAre(0, 1));
}

TEST_F(ConnectionsTest, RemovedConnectionsMakeRoom) {
  Connections::Connection* const first = add("one");
  for (int i = 0; i < 15; ++i) add("one");
  connections_.remove(first);
  add("one");
  EXPECT_THAT(ended_, IsEmpty());
  now_ += seconds(9);
  connections_.close_expired(now_);
  EXPECT_THAT(ended_, IsEmpty());
  add("two");
  now_ += seconds(1);
  for (int i = 0; i < 2; ++i) connections_.close_expired(now_);
  EXPECT_EQ(ended_.size(), 16U) << "but not the new one";
}

}  // namespace
}  // namespace slipway::base
