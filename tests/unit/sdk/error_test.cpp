// SPDX-License-Identifier: Apache-2.0
#include <cerrno>

#include <gtest/gtest.h>
#include <unistd.h>

#include <slipway/result.hpp>

namespace slipway {
namespace {

TEST(Error, SurvivesTheTripThroughJson) {
  const Error error{ErrorCode::busy, "GPU 3 is busy", "host.yaml:14:18", "end that job", {{"held", "python3 (pid 7)"}}};
  const Error back = error_from_json(to_json(error));
  EXPECT_EQ(to_json(back), to_json(error));
  EXPECT_EQ(to_text(back), to_text(error));
}

TEST(Error, PrintsWhatThenWhereThenDetailsThenWhatToDo) {
  const Error error{ErrorCode::busy, "GPU 3 is busy", "host.yaml:14:18", "end that job", {{"held", "python3"}}};
  EXPECT_EQ(to_text(error),
            "error: GPU 3 is busy\n  at:    host.yaml:14:18\n  held:  python3\n  do:    end that job\n");
}

TEST(Error, KeepsTheLinesOfALongDetailUnderOneAnother) {
  const Error error{ErrorCode::build_failed, "no", "", "", {{"compiler", "a.c:1\nb.c:2"}}};
  EXPECT_EQ(to_text(error), "error: no\n  compiler: a.c:1\n            b.c:2\n");
}

TEST(Error, OfAFullDiskExplainsHowToContinue) {
  const Error error = system_error("write", "/usr/lib/x", ENOSPC);
  EXPECT_EQ(error.code, ErrorCode::no_space);
  EXPECT_NE(error.next.find("free some space"), std::string::npos);
}

// A service's root has no CAP_DAC_OVERRIDE. Before the fix, the advice was to become root.
TEST(Error, OfADeniedFileHasARemedyForRoot) {
  const Error error = system_error("read", "/etc/key.pem", EACCES);
  EXPECT_NE(error.next.find(::geteuid() == 0 ? "chown root" : "sudo"), std::string::npos) << error.next;
}

TEST(Error, FromAForeignReplyQuotesIt) {
  EXPECT_NE(error_from_json(Json{{"no", "error"}}).what.find(R"({"no":"error"})"), std::string::npos);
}

Result<int> half(int number) {
  if (number % 2 != 0) return Error{ErrorCode::invalid, "odd", {}, {}, {}};
  return number / 2;
}

Result<int> quarter(int number) {
  SLIPWAY_TRY(first, half(number));
  SLIPWAY_TRY(second, half(first));
  return second;
}

TEST(Result, TryReturnsTheFirstError) {
  EXPECT_EQ(*quarter(8), 2);
  EXPECT_EQ(quarter(6).error().what, "odd");
}

}  // namespace
}  // namespace slipway
