// SPDX-License-Identifier: Apache-2.0
#include "deviceplugin/service/endpoint.hpp"

#include <algorithm>
#include <thread>

namespace slipway::deviceplugin {
namespace {

constexpr std::chrono::milliseconds kFirstBackOff{500};
constexpr std::chrono::milliseconds kLongestBackOff{30'000};
// kubelet opens the stream right after it has answered; one that ended is given a moment to be opened again.
constexpr std::chrono::milliseconds kStreamLimit{3'000};
constexpr std::chrono::milliseconds kEndStep{10};
constexpr int kEndSteps = 100;

/// "nvidia.com/gpu" -> "nvidia-gpu.sock".
std::string endpoint_of(const std::string& resource) {
  return "nvidia-" + resource.substr(resource.find('/') + 1) + ".sock";
}

}  // namespace

Endpoint::Endpoint(EndpointPaths paths, std::string resource, PluginCalls calls, Log log)
    : paths_(std::move(paths)),
      resource_(std::move(resource)),
      endpoint_(endpoint_of(resource_)),
      calls_(std::move(calls)),
      log_(std::move(log)) {
  if (!paths_.registry.empty())
    watched_.emplace(paths_.registry + "/" + endpoint_, resource_, paths_.folder_of_host + "/" + endpoint_);
}

void Endpoint::tick(const DeviceList& list, Clock::time_point now) {
  if (server_ && file_id(socket_path()) != socket_id_) stop("its socket was taken away");
  if (!server_) {
    if (now >= next_try_) serve(list, now);
    if (!server_) return;
  }
  if (shown_ != list && (shown_ == nullptr || *shown_ != *list)) server_->show(list);
  shown_ = list;
  if (!watched_) return register_at_socket(now);
  if (const Status told = watched_->tick(streams(), now); !told) failed(told.error(), now);
}

void Endpoint::register_at_socket(Clock::time_point now) {
  if (paths_.kubelet_socket.empty()) return;
  const auto kubelet = file_id(paths_.kubelet_socket);
  if (registered_with_ && kubelet != registered_with_) {
    log_("info", resource_ + ": kubelet was restarted");
    registered_with_.reset();
    server_->end_streams();
  }
  if (registered_with_) watch_stream(now);
  if (!kubelet || registered_with_) return;
  if (tried_with_ != kubelet) {  // another kubelet than the one that refused
    back_off_ = {};
    next_try_ = now;
  }
  if (now >= next_try_) register_now(*kubelet, now);
}

void Endpoint::serve(const DeviceList& list, Clock::time_point now) {
  if (!file_id(paths_.folder)) return wait_for(paths_.folder);
  auto server = PluginServer::start(socket_path(), calls_, list);
  if (!server) return failed(server.error(), now);
  server_ = std::move(*server);
  shown_ = list;
  socket_id_ = file_id(socket_path());
  registered_with_.reset();
}

/// A node whose kubelet has not run yet: it is looked for with each tick.
void Endpoint::wait_for(const std::string& folder) {
  const std::string problem = "kubelet's folder " + folder + " is not there";
  if (problem_ != problem)
    log_("warning", problem + ": " + resource_ + " is offered as soon as kubelet has started and made it");
  problem_ = problem;
  back_off_ = {};
}

void Endpoint::stop(const std::string& why) {
  log_("info", resource_ + ": " + why + ", serving anew");
  if (watched_) watched_->again();
  server_.reset();  // ends the stream first: kubelet forgets it before it is told anew
  registered_with_.reset();
  tried_with_.reset();
}

void Endpoint::watch_stream(Clock::time_point now) {
  if (server_->streams() > 0) {
    stream_seen_ = now;
    back_off_ = {};
    return;
  }
  if (now - stream_seen_ < kStreamLimit) return;
  log_("warning", resource_ + ": kubelet does not listen to the list of devices any more, registering again");
  registered_with_.reset();
  back_off_ = std::min(std::max(2 * back_off_, kFirstBackOff), kLongestBackOff);
  next_try_ = now + back_off_;
}

void Endpoint::register_now(const FileId& kubelet, Clock::time_point now) {
  server_->end_streams();
  for (int i = 0; i < kEndSteps && server_->streams() > 0; ++i) std::this_thread::sleep_for(kEndStep);
  tried_with_ = kubelet;
  const Status status = register_with_kubelet(paths_.kubelet_socket, endpoint_, resource_);
  if (!status) return failed(status.error(), now);
  registered_with_ = kubelet;
  stream_seen_ = Clock::now();
  next_try_ = now;
  ++registrations_;
  problem_.clear();
  log_("info", resource_ + ": registered with kubelet, " + std::to_string(shown_->size()) + " devices");
}

void Endpoint::failed(const Error& error, Clock::time_point now) {
  back_off_ = std::min(std::max(2 * back_off_, kFirstBackOff), kLongestBackOff);
  next_try_ = now + back_off_;
  if (problem_ != error.what) log_("warning", error.what + (error.next.empty() ? "" : " (" + error.next + ")"));
  problem_ = error.what;
}

void Endpoint::withdraw() {
  watched_.reset();
  if (!server_) return;
  server_->show(std::make_shared<std::vector<Listed>>());
  // The stream carries the empty list before it ends: capacity goes to 0 at once, not after kubelet's five minutes.
  std::this_thread::sleep_for(10 * kEndStep);
  server_.reset();
  log_("info", resource_ + ": withdrawn");
}

}  // namespace slipway::deviceplugin
