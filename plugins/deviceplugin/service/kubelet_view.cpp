// SPDX-License-Identifier: Apache-2.0
#include "deviceplugin/service/kubelet_view.hpp"

#include <array>
#include <utility>
#include <vector>

#include <poll.h>
#include <sys/eventfd.h>

namespace slipway::deviceplugin {
namespace {

constexpr std::chrono::milliseconds kNet{10'000};
constexpr std::chrono::milliseconds kWithoutWatch{5'000};
/// The interval of reads while kubelet is about to take a new offer, and the shortest time between two reads: kubelet
/// allows 100 a second for all its clients, and writes its checkpoint several times per pod.
constexpr std::chrono::milliseconds kMinPollInterval{100};
constexpr std::chrono::seconds kSettleLimit{10};

std::optional<FileWatch> watch_over(const Host& host, const std::vector<std::string>& paths) {
  auto root = RootDir::open(host.root_folder());
  if (!root) return std::nullopt;
  auto watch = FileWatch::open(std::move(*root), paths);
  if (!watch) return std::nullopt;
  return std::move(*watch);
}

}  // namespace

KubeletView::KubeletView(const Host& host, const std::string& kubelet_root, std::function<void()> on_change)
    : host_(host),
      socket_(kubelet_root + "/pod-resources/kubelet.sock"),
      reader_(host, socket_),
      on_change_(std::move(on_change)),
      watch_(watch_over(host, {socket_, nvidia::kubelet::checkpoint_file(kubelet_root)})),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      thread_([this](const std::stop_token& stop) { work(stop); }) {}

KubeletView::~KubeletView() {
  thread_.request_stop();
  wake();
  thread_.join();
}

void KubeletView::offers(std::map<std::string, long> offered) {
  const std::lock_guard lock(mutex_);
  if (offered == offered_) return;
  offered_ = std::move(offered);
  offered_since_ = Clock::now();
  wake();
}

KubeletView::View KubeletView::view() const {
  const std::lock_guard lock(mutex_);
  return {allocations_, allocatable_, is_settling(Clock::now())};
}

bool KubeletView::is_settling(Clock::time_point now) const {
  return !offered_.empty() && allocatable_ != offered_ && now - offered_since_ < kSettleLimit;
}

KubeletView::KubeletReading KubeletView::look(const std::map<std::string, long>& offered) {
  nvidia::kubelet::Allocations found = reader_.read();
  KubeletReading seen{std::move(found.all), std::nullopt};
  if (found.silent || offered.empty()) return seen;
  const auto allocatable = nvidia::kubelet::list_allocatable(host_, socket_);
  if (!allocatable || !*allocatable) return seen;
  seen.allocatable.emplace();
  for (const auto& [name, healthy] : offered) {
    const auto ids = (*allocatable)->find(name);
    (*seen.allocatable)[name] = ids == (*allocatable)->end() ? 0 : static_cast<long>(ids->second.size());
  }
  return seen;
}

bool KubeletView::take(KubeletReading seen) {
  const std::lock_guard lock(mutex_);
  bool changed = !allocations_ || *allocations_ != seen.allocations || allocatable_ != seen.allocatable;
  if (!allocations_ || *allocations_ != seen.allocations)
    allocations_ = std::make_shared<const std::vector<nvidia::kubelet::Allocation>>(std::move(seen.allocations));
  allocatable_ = std::move(seen.allocatable);
  const bool settling = is_settling(Clock::now());
  changed = changed || std::exchange(reported_settling_, settling) != settling;
  return changed;
}

void KubeletView::work(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    std::map<std::string, long> asked;
    {
      const std::lock_guard lock(mutex_);
      asked = offered_;
    }
    if (take(look(asked)) && on_change_) on_change_();
    if (!stop.stop_requested()) pause();
  }
}

void KubeletView::wake() const {
  const std::uint64_t one = 1;
  (void)!::write(wake_.get(), &one, sizeof one);
}

/// Waits until an offer or kubelet's files change, or the time is over.
void KubeletView::pause() {
  const auto begun = Clock::now();
  std::chrono::milliseconds limit = watch_ ? kNet : kWithoutWatch;
  {
    const std::lock_guard lock(mutex_);
    if (is_settling(begun)) limit = kMinPollInterval;
  }
  std::array<pollfd, 2> watched{pollfd{wake_.get(), POLLIN, 0}, pollfd{watch_ ? watch_->fd() : -1, POLLIN, 0}};
  const auto left = [&](std::chrono::milliseconds of) {
    const auto passed = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begun);
    return static_cast<int>(std::max(of - passed, std::chrono::milliseconds(0)).count());
  };
  bool files_changed = false;
  while (!files_changed && left(limit) > 0) {
    watched[0].revents = watched[1].revents = 0;
    (void)::poll(watched.data(), watched.size(), left(limit));
    if (watched[0].revents != 0) break;
    if (watched[1].revents != 0) files_changed = watch_->take();
  }
  // Changes within a moment are handled by the same read.
  if (files_changed && left(kMinPollInterval) > 0) (void)::poll(watched.data(), 1, left(kMinPollInterval));
  std::uint64_t count = 0;
  (void)!::read(wake_.get(), &count, sizeof count);
}

}  // namespace slipway::deviceplugin
