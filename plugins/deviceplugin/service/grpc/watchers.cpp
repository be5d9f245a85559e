// SPDX-License-Identifier: Apache-2.0
#include "deviceplugin/service/grpc/watchers.hpp"

namespace slipway::deviceplugin {

using v1beta1::ListAndWatchResponse;

/// One stream. gRPC calls On…() one at a time per stream, but show() and end() come from other threads.
class Watcher final : public grpc::ServerWriteReactor<ListAndWatchResponse> {
 public:
  using Message = std::shared_ptr<const ListAndWatchResponse>;

  explicit Watcher(std::shared_ptr<Watchers> all) : all_(std::move(all)) {}

  void show(const Message& message) {
    const std::lock_guard lock(mutex_);
    if (finished_) return;
    if (writing_) {
      next_ = message;
      return;
    }
    write(message);
  }
  void end(const grpc::Status& status) {
    const std::lock_guard lock(mutex_);
    if (finished_) return;
    finished_ = true;
    Finish(status);
  }
  void OnWriteDone(bool ok) override {
    if (!ok) return end(grpc::Status::CANCELLED);
    const std::lock_guard lock(mutex_);
    writing_ = false;
    current_.reset();
    if (!finished_ && next_) write(std::exchange(next_, nullptr));
  }
  void OnCancel() override { end(grpc::Status::CANCELLED); }
  void OnDone() override {
    all_->gone(this);
    delete this;
  }

 private:
  void write(Message message) {
    current_ = std::move(message);
    writing_ = true;
    StartWrite(current_.get());
  }

  const std::shared_ptr<Watchers> all_;
  std::mutex mutex_;
  Message current_;
  Message next_;
  bool writing_ = false;
  bool finished_ = false;
};

namespace {

std::shared_ptr<const ListAndWatchResponse> message_of(const DeviceList& list) {
  auto message = std::make_shared<ListAndWatchResponse>();
  message->mutable_devices()->Reserve(static_cast<int>(list->size()));
  for (const Listed& device : *list) {
    v1beta1::Device* const out = message->add_devices();
    out->set_id(device.id);
    out->set_health(device.healthy ? "Healthy" : "Unhealthy");
    // Node 0 is an empty message on the wire, and must be there: without it the device has no place.
    if (device.numa_node) out->mutable_topology()->add_nodes()->set_id(*device.numa_node);
  }
  return message;
}

}  // namespace

Watchers::Watchers(const DeviceList& list) : newest_(message_of(list)) {}

grpc::ServerWriteReactor<ListAndWatchResponse>* Watchers::open() {
  auto* const watcher = new Watcher(shared_from_this());  // NOLINT: gRPC calls OnDone(), which deletes it
  const std::lock_guard lock(mutex_);
  open_.insert(watcher);
  if (closed_)
    watcher->end(grpc::Status(grpc::StatusCode::UNAVAILABLE, "the resource is withdrawn"));
  else
    watcher->show(newest_);
  return watcher;
}

void Watchers::show(const DeviceList& list) {
  auto message = message_of(list);
  const std::lock_guard lock(mutex_);
  newest_ = std::move(message);
  for (Watcher* const watcher : open_) watcher->show(newest_);
}

void Watchers::end_all(bool for_good) {
  const std::lock_guard lock(mutex_);
  closed_ = closed_ || for_good;
  for (Watcher* const watcher : open_) watcher->end(grpc::Status::OK);
}

unsigned Watchers::count() const {
  const std::lock_guard lock(mutex_);
  return static_cast<unsigned>(open_.size());
}

void Watchers::gone(Watcher* watcher) {
  const std::lock_guard lock(mutex_);
  open_.erase(watcher);
}

}  // namespace slipway::deviceplugin
