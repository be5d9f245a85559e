// SPDX-License-Identifier: Apache-2.0
// All resources at kubelet: only events of files, streams and the board wake the registrar.
#include "deviceplugin/service/registrar.hpp"

#include <gmock/gmock.h>

#include "tests/component/deviceplugin/kubelet.hpp"
#include "tests/component/deviceplugin/offered.hpp"

namespace slipway::deviceplugin {
namespace {

namespace fs = std::filesystem;
using slipway::testing::kGpu;
using slipway::testing::Kubelet;
using slipway::testing::KubeletRoot;
using slipway::testing::leave_socket;
using slipway::testing::snapshot_of;
using slipway::testing::socket_at;
using slipway::testing::wait_for;

class RegistrarTest : public ::testing::Test {
 protected:
  std::unique_ptr<Registrar> start(const EndpointPaths& paths = KubeletRoot::paths()) {
    auto registrar = std::make_unique<Registrar>(node_.root(), paths, [this](const char*, const std::string& text) {
      const std::lock_guard lock(mutex_);
      log_ += text + "\n";
    });
    registrar->board()->publish(snapshot_of(8, 1, 8));
    return registrar;
  }
  std::string log() {
    const std::lock_guard lock(mutex_);
    return log_;
  }

  KubeletRoot node_;
  std::mutex mutex_;
  std::string log_;
};

TEST_F(RegistrarTest, RegistersWhereASocketOfAnEarlierKubeletWasLeft) {
  leave_socket(node_.kubelet_socket());
  const auto registrar = start();
  ASSERT_TRUE(wait_for([&] { return log().find("no process listens") != std::string::npos; })) << log();
  Kubelet kubelet(node_.plugins());
  EXPECT_TRUE(wait_for([&] { return kubelet.healthy(kGpu) == 8; })) << log();
}

TEST_F(RegistrarTest, RegistersWhenKubeletsFolderIsMadeLater) {
  fs::remove_all(node_.plugins());
  const auto registrar = start();
  ASSERT_TRUE(wait_for([&] { return log().find("is missing") != std::string::npos; })) << log();
  Kubelet kubelet(node_.plugins());
  EXPECT_TRUE(wait_for([&] { return kubelet.healthy(kGpu) == 8; })) << log();
}

TEST_F(RegistrarTest, RegistersAgainWhenKubeletsFolderIsWipedAndMadeAgain) {
  auto kubelet = std::make_unique<Kubelet>(node_.plugins());
  const auto registrar = start();
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(wait_for([&] { return kubelet->healthy(kGpu) == 8; })) << log();
    kubelet.reset();
    fs::remove_all(node_.plugins());  // fails if a socket is created in it meanwhile
    EXPECT_FALSE(fs::exists(node_.plugins()));
    kubelet = std::make_unique<Kubelet>(node_.plugins());
  }
  EXPECT_TRUE(wait_for([&] { return kubelet->healthy(kGpu) == 8; })) << log();
}

TEST_F(RegistrarTest, ExplainsHowLongTheRegistrationTookOrWhyThereIsNone) {
  const auto registrar = start();
  ASSERT_TRUE(wait_for([&] { return !registrar->status()[kGpu].waits_for.empty(); }));
  EXPECT_FALSE(registrar->status()[kGpu].took);
  Kubelet kubelet(node_.plugins());
  ASSERT_TRUE(wait_for([&] { return registrar->status()[kGpu].registered; }));
  EXPECT_TRUE(registrar->status()[kGpu].took);
  EXPECT_EQ(registrar->status()[kGpu].waits_for, "");
  EXPECT_THAT(log(), ::testing::ContainsRegex("registered with kubelet within [0-9]+ ms"));
}

TEST_F(RegistrarTest, ReportsEachChangeOfItsStatus) {
  const auto registrar = start();
  std::atomic<unsigned> told{0};
  registrar->set_on_change([&] { ++told; });
  ASSERT_TRUE(wait_for([&] { return !registrar->status()[kGpu].waits_for.empty(); }));
  const unsigned before = told;
  Kubelet kubelet(node_.plugins());
  ASSERT_TRUE(wait_for([&] { return registrar->status()[kGpu].streams == 1; }));
  EXPECT_GT(told, before);
  registrar->set_on_change({});
}

// Before the fix, kubelet retried such a socket forever, with an error each time.
TEST_F(RegistrarTest, RemovesItsOwnSocketsOnWhichNoProcessListens) {
  fs::create_directories(node_.registry());
  leave_socket(node_.registry() + "/nvidia-gpu.sock");
  leave_socket(node_.registry() + "/nvidia-mig-1g.10gb.sock");
  leave_socket(node_.registry() + "/gpu.nvidia.com-reg.sock");
  const Fd served = socket_at(node_.registry() + "/nvidia-other.sock", true);
  std::ofstream(node_.registry() + "/nvidia-notes.sock") << "no socket";
  const auto registrar = start();
  Kubelet kubelet(node_.plugins());
  ASSERT_TRUE(wait_for([&] { return kubelet.healthy(kGpu) == 8; })) << log();
  EXPECT_FALSE(fs::exists(node_.registry() + "/nvidia-gpu.sock"));
  EXPECT_FALSE(fs::exists(node_.registry() + "/nvidia-mig-1g.10gb.sock"));
  EXPECT_TRUE(fs::exists(node_.registry() + "/gpu.nvidia.com-reg.sock")) << "somebody else's";
  EXPECT_TRUE(fs::exists(node_.registry() + "/nvidia-other.sock")) << "somebody listens";
  EXPECT_TRUE(fs::exists(node_.registry() + "/nvidia-notes.sock"));
  EXPECT_THAT(log(), ::testing::HasSubstr("removed /plugins_registry/nvidia-gpu.sock"));
}

TEST_F(RegistrarTest, ChangesTheKindOfRegistrationWithoutLosingResources) {
  fs::create_directories(node_.registry());
  EndpointPaths watched = KubeletRoot::paths();
  watched.in_registry = true;
  Kubelet kubelet(node_.plugins());
  const auto registrar = start(watched);
  const std::string socket = node_.registry() + "/nvidia-gpu.sock";
  ASSERT_TRUE(wait_for([&] { return fs::exists(socket); }));
  ASSERT_EQ(kubelet.look_into_registry(node_.registry()), 1U);
  ASSERT_TRUE(wait_for([&] { return kubelet.healthy(kGpu) == 8; }));
  registrar->use(KubeletRoot::paths());
  ASSERT_TRUE(wait_for([&] { return kubelet.of(kGpu).registrations == 2 && kubelet.healthy(kGpu) == 8; })) << log();
  EXPECT_FALSE(fs::exists(socket));
  // kubelet's plugin watcher notices that its socket is gone, and ends the registration that it takes for the same one.
  kubelet.drop_stream(kGpu);
  EXPECT_TRUE(wait_for([&] { return kubelet.of(kGpu).registrations == 3 && kubelet.healthy(kGpu) == 8; })) << log();
  registrar->use(watched);
  ASSERT_TRUE(wait_for([&] { return fs::exists(socket); }));
  EXPECT_EQ(kubelet.look_into_registry(node_.registry()), 1U);
  EXPECT_TRUE(wait_for([&] { return kubelet.healthy(kGpu) == 8; })) << log();
}

// Before the fix, two plugins that served the same kubelet took the resources from each other 78 times in 20 s.
TEST_F(RegistrarTest, WaitsWhileAnotherPluginServesKubelet) {
  Kubelet kubelet(node_.plugins());
  auto first = start();
  ASSERT_TRUE(wait_for([&] { return kubelet.healthy(kGpu) == 8; })) << log();
  const auto second = start();
  ASSERT_TRUE(wait_for([&] { return second->status()[kGpu].problem.find("takes over") != std::string::npos; }));
  EXPECT_THAT(second->status()[kGpu].problem, ::testing::HasSubstr("process " + std::to_string(::getpid())));
  EXPECT_EQ(kubelet.of(kGpu).registrations, 1U);
  EXPECT_EQ(kubelet.healthy(kGpu), 8U);
  first.reset();
  ASSERT_TRUE(wait_for([&] { return kubelet.of(kGpu).registrations == 2 && kubelet.healthy(kGpu) == 8; })) << log();
  EXPECT_EQ(second->status()[kGpu].problem, "");
  EXPECT_TRUE(kubelet.allocate(kGpu, 1).status.error_message().find("not offered") == std::string::npos);
}

TEST_F(RegistrarTest, EndsWhileKubeletIsConnectedAndRemovesItsSockets) {
  Kubelet kubelet(node_.plugins());
  auto registrar = start();
  ASSERT_TRUE(wait_for([&] { return kubelet.healthy(kGpu) == 8; })) << log();
  registrar.reset();
  EXPECT_TRUE(wait_for([&] { return kubelet.healthy(kGpu) == 0; }));
  EXPECT_FALSE(fs::exists(node_.plugins() + "/nvidia-gpu.sock"));
}

}  // namespace
}  // namespace slipway::deviceplugin
