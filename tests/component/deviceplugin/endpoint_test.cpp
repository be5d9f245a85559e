// SPDX-License-Identifier: Apache-2.0
// One resource at kubelet, with a clock that the test moves: the times of its registrations.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include "tests/component/deviceplugin/kubelet.hpp"
#include "tests/component/deviceplugin/offered.hpp"

namespace slipway::deviceplugin {
namespace {

using slipway::testing::kGpu;
using slipway::testing::Kubelet;
using slipway::testing::leave_socket;
using slipway::testing::socket_at;
using slipway::testing::wait_for;
using std::chrono::seconds;

class EndpointTest : public ::testing::Test {
 protected:
  using Clock = Endpoint::Clock;

  void tick() { endpoint_.tick(list_, now_); }
  void tick_after(Clock::duration time) {
    now_ += time;
    tick();
  }
  /// Ticks whenever it is due, until then. @return number of ticks
  unsigned tick_until(Clock::time_point end) {
    unsigned ticks = 0;
    for (; endpoint_.due() <= end && ticks < 10'000; ++ticks) {
      now_ = std::max(now_, endpoint_.due());
      tick();
    }
    now_ = end;
    return ticks;
  }
  bool is_registered() const { return endpoint_.status().registered; }
  /// Text for a failed expectation.
  std::string told() const {
    const EndpointStatus status = endpoint_.status();
    std::string text =
        status.problem + status.waits_for + ", " + std::to_string(endpoint_.connections()) + " connections";
    for (const std::string& line : log_) text += "\n" + line;
    return text;
  }

