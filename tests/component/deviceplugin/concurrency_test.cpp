// SPDX-License-Identifier: Apache-2.0
// Allocations, changes of health, reloads and restarts of kubelet at the same time, in one process: for the sanitizers.
#include <gtest/gtest.h>

#include <slipway/testing/temp_dir.hpp>

#include "deviceplugin/service/registrar.hpp"
#include "tests/component/deviceplugin/kubelet.hpp"
#include "tests/component/deviceplugin/offered.hpp"

#ifdef __SANITIZE_THREAD__
// Debian's gRPC, which the stand-in for kubelet uses, is not instrumented: the sanitizer does not see how it passes a
// call between its threads.
extern "C" const char* __tsan_default_suppressions() {  // NOLINT: the sanitizer's name
  return "race:grpc::\nrace:libgrpc\nrace:libgpr\nrace:libabsl\nrace:libprotobuf\nrace:libupb\n";
}
#endif

namespace slipway::deviceplugin {
namespace {

constexpr std::chrono::seconds kDuration{5};

using slipway::testing::kGpu;
using slipway::testing::snapshot_of;
using slipway::testing::wait_for;

TEST(Board, HandlesConcurrentAllocationsPreferencesAndSnapshots) {
  Board board;
  board.publish(snapshot_of(8, 4, 8));
  std::atomic<bool> over{false};
  std::atomic<unsigned> granted{0};
  std::vector<std::jthread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&] {
      while (!over) {
        std::vector<std::string> free;
        const auto now = board.now();
        for (const Id& id : now->resources.at(kGpu).ids) free.push_back(id.id);
        const auto ids = board.prefer(kGpu, {free, {}, 2});
        granted += board.allocate(kGpu, ids).ok() ? 1 : 0;
      }
    });
  threads.emplace_back([&] {
    auto seen = board.now();
    while (!over) {
      board.wait(seen, std::chrono::milliseconds(5));
      seen = board.now();
      (void)list_of(*seen, seen->resources.at(kGpu));
    }
  });
  for (unsigned i = 0; i < 300; ++i) {
    board.publish(snapshot_of(4 + i % 5, 2 + i % 3, i % 9));
    board.quiesced = i % 10 == 0;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  over = true;
  threads.clear();
  EXPECT_GT(granted.load(), 0U);
}

// Before the fix, the first pod after a start got GPUs that are far from each other.
TEST(Board, DelaysAPreferenceUntilTheDistancesAreKnown) {
  Board board;
  const Snapshot measured = [] {
    Snapshot snapshot = snapshot_of(4, 1, 4);
    snapshot.nearness.set(1, 3, 100);
    return snapshot;
  }();
  Snapshot fresh = measured;
  fresh.nearness = {};
  board.publish(fresh);
  const PreferredRequest two{{"GPU-0", "GPU-1", "GPU-2", "GPU-3"}, {}, 2};
  std::vector<std::string> given;
  std::atomic<bool> asks{false};
  std::atomic<bool> is_answered{false};
  {
    const std::jthread pod([&] {
      asks = true;
      given = board.prefer(kGpu, two);
      is_answered = true;
    });
    while (!asks) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_FALSE(is_answered);
    board.publish(measured);
  }
  EXPECT_EQ(given, (std::vector<std::string>{"GPU-1", "GPU-3"}));
  fresh.problem = "the GPUs does not answer";
  board.publish(fresh);
  EXPECT_EQ(board.prefer(kGpu, two).size(), 2U) << "and not where they will not be known";
}

TEST(Registrar, HandlesConcurrentAllocationsReloadsAndRestartsOfKubelet) {
  const slipway::testing::TempDir folder;
  const std::string path = folder.at("k").string();
  std::filesystem::create_directories(path);
  std::atomic<bool> over{false};
  std::atomic<unsigned> granted{0};
  auto kubelet = std::make_shared<slipway::testing::Kubelet>(path);
  std::mutex mutex;  // for the pointer
  const auto current = [&] {
    const std::lock_guard lock(mutex);
    return kubelet;
  };
  Registrar registrar(*RootDir::open(folder.string()),
                      {.folder = "/k", .kubelet_socket = "/k/kubelet.sock", .registry = "/r"},
                      [](const char*, const std::string&) {});
  registrar.board()->publish(snapshot_of(8, 1, 8));
  ASSERT_TRUE(wait_for([&] { return kubelet->healthy(kGpu) == 8; }));

  std::vector<std::jthread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&] {
      while (!over) {
        if (const auto now = current()) {
          const auto pod = now->allocate(kGpu, 1);
          granted += pod.status.ok() ? 1 : 0;
          now->free(pod.ids);
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    });
  threads.emplace_back([&] {
    for (unsigned i = 0; !over; ++i) {
      registrar.board()->publish(snapshot_of(4 + i % 5, 1 + i % 4, i % 9));
      registrar.board()->quiesced = i % 50 == 0;
      (void)registrar.status();
      std::this_thread::sleep_for(std::chrono::milliseconds(3));
    }
  });
  const auto end = std::chrono::steady_clock::now() + kDuration;
  for (unsigned i = 0; std::chrono::steady_clock::now() < end; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(700));
    std::weak_ptr<slipway::testing::Kubelet> former = current();
    {
      const std::lock_guard lock(mutex);
      kubelet.reset();
    }
    ASSERT_TRUE(wait_for([&] { return former.expired(); }));
    auto fresh = std::make_shared<slipway::testing::Kubelet>(path);
    const std::lock_guard lock(mutex);
    kubelet = std::move(fresh);
  }
  over = true;
  threads.clear();
  EXPECT_GT(granted.load(), 0U);
  registrar.board()->quiesced = false;
  registrar.board()->publish(snapshot_of(8, 4, 8));
  EXPECT_TRUE(wait_for([&] { return kubelet->healthy(kGpu) == 32; }));
}

}  // namespace
}  // namespace slipway::deviceplugin
