// SPDX-License-Identifier: Apache-2.0
#include "deviceplugin/service/kubelet_view.hpp"

#include <utility>
#include <vector>

#include "deviceplugin/service/file_id.hpp"

namespace slipway::deviceplugin {
namespace {

constexpr std::chrono::seconds kEvery{5};  // kubelet allows 100 a second to all who ask
/// While kubelet is about to take a new offer.
constexpr std::chrono::milliseconds kSoon{100};
constexpr std::chrono::seconds kSettleLimit{10};

std::vector<std::string> names_of(const std::map<std::string, long>& offered) {
  std::vector<std::string> names;
  for (const auto& [name, healthy] : offered) names.push_back(name);
  return names;
}

}  // namespace

KubeletView::KubeletView(std::string socket)
    : socket_(std::move(socket)), thread_([this](const std::stop_token& stop) { work(stop); }) {}

KubeletView::~KubeletView() {
  thread_.request_stop();
  thread_.join();
}

void KubeletView::offers(std::map<std::string, long> offered) {
  const std::lock_guard lock(mutex_);
  if (offered == offered_) return;
  offered_ = std::move(offered);
  offered_since_ = Clock::now();
  wake_.notify_all();
}

KubeletView::View KubeletView::view() const {
  const std::lock_guard lock(mutex_);
  return {seen_, is_settling(Clock::now())};
}

bool KubeletView::has_it() const { return seen_ && seen_->allocatable == offered_; }

bool KubeletView::is_settling(Clock::time_point now) const {
  return !offered_.empty() && !has_it() && now - offered_since_ < kSettleLimit;
}

void KubeletView::work(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  std::map<std::string, long> asked;
  while (!stop.stop_requested()) {
    asked = offered_;
    lock.unlock();
    std::optional<PodResources> seen;
    if (!asked.empty() && file_id(socket_))
      if (auto answer = read_pod_resources(socket_, names_of(asked))) seen = std::move(*answer);
    lock.lock();
    seen_ = std::move(seen);
    const auto pause = is_settling(Clock::now()) ? std::chrono::milliseconds(kSoon) : std::chrono::milliseconds(kEvery);
    wake_.wait_for(lock, stop, pause, [&] { return offered_ != asked; });
  }
}

}  // namespace slipway::deviceplugin
