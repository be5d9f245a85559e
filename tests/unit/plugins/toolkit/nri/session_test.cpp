// SPDX-License-Identifier: Apache-2.0
#include "toolkit/nri/session.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine_side.hpp"

namespace slipway::nri {
namespace {

using ::testing::HasSubstr;

Result<wire::ContainerAdjustment> nothing(const wire::CreateContainerRequest&) { return wire::ContainerAdjustment(); }

/// Returns the only answer to some bytes.
wire::Response answer_to(Session& session, const std::string& bytes) {
  wire::Response none;
  none.mutable_status()->set_code(-1);
  const auto answers = session.take(bytes);
  if (!answers) return none;
  const auto messages = FrameReader().take(*answers);
  return messages && messages->size() == 1 ? response_in(messages->front()) : none;
}

TEST(NriSession, RegistersUnderItsNameAndIndex) {
  const auto messages = FrameReader().take(Session::registration());
  ASSERT_TRUE(messages.ok());
  ASSERT_EQ(messages->size(), 1U);
  EXPECT_EQ(messages->front().channel, kRuntimeChannel);
  wire::Request request;
  ASSERT_TRUE(request.ParseFromString(messages->front().payload));
  EXPECT_EQ(request.service() + "/" + request.method(), "nri.pkg.api.v1alpha1.Runtime/RegisterPlugin");
  wire::RegisterPluginRequest plugin;
  ASSERT_TRUE(plugin.ParseFromString(request.payload()));
  EXPECT_EQ(plugin.plugin_idx() + "-" + plugin.plugin_name(), "10-slipway");
}

TEST(NriSession, SubscribesOnlyToNewContainers) {
  Session session(nothing);
  const auto response = answer_to(session, configure(1, "containerd", "v2.1.4"));
  EXPECT_EQ(response.status().code(), 0);
  EXPECT_EQ(response.payload(), std::string("\x10\x08")) << "events: the fourth bit";
  EXPECT_EQ(session.engine(), "containerd v2.1.4");
}

TEST(NriSession, ServesAfterTheLastListOfContainers) {
  Session session(nothing);
  ASSERT_TRUE(session.take(registered()).ok());
  (void)answer_to(session, configure(1, "cri-o", "1.31"));
  wire::SynchronizeResponse part;
  ASSERT_TRUE(part.ParseFromString(answer_to(session, synchronize(3, true)).payload()));
  EXPECT_TRUE(part.more()) << "an engine gives up on plugins that do not take parts";
  EXPECT_FALSE(session.serving());
  ASSERT_TRUE(part.ParseFromString(answer_to(session, synchronize(5, false)).payload()));
  EXPECT_FALSE(part.more());
  EXPECT_TRUE(session.serving());
}

TEST(NriSession, ReturnsTheDevicesOfAContainer) {
  Session session([](const wire::CreateContainerRequest& request) -> Result<wire::ContainerAdjustment> {
    wire::ContainerAdjustment adjustment;
    auto* const variable = adjustment.add_env();
    variable->set_key("FOR");
    variable->set_value(request.container().name());
    return adjustment;
  });
  const auto response = answer_to(session, create(7, container_with({})));
  EXPECT_EQ(response.status().code(), 0);
  ASSERT_EQ(adjustment_in(response).env_size(), 1);
  EXPECT_EQ(adjustment_in(response).env(0).value(), "cuda");
}

TEST(NriSession, LeavesAContainerWithoutDevicesAlone) {
  Session session(nothing);
  EXPECT_EQ(answer_to(session, create(7, container_with({}))).payload(), "");
}

TEST(NriSession, ReturnsTheReasonForARefusal) {
  Session session([](const wire::CreateContainerRequest&) -> Result<wire::ContainerAdjustment> {
    return Error{ErrorCode::not_found, "no device \xff\n", "/etc/cdi", "make one", {}};
  });
  const auto response = answer_to(session, create(7, container_with({})));
  EXPECT_EQ(response.status().code(), 9);
  EXPECT_EQ(response.status().message(), "slipway: no device \xEF\xBF\xBD  (/etc/cdi); make one");
}

TEST(NriSession, CutsAReasonThatIsTooLongForAMessage) {
  Session session([](const wire::CreateContainerRequest&) -> Result<wire::ContainerAdjustment> {
    return Error{ErrorCode::not_found, std::string(5U << 20U, 'x'), {}, {}, {}};
  });
  EXPECT_EQ(answer_to(session, create(7, container_with({}))).status().message().size(), 4000U);
}

TEST(NriSession, AcceptsUnrequestedEvents) {
  Session session(nothing);
  for (const char* event : {"StateChange", "RunPodSandbox", "StopContainer", "Shutdown"})
    EXPECT_EQ(answer_to(session, question(9, event, "")).status().code(), 0) << event;
}

TEST(NriSession, RefusesMethodsAndServicesThatItDoesNotHave) {
  Session session(nothing);
  EXPECT_EQ(answer_to(session, question(9, "Explode", "")).status().code(), 12);
  EXPECT_EQ(answer_to(session, question(9, "Configure", "", "another.Service")).status().code(), 12);
}

TEST(NriSession, ContinuesAfterAContainerThatCannotBeRead) {
  Session session(nothing);
  EXPECT_EQ(answer_to(session, question(9, "CreateContainer", "\xff\xff\xff")).status().code(), 3);
  EXPECT_EQ(answer_to(session, create(11, container_with({}))).status().code(), 0);
}

TEST(NriSession, EndsWhenTheEngineRefusesThePlugin) {
  Session session(nothing);
  const auto answers = session.take(registered("invalid index"));
  ASSERT_FALSE(answers.ok());
  EXPECT_EQ(answers.error().code, ErrorCode::denied);
  EXPECT_THAT(answers.error().what, HasSubstr("invalid index"));
}

TEST(NriSession, EndsAfterInvalidMessages) {
  const std::string no_request = encode({kPluginChannel, 1, Message::kRequest, 0, "\xff\xff"});
  const std::string no_question = encode({kPluginChannel, 1, Message::kResponse, 0, ""});
  const std::string data = encode({kPluginChannel, 1, 3, 0, ""});
  const std::string no_answer = encode({kRuntimeChannel, 1, Message::kRequest, 0, ""});
  for (const std::string& bytes :
       {no_request, no_question, data, no_answer, question(2, "Configure", ""), question(1, "Configure", "\xff"),
        question(1, "Synchronize", "\xff"), std::string("GET / HTTP/1.1\r\n\r\n")}) {
    Session session(nothing);
    const auto answers = session.take(bytes);
    ASSERT_FALSE(answers.ok());
    EXPECT_EQ(answers.error().code, ErrorCode::corrupt);
  }
}

}  // namespace
}  // namespace slipway::nri
