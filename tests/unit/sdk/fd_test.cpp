// SPDX-License-Identifier: Apache-2.0
#include <cerrno>

#include <fcntl.h>
#include <gtest/gtest.h>

#include <slipway/fd.hpp>

namespace slipway {
namespace {

int open_null() { return ::open("/dev/null", O_RDONLY | O_CLOEXEC); }
bool is_open(int number) { return ::fcntl(number, F_GETFD) >= 0; }

TEST(Fd, ClosesAtTheEndOfItsLifeAndLeavesErrnoAlone) {
  const int number = open_null();
  {
    const Fd fd(number);
    EXPECT_TRUE(fd);
    errno = ENOTEMPTY;
  }
  EXPECT_EQ(errno, ENOTEMPTY);
  EXPECT_FALSE(is_open(number));
}

TEST(Fd, MovesTheDescriptorAndClosesTheOneThatWasInItsPlace) {
  const int first = open_null();
  const int second = open_null();
  Fd fd(first);
  Fd other(second);
  fd = std::move(other);
  EXPECT_EQ(fd.get(), second);
  EXPECT_FALSE(is_open(first));
  EXPECT_TRUE(is_open(second));
}

TEST(Fd, GivesTheDescriptorUpWithoutClosingIt) {
  Fd fd(open_null());
  const int number = fd.release();
  EXPECT_FALSE(fd);
  fd.reset();
  EXPECT_TRUE(is_open(number));
  fd.reset(number);
  fd.reset();
  EXPECT_FALSE(is_open(number));
}

}  // namespace
}  // namespace slipway
