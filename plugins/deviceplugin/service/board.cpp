// SPDX-License-Identifier: Apache-2.0
#include "deviceplugin/service/board.hpp"

#include <random>

#include <sys/eventfd.h>

namespace slipway::deviceplugin {
namespace {

// The service measures nearness, and asks kubelet for allocations, right after kubelet has the GPUs; a call that hangs
// then does not delay pods.
constexpr std::chrono::milliseconds kMeasureLimit{1'000};

/// Returns 128 random bits as letters, which no other annotation of the node has.
std::string random_key() {
  thread_local std::mt19937_64 generator(std::random_device{}());
  std::string key;
  for (int word = 0; word < 2; ++word)
    for (std::uint64_t bits = generator(), i = 0; i < 16; ++i, bits >>= 4U) key += "0123456789abcdef"[bits & 15U];
  return key;
}

}  // namespace

Health Snapshot::health_of(const Device& device) const {
  auto found = health.find(device.gpu);
  if (found == health.end() && device.mig) found = health.find(instance_key(device.gpu, device.gpu_instance));
  return found == health.end() ? Health() : found->second;
}

Board::Board() : events_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

std::shared_ptr<const Snapshot> Board::now() const {
  const std::lock_guard lock(mutex_);
  return now_;
}

bool Board::publish(Snapshot snapshot) {
  const std::lock_guard lock(mutex_);
  if (*now_ == snapshot) return false;
  now_ = std::make_shared<const Snapshot>(std::move(snapshot));
  changed_.notify_all();
  wake();
  return true;
}

void Board::wait(const std::shared_ptr<const Snapshot>& seen, std::chrono::milliseconds limit) const {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, limit, [&] { return now_ != seen; });
}

void Board::wake() const { (void)::eventfd_write(events_.get(), 1); }

void Board::take() const {
  eventfd_t count = 0;
  (void)::eventfd_read(events_.get(), &count);
}

void Board::set_allocations(std::shared_ptr<const std::vector<Allocation>> allocations) {
  const std::lock_guard lock(mutex_);
  allocations_ = std::move(allocations);
  changed_.notify_all();
}

void Board::expect_allocations() {
  const std::lock_guard lock(mutex_);
  expects_allocations_ = true;
}

Result<Grant> Board::allocate(const std::string& resource, const std::vector<std::string>& ids) const {
  if (quiesced)
    return Error{.code = ErrorCode::busy,
                 .what = "the GPUs are unavailable while they are being changed",
                 .where = {},
                 .next = "create the pod again in a minute"};
  const auto snapshot = now();
  const auto found = snapshot->resources.find(resource);
  if (found == snapshot->resources.end())
    return Error{.code = ErrorCode::invalid, .what = resource + " is not offered on this node any more"};
  if (const auto why = snapshot->unready.find(resource); why != snapshot->unready.end())
    return Error{.code = ErrorCode::busy, .what = resource + " is not ready: " + why->second};
  for (const std::string& text : ids) {
    const Id* const id = found->second.find(text);
    if (id == nullptr) continue;  // allocate() reports the error
    const Health health = snapshot->health_of(found->second.devices[id->device]);
    if (!health.healthy)
      return Error{.code = ErrorCode::invalid,
                   .what = text + " is unhealthy: " + health.text,
                   .where = {},
                   .next = health.remedy};
  }
  return deviceplugin::allocate(found->second, ids, snapshot->settings, snapshot->extras, random_key());
}

std::vector<std::string> Board::prefer(const std::string& resource, const PreferredRequest& request) const {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, kMeasureLimit,
                    [&] { return now_->is_measured() && (allocations_ != nullptr || !expects_allocations_); });
  const auto snapshot = now_;
  const auto allocations = allocations_;
  lock.unlock();
  const auto found = snapshot->resources.find(resource);
  if (found == snapshot->resources.end()) return {};
  std::vector<unsigned> uncounted;
  if (allocations) uncounted = uncounted_uses(found->second, snapshot->gpus, *allocations);
  return preferred(found->second, request, snapshot->settings.policy, snapshot->nearness, uncounted);
}

DeviceList list_of(const Snapshot& snapshot, const Resource& resource) {
  auto list = std::make_shared<std::vector<Listed>>();
  list->reserve(resource.ids.size());
  const bool ready = !snapshot.unready.contains(resource.name);
  for (const Id& id : resource.ids) {
    const Device& device = resource.devices[id.device];
    list->push_back({id.id, ready && snapshot.health_of(device).healthy, device.numa_node});
  }
  return list;
}

}  // namespace slipway::deviceplugin
