// SPDX-License-Identifier: Apache-2.0
// One call of gRPC, and all that may come back for it.
#include "nvidia/kubelet/unary_call.hpp"

#include <cerrno>
#include <chrono>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <slipway/root_dir.hpp>

#include "grpc_answer.hpp"
#include "nvidia/kubelet/pod_resources.hpp"
#include "toolkit/nri/given_devices.hpp"

namespace slipway::nri {
namespace {

using nvidia::kubelet::call;
using nvidia::kubelet::UnaryCall;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Calls a server that sends this, and nothing more.
Result<std::string> answer_to(const std::string& words, UnaryCall question = {}) {
  int ends[2];
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
  const Fd ours(ends[0]);
  const Fd theirs(ends[1]);
  const std::jthread server([&] {
    const Fd end(::dup(theirs.get()));
    std::string rest = words;
    for (char heard[4096]; !rest.empty();) {
      const ssize_t sent = ::send(end.get(), rest.data(), rest.size(), MSG_NOSIGNAL);
      if (sent < 0 && errno != EAGAIN) return;
      if (sent > 0) rest.erase(0, static_cast<std::size_t>(sent));
      (void)::recv(end.get(), heard, sizeof heard, 0);
    }
    ::shutdown(end.get(), SHUT_WR);
  });
  question.limit = std::chrono::seconds(60);
  question.method = "/v1.PodResourcesLister/List";
  auto answer = call(ours.get(), question);
  ::shutdown(ours.get(), SHUT_RDWR);
  return answer;
}

std::string problem_of(const std::string& words, const UnaryCall& question = {}) {
  const auto answer = answer_to(words, question);
  return answer ? "answered: " + *answer : answer.error().what;
}

const Headers kWell{{"grpc-status", "0"}};

TEST(UnaryCall, GivesTheAnswersMessage) {
  EXPECT_EQ(answer_to(grpc_head() + data_frames(grpc_message("pods")) + grpc_end(kWell)).value_or("none"), "pods");
  EXPECT_EQ(answer_to(grpc_head() + data_frames(grpc_message("")) + grpc_end(kWell)).value_or("none"), "");
  const std::string large(60'000, 'x');
  EXPECT_EQ(answer_to(grpc_head() + data_frames(grpc_message(large)) + grpc_end(kWell)).value_or("none"), large);
}

TEST(UnaryCall, NamesTheReturnedError) {
  EXPECT_EQ(problem_of(grpc_head() + grpc_end({{"grpc-status", "12"}, {"grpc-message", "unknown service"}})),
            "it answers with error 12: unknown service");
  EXPECT_EQ(problem_of(frame(kSettings, 0, 0, {}) + grpc_end({{":status", "200"}, {"grpc-status", "7"}})),
            "it answers with error 7: ");
  EXPECT_EQ(problem_of(grpc_head() + data_frames(grpc_message("x")) + grpc_end({{"other", "0"}})),
            "it ends the call without a status");
}

TEST(UnaryCall, RefusesInvalidMessages) {
  for (const std::string& body : {grpc_message("pods", true), grpc_message("pods") + "more", std::string("\0\0", 2),
                                  grpc_message("pods") + grpc_message("pods"), std::string()})
    EXPECT_EQ(problem_of(grpc_head() + data_frames(body) + grpc_end(kWell)), "the answer is not a single message");
}

TEST(UnaryCall, EndsWithAnAnswerThatIsLargerThanAllowed) {
  UnaryCall small;
  small.largest_answer = 1000;
  EXPECT_EQ(problem_of(grpc_head() + data_frames(grpc_message(std::string(1001, 'x'))), small),
            "the answer is larger than 1000 bytes");
  EXPECT_EQ(answer_to(grpc_head() + data_frames(grpc_message(std::string(1000, 'x'))) + grpc_end(kWell), small)
                .value_or("none")
                .size(),
            1000U);
}

TEST(UnaryCall, GivesUpOnInvalidOrMissingAnswers) {
  EXPECT_EQ(problem_of("HTTP/1.1 400 Bad Request\r\n\r\n"), "the other side does not speak gRPC");
  EXPECT_THAT(problem_of(grpc_head()), HasSubstr("the connection ended before the answer"));
  EXPECT_THAT(problem_of(""), HasSubstr("the connection ended before the answer"));
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
  const Fd ours(ends[0]);
  const Fd theirs(ends[1]);
  const auto silent = call(ours.get(), {.method = "/a/b", .message = {}, .limit = std::chrono::milliseconds(50)});
  ASSERT_FALSE(silent);
  EXPECT_EQ(silent.error().code, ErrorCode::timed_out);
}

TEST(PodResources, AreUniqueUuidsOfTheContainer) {
  const auto field = [](int number, const std::string& content) {
    return std::string(1, static_cast<char>(number << 3 | 2)) + static_cast<char>(content.size()) + content;
  };
  const std::string gpus = field(1, "nvidia.com/gpu") + field(2, "GPU-1::0") + field(2, "GPU-1::1") + field(2, "0");
  const std::string mig = field(1, "nvidia.com/mig-1g.10gb") + field(2, "MIG-2");
  const std::string other = field(1, "example.com/gpu") + field(2, "GPU-3");
  const std::string cuda = field(3, field(1, "cuda") + field(2, gpus) + field(2, mig) + field(2, other));
  const std::string list = field(1, field(1, "train-0") + field(2, "team-a") + cuda);
  const auto pods = nvidia::kubelet::parse_pods(list);
  ASSERT_TRUE(pods.ok());
  EXPECT_THAT(uuids_in(*pods, {"team-a", "train-0", "cuda"}), ElementsAre("GPU-1", "MIG-2"));
  for (const ContainerName& foreign :
       {ContainerName{"team-b", "train-0", "cuda"}, {"team-a", "train-1", "cuda"}, {"team-a", "train-0", "cud"}})
    EXPECT_THAT(uuids_in(*pods, foreign), ::testing::IsEmpty());
  EXPECT_FALSE(nvidia::kubelet::parse_pods("no list"));
}

}  // namespace
}  // namespace slipway::nri