  slipway::testing::KubeletRoot node_;
  RootDir root_ = node_.root();
  GrpcThread grpc_;
  std::stop_source stop_;
  std::vector<std::string> log_;
  Clock::time_point now_ = Clock::now();
  DeviceList list_ = std::make_shared<std::vector<Listed>>(std::vector<Listed>{{"GPU-0"}, {"GPU-1"}});
  Endpoint endpoint_{
      {grpc_, root_, [this](const char*, const std::string& text) { log_.push_back(text); }, stop_.get_token()},
      slipway::testing::KubeletRoot::paths(),
      kGpu,
      {.allocate = [](const auto&) -> Result<Grant> { return Grant(); },
       .prefer = [](const auto&) { return std::vector<std::string>(); },
       .on_change = {}}};
};

// kubelet's socket outlives kubelet, also over a reboot. Before the fix, "Connection refused" counted as a refusal, so
// that the next try was up to half a minute after kubelet's start, and every pod of the node was rejected for good.
TEST_F(EndpointTest, RegistersInTheFirstTickAfterKubeletStarted) {
  for (const int away : {0, 1, 5, 20, 75, 300}) {
    // The endpoint uses the test's clock, but closing a connection takes real time.
    ASSERT_TRUE(wait_for([&] { return endpoint_.connections() == 0; })) << "of the kubelet before";
    leave_socket(node_.kubelet_socket());
    tick();
    tick_until(now_ + seconds(away));
    EXPECT_FALSE(is_registered());
    Kubelet kubelet(node_.plugins());  // removes all sockets first, the plugin's too
    tick();
    EXPECT_TRUE(is_registered()) << "after " << away << " s; " << told();
  }
}

TEST_F(EndpointTest, TriesAFewTimesWithinASecondWhileNoProcessListensAndThenStops) {
  leave_socket(node_.kubelet_socket());
  tick();
  EXPECT_FALSE(is_registered());
  const Clock::time_point begin = now_;
  EXPECT_GE(tick_until(begin + seconds(2)), 5U) << "a socket is there a moment before somebody listens";
  EXPECT_LE(tick_until(begin + seconds(302)), 31U);
  EXPECT_THAT(endpoint_.status().waits_for, ::testing::HasSubstr("no process listens"));
  EXPECT_EQ(endpoint_.status().problem, "");
}

TEST_F(EndpointTest, SaysThatKubeletDoesNotRunWhereItHasNoSocket) {
  tick();
  EXPECT_EQ(endpoint_.due(), Clock::time_point::max()) << "inotify tells of the socket";
  EXPECT_THAT(endpoint_.status().waits_for, ::testing::HasSubstr("there is no /device-plugins/kubelet.sock"));
}

TEST_F(EndpointTest, RetriesARefusingKubeletLessOftenAndANewOneAtOnce) {
  auto kubelet = std::make_unique<Kubelet>(node_.plugins());
  kubelet->refuse("not now");
  tick();
  EXPECT_THAT(endpoint_.status().problem, ::testing::HasSubstr("not now"));
  EXPECT_LE(tick_until(now_ + seconds(600)), 30U);
  kubelet.reset();
  kubelet = std::make_unique<Kubelet>(node_.plugins());
  tick();
  EXPECT_TRUE(is_registered());
  EXPECT_EQ(endpoint_.status().problem, "");
}

TEST_F(EndpointTest, RegistersAgainInTheTickAfterKubeletEndedItsStream) {
  Kubelet kubelet(node_.plugins());
  tick();
  ASSERT_TRUE(wait_for([&] { return kubelet.healthy(kGpu) == 2; }));
  now_ += seconds(60);
  kubelet.drop_stream(kGpu);
  ASSERT_TRUE(wait_for([&] { return endpoint_.status().streams == 0; }));
  tick();
  tick_until(now_ + seconds(1));  // kubelet gets time to notice the end
  EXPECT_EQ(endpoint_.status().registrations, 2U);
  EXPECT_TRUE(wait_for([&] { return kubelet.healthy(kGpu) == 2; }));
}

TEST_F(EndpointTest, DoesNotRegisterAgainAndAgainWithAKubeletThatEndsEachStream) {
  Kubelet kubelet(node_.plugins());
  tick();
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(wait_for([&] { return endpoint_.status().streams == 1; }));
    kubelet.drop_stream(kGpu);
    ASSERT_TRUE(wait_for([&] { return endpoint_.status().streams == 0; }));
    tick();
    tick_until(now_ + seconds(i < 2 ? 1 : 40));
  }
  const unsigned registrations = endpoint_.status().registrations;
  ASSERT_TRUE(wait_for([&] { return endpoint_.status().streams == 1; }));
  kubelet.drop_stream(kGpu);
  ASSERT_TRUE(wait_for([&] { return endpoint_.status().streams == 0; }));
  tick();
  tick_after(std::chrono::milliseconds(200));
  EXPECT_LE(endpoint_.status().registrations, registrations + 1);
}

// A socket with a changed label or mode is the same socket: registering again would leave a moment without GPUs.
TEST_F(EndpointTest, TakesASocketWithOtherAttributesForTheSameKubelet) {
  Kubelet kubelet(node_.plugins());
  tick();
  ASSERT_TRUE(is_registered()) << told();
  const auto before = file_id(root_, "/device-plugins/kubelet.sock");
  ASSERT_EQ(::chmod(node_.kubelet_socket().c_str(), 0700), 0);
  if (file_id(root_, "/device-plugins/kubelet.sock") != before)
    GTEST_SKIP() << "this file system has no times of birth";
  tick();
  EXPECT_EQ(endpoint_.status().registrations, 1U);
}

TEST_F(EndpointTest, DoesNotTouchASocketOfAnotherProgram) {
  Kubelet kubelet(node_.plugins());
  const std::string socket = node_.plugins() + "/nvidia-gpu.sock";
  {
    Endpoint other({grpc_, root_, [](const char*, const std::string&) {}, stop_.get_token()},
                   slipway::testing::KubeletRoot::paths(), kGpu,
                   {.allocate = [](const auto&) -> Result<Grant> { return Grant(); },
                    .prefer = [](const auto&) { return std::vector<std::string>(); },
                    .on_change = {}});
    other.tick(list_, now_);
    ASSERT_TRUE(std::filesystem::exists(socket));
    std::filesystem::remove(socket);
    slipway::testing::wait_for_next_tick();
    leave_socket(socket);
  }
  EXPECT_TRUE(std::filesystem::exists(socket));
}

// kubelet accepts the connection, and sends nothing.
TEST_F(EndpointTest, CancelsACallToKubeletWhenItStops) {
  const Fd silent = socket_at(node_.kubelet_socket(), true);
  ASSERT_TRUE(silent);
  std::jthread stopper([this] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    stop_.request_stop();
  });
  const auto begin = Clock::now();
  tick();
  EXPECT_LT(Clock::now() - begin, seconds(8)) << "the limit of a call is 10 s";
  EXPECT_FALSE(is_registered());
}

// Before the fix, gRPC's Shutdown waited two seconds for kubelet to close its connection, while pods got no GPU.
TEST_F(EndpointTest, EndsAServerWithoutWaitingForItsClients) {
  auto server = PluginServer::start(grpc_, root_, "/device-plugins/one.sock",
                                    {.allocate = [](const auto&) -> Result<Grant> { return Grant(); },
                                     .prefer = [](const auto&) { return std::vector<std::string>(); },
                                     .on_change = {}},
                                    list_);
  ASSERT_TRUE(server.ok());
  const auto stub = v1beta1::DevicePlugin::NewStub(
      grpc::CreateChannel("unix:" + node_.plugins() + "/one.sock", grpc::InsecureChannelCredentials()));
  grpc::ClientContext context;
  const auto stream = stub->ListAndWatch(&context, {});
  v1beta1::ListAndWatchResponse list;
  ASSERT_TRUE(stream->Read(&list));
  EXPECT_EQ(list.devices_size(), 2);
  const auto begin = Clock::now();
  server->reset();
  EXPECT_LT(Clock::now() - begin, seconds(1)) << "it took 2 s, whatever the machine had to do";
  EXPECT_FALSE(stream->Read(&list));
  (void)stream->Finish();
}

}  // namespace
}  // namespace slipway::deviceplugin
