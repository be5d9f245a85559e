// SPDX-License-Identifier: Apache-2.0
#include "deviceplugin/service/endpoint/endpoint.hpp"

#include <algorithm>
#include <thread>
#include <utility>

#include <slipway/unix_socket.hpp>

#include "deviceplugin/service/endpoint/plugin_lock.hpp"
#include "deviceplugin/service/endpoint/stale_sockets.hpp"
#include "deviceplugin/service/grpc/registration.hpp"

namespace slipway::deviceplugin {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kFirstBackOff{500};
constexpr milliseconds kLongestBackOff{30'000};
// kubelet opens the stream right after its answer.
constexpr milliseconds kStreamLimit{3'000};
// A stream that lasted this long was not a refusal.
constexpr milliseconds kSteadyStream{10'000};
// kubelet closes a connection as soon as it has noticed the end of the stream.
constexpr milliseconds kCloseLimit{100};
// A program that empties kubelet's folder, such as `rm -r`, must not find a new socket after each removal.
constexpr milliseconds kWipeLimit{200};
// The pauses double; about a second in all.
constexpr unsigned kQuickTries = 10;
constexpr milliseconds kFirstPause{1};
// For changes that inotify does not report.
constexpr milliseconds kSlowTry{10'000};
constexpr milliseconds kSendStep{1};
constexpr int kSendSteps = 100;

milliseconds doubled(milliseconds pause) { return std::min(std::max(2 * pause, kFirstBackOff), kLongestBackOff); }

}  // namespace

Endpoint::Endpoint(EndpointContext context, EndpointPaths paths, std::string resource, PluginCalls calls)
    : context_(std::move(context)),
      paths_(std::move(paths)),
      resource_(std::move(resource)),
      endpoint_(socket_name(resource_)),
      calls_(std::move(calls)) {
  if (paths_.in_registry)
    watched_.emplace(context_.grpc, context_.root, paths_.registry + "/" + endpoint_, resource_, socket_path(),
                     calls_.on_change);
}

void Endpoint::tick(const DeviceList& list, Clock::time_point now) {
  due_ = Clock::time_point::max();
  if (server_ && file_id(context_.root, socket_path()) != server_->file())
    serve_anew("its socket was removed" + by_whom(), now);
  if (!server_) serve(list, now);
  if (!server_) return;
  if (shown_ != list && (shown_ == nullptr || *shown_ != *list)) server_->show(list);
  shown_ = list;
  if (!watched_) return look_at_kubelet(now);
  const Status told = watched_->tick(server_->streams(), now);
  if (!told && problem_ != told.error().what)
    context_.log("warning", told.error().what + (told.error().next.empty() ? "" : " (" + told.error().next + ")"));
  if (watched_->registered() || !told) problem_ = told ? "" : told.error().what;
  wake_at(watched_->due());
  kubelet_ = file_id(context_.root, paths_.kubelet_socket);
}

/// Returns " by the process 4711": the process whose socket replaced this one's.
std::string Endpoint::by_whom() const {
  const auto end = connect_to(context_.root, socket_path());
  const auto pid = end ? listener_of(*end) : std::nullopt;
  return pid ? " by " + listener_text(*pid) : std::string();
}

void Endpoint::serve(const DeviceList& list, Clock::time_point now) {
  const auto folder = file_id(context_.root, paths_.folder);
  if (std::exchange(folder_, folder) != folder) {
    next_serve_ = now;
    serve_back_off_ = {};
  }
  if (!folder) return wait_for(paths_.folder);
  if (socket_was_removed_ && !kubelet_is_another()) {
    if (!file_id(context_.root, paths_.kubelet_socket) && !paths_.kubelet_socket.empty()) return;
    if (now < next_serve_) return wake_at(next_serve_);
  }
  if (now < next_serve_ && serve_back_off_ > milliseconds(0)) return wake_at(next_serve_);
  auto server = PluginServer::start(context_.grpc, context_.root, socket_path(), calls_, list);
  if (!server) {
    const Error& error = server.error();
    if (problem_ != error.what)
      context_.log("warning", resource_ + ": " + error.what + " (make sure that the folder can be written to)");
    problem_ = error.what;
    serve_back_off_ = doubled(serve_back_off_);
    next_serve_ = now + serve_back_off_;
    return wake_at(next_serve_);
  }
  server_ = std::move(*server);
  socket_was_removed_ = false;
  serve_back_off_ = {};
  problem_.clear();
  shown_ = list;
  since_ = now;
  is_registered_ = false;
}

/// Handles a node whose kubelet has not run yet.
void Endpoint::wait_for(const std::string& folder) {
  const std::string problem = "kubelet's folder " + folder + " is missing";
  if (problem_ != problem)
    context_.log("warning",
                 problem + ": " + resource_ + " is offered as soon as kubelet has started and created the folder");
  problem_ = problem;
}

void Endpoint::serve_anew(const std::string& why, Clock::time_point now) {
  context_.log("info", resource_ + ": " + why + ", serving anew");
  if (watched_) watched_->again();
  former_ = std::move(server_);
  former_->end_streams();
  close_limit_ = now + kCloseLimit;
  is_registered_ = false;
  socket_was_removed_ = true;
  next_serve_ = now + kWipeLimit;
  quick_tries_ = 0;
  next_try_ = now;
}

/// True when kubelet's socket is not the one that the server was started for.
bool Endpoint::kubelet_is_another() const {
  const auto kubelet = file_id(context_.root, paths_.kubelet_socket);
  return kubelet && kubelet != kubelet_;
}

void Endpoint::look_at_kubelet(Clock::time_point now) {
  if (paths_.kubelet_socket.empty()) return;
  const auto kubelet = file_id(context_.root, paths_.kubelet_socket);
  if (std::exchange(kubelet_, kubelet) != kubelet) {
    // This is a new kubelet, so earlier refusals do not count.
    if (is_registered_) context_.log("info", resource_ + ": kubelet was restarted");
    if (is_registered_) server_->end_streams();
    is_registered_ = false;
    close_limit_ = now + kCloseLimit;
    back_off_ = {};
    quick_tries_ = 0;
    next_try_ = now;
    since_ = now;
  }
  if (is_registered_) watch_stream(now);
  if (!kubelet) {
    waits_for_ = "kubelet does not run: there is no " + paths_.kubelet_socket;
    problem_.clear();
    return;
  }
  if (is_registered_) return;
  if (now < next_try_) return wake_at(next_try_);
  if (former_is_over(now)) register_now(now);
}

void Endpoint::watch_stream(Clock::time_point now) {
  // The order matters: a stream that kubelet opens between the two calls counts as open, not as ended.
  const unsigned begun = server_->streams_begun();
  if (server_->streams() > 0) return;
  if (begun != streams_before_) return register_again("kubelet has ended its stream", now);
  if (now < registered_at_ + kStreamLimit) return wake_at(registered_at_ + kStreamLimit);
  register_again("kubelet does not ask for the list of devices", now);
}

/// Registers at once if the last stream lasted long, else after a pause.
void Endpoint::register_again(const std::string& why, Clock::time_point now) {
  context_.log("info", resource_ + ": " + why + ", registering again");
  server_->end_streams();
  close_limit_ = now + kCloseLimit;
  is_registered_ = false;
  since_ = now;
  quick_tries_ = 0;
  next_try_ = now;
  if (now < registered_at_ + kSteadyStream)
    back_off(now);
  else
    back_off_ = {};
}

/// The first retry has no pause.
void Endpoint::back_off(Clock::time_point now) {
  next_try_ = now + back_off_;
  back_off_ = doubled(back_off_);
}

/// True when kubelet has noticed the end of the former server, or has had the time for it.
bool Endpoint::former_is_over(Clock::time_point now) {
  if (now < close_limit_ && connections() > 0) {
    wake_at(close_limit_);
    return false;
  }
  former_.reset();
  return true;
}

void Endpoint::register_now(Clock::time_point now) {
  streams_before_ = server_->streams_begun();  // kubelet may open its stream before it answers
  const Clock::time_point begin = Clock::now();
  const Status status =
      register_with_kubelet(context_.root, paths_.kubelet_socket, endpoint_, resource_, context_.stop);
  now += Clock::now() - begin;
  if (!status)
    return status.error().code == ErrorCode::denied ? refused(status.error(), now) : not_reached(status.error(), now);
  is_registered_ = true;
  registered_at_ = now;
  took_ = std::chrono::duration_cast<milliseconds>(registered_at_ - since_);
  ++registrations_;
  problem_.clear();
  waits_for_.clear();
  context_.log("info", resource_ + ": registered with kubelet within " + std::to_string(took_->count()) + " ms, " +
                           std::to_string(shown_->size()) + " devices");
  watch_stream(now);
}

/// Handles an answer that refuses the registration.
void Endpoint::refused(const Error& error, Clock::time_point now) {
  back_off_ = doubled(back_off_);
  next_try_ = now + back_off_;
  wake_at(next_try_);
  if (problem_ != error.what) context_.log("warning", error.what + " (" + error.next + ")");
  problem_ = error.what;
  waits_for_.clear();
}

/// No process listens: kubelet does not run, or is about to listen.
void Endpoint::not_reached(const Error& error, Clock::time_point now) {
  next_try_ = now + (quick_tries_ < kQuickTries ? kFirstPause * (1U << quick_tries_) : kSlowTry);
  wake_at(next_try_);
  if (++quick_tries_ < kQuickTries) return;
  if (waits_for_ != error.what) context_.log("info", error.what + (error.next.empty() ? "" : " (" + error.next + ")"));
  waits_for_ = error.what;
  problem_.clear();
}

void Endpoint::withdraw() {
  watched_.reset();
  if (!server_) return;
  // Sends the empty list before the end: capacity becomes 0 at once, not after kubelet's five minutes.
  server_->show(std::make_shared<std::vector<Listed>>());
  for (int i = 0; i < kSendSteps && !server_->is_idle(); ++i) std::this_thread::sleep_for(kSendStep);
  server_.reset();
  context_.log("info", resource_ + ": withdrawn");
}

void Endpoint::end_streams() {
  if (server_) server_->end_streams();
}

unsigned Endpoint::connections() const {
  return (server_ ? server_->connections() : 0) + (former_ ? former_->connections() : 0);
}

EndpointStatus Endpoint::status() const {
  const unsigned streams = server_ ? server_->streams() : 0;
  if (watched_) return {watched_->registered(), streams, watched_->registrations(), problem_, {}, {}};
  return {is_registered_, streams,    registrations_,
          problem_,       waits_for_, is_registered_ ? took_ : std::optional<milliseconds>()};
}

}  // namespace slipway::deviceplugin
