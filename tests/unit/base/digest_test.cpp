// SPDX-License-Identifier: Apache-2.0
#include "base/digest/digest.hpp"

#include <span>

#include <fcntl.h>
#include <gtest/gtest.h>

#include <slipway/fd.hpp>

namespace slipway::base {
namespace {

// FIPS 180-4, appendix B.1
constexpr const char* kAbc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
constexpr const char* kNothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

TEST(Digest, IsSha256AsOciWritesIt) {
  EXPECT_EQ(digest_of("abc"), std::string("sha256:") + kAbc);
  EXPECT_EQ(digest_of(""), std::string("sha256:") + kNothing);
}

TEST(Digest, OfPiecesEqualsThatOfTheWhole) {
  Sha256 all;
  all.update("a");
  all.update(std::as_bytes(std::span("bc", 2)));
  EXPECT_EQ(all.digest(), digest_of("abc"));
  EXPECT_EQ(all.digest(), digest_of(""));
}

TEST(Digest, OfAFileIsReadFromItsPositionOn) {
  const Fd file(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  EXPECT_EQ(digest_of_file(file.get(), "/dev/null").value_or(""), digest_of(""));
  EXPECT_EQ(digest_of_file(-1, "a file").error().where, "a file");
}

TEST(Digest, HasHexDigitsWhereItIsWellFormed) {
  EXPECT_EQ(digest_hex(digest_of("abc")), kAbc);
  EXPECT_EQ(digest_hex(kAbc), "");
  EXPECT_EQ(digest_hex("sha256:" + std::string(64, 'A')), "");
}

}  // namespace
}  // namespace slipway::base
