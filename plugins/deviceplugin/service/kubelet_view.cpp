// SPDX-License-Identifier: Apache-2.0
#include "deviceplugin/service/kubelet_view.hpp"

#include "deviceplugin/service/file_id.hpp"

namespace slipway::deviceplugin {
namespace {

constexpr std::chrono::seconds kEvery{5};  // kubelet allows 100 a second to all who ask

}  // namespace

KubeletView::KubeletView(std::string socket)
    : socket_(std::move(socket)), thread_([this](const std::stop_token& stop) { work(stop); }) {}

KubeletView::~KubeletView() {
  thread_.request_stop();
  thread_.join();
}

void KubeletView::ask_about(std::vector<std::string> resources) {
  const std::lock_guard lock(mutex_);
  if (resources == resources_) return;
  resources_ = std::move(resources);
  wake_.notify_all();
}

std::optional<PodResources> KubeletView::seen() const {
  const std::lock_guard lock(mutex_);
  return seen_;
}

void KubeletView::work(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  std::vector<std::string> asked;
  while (!stop.stop_requested()) {
    asked = resources_;
    lock.unlock();
    std::optional<PodResources> seen;
    if (!asked.empty() && file_id(socket_))
      if (auto answer = read_pod_resources(socket_, asked)) seen = std::move(*answer);
    lock.lock();
    seen_ = std::move(seen);
    wake_.wait_for(lock, stop, kEvery, [&] { return resources_ != asked; });
  }
}

}  // namespace slipway::deviceplugin
