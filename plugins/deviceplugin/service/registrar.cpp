// SPDX-License-Identifier: Apache-2.0
#include "deviceplugin/service/registrar.hpp"

namespace slipway::deviceplugin {
namespace {

// A tick costs two stat() calls for each resource.
constexpr std::chrono::milliseconds kTick{250};

}  // namespace

Registrar::Registrar(EndpointPaths paths, Endpoint::Log log)
    : paths_(std::move(paths)), log_(std::move(log)), thread_([this](const std::stop_token& stop) { work(stop); }) {}

Registrar::~Registrar() {
  thread_.request_stop();
  board_->wake();
  thread_.join();
}

std::map<std::string, EndpointStatus> Registrar::status() const {
  const std::lock_guard lock(mutex_);
  return status_;
}

void Registrar::set_log(Endpoint::Log log) {
  const std::lock_guard lock(mutex_);
  log_ = std::move(log);
}

void Registrar::log(const char* level, const std::string& text) {
  const std::lock_guard lock(mutex_);
  if (log_) log_(level, text);
}

void Registrar::work(const std::stop_token& stop) {
  const GrpcThreads threads;  // they start while the GPUs are asked
  while (!stop.stop_requested()) {
    const auto snapshot = board_->now();
    if (snapshot != listed_) lists_.clear();
    listed_ = snapshot;
    pass(*snapshot);
    if (!stop.stop_requested()) board_->wait(snapshot, kTick);
  }
  endpoints_.clear();
}

std::unique_ptr<Endpoint> Registrar::make_endpoint(const std::string& name) {
  return std::make_unique<Endpoint>(
      paths_, name,
      PluginCalls{
          .allocate = [board = board_,
                       name](const std::vector<std::string>& ids) { return board->allocate(name, ids); },
          .prefer = [board = board_, name](const PreferredRequest& desired) { return board->prefer(name, desired); }},
      [this](const char* level, const std::string& text) { log(level, text); });
}

void Registrar::pass(const Snapshot& snapshot) {
  for (auto each = endpoints_.begin(); each != endpoints_.end();) {
    const bool wanted = snapshot.resources.contains(each->first);
    if (!wanted) each->second->withdraw();
    each = wanted ? std::next(each) : endpoints_.erase(each);
  }
  std::map<std::string, EndpointStatus> seen;
  for (const auto& [name, resource] : snapshot.resources) {
    std::unique_ptr<Endpoint>& endpoint = endpoints_[name];
    if (!endpoint) endpoint = make_endpoint(name);
    DeviceList& list = lists_[name];
    if (!list) list = list_of(snapshot, resource);
    endpoint->tick(list, Endpoint::Clock::now());
    seen[name] = {endpoint->registered(), endpoint->streams(), endpoint->registrations(), endpoint->problem()};
  }
  const std::lock_guard lock(mutex_);
  status_ = std::move(seen);
}

}  // namespace slipway::deviceplugin
