// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>

#include "plugin_ops.hpp"

namespace slipway::detail {
namespace {

struct Running {
  Service* service = nullptr;
  std::stop_source stop;
  std::atomic<bool> runs_again{false};  // for the requested stop
  std::mutex asking;                    // held during a request to the service, so that it does not end meanwhile
};

struct Registry {
  std::mutex mutex;
  std::condition_variable added;
  std::map<std::string, std::shared_ptr<Running>> running;
};

Registry& registry() {
  static Registry all;
  return all;
}

/// Implements a service's ServiceIo with the services that slipway gives a plugin.
class CoreServiceIo final : public ServiceIo {
 public:
  CoreServiceIo(const slipway_services& services, AliveEvery alive_every, const Running& running)
      : services_(services), alive_every_(alive_every), running_(running) {}
  void ready() override { notify_slipway(services_, "ready", Json::object()); }
  void status(std::string_view line) override { notify_slipway(services_, "status", {{"text", line}}); }
  void reasons(const std::vector<std::string>& lines) override {
    notify_slipway(services_, "reasons", {{"lines", lines}});
  }
  void log(std::string_view level, std::string_view text) override {
    notify_slipway(services_, "log", {{"level", level}, {"text", text}});
  }
  void alive() override { notify_slipway(services_, "alive", Json::object()); }
  AliveEvery alive_every() const override { return alive_every_; }
  bool runs_again() const override { return running_.runs_again; }

 private:
  const slipway_services& services_;
  AliveEvery alive_every_;
  const Running& running_;
};

/// The time to wait for the service to start in its own thread: a request may arrive before that.
constexpr std::chrono::seconds kBeginLimit{5};

std::shared_ptr<Running> find(const std::string& component) {
  Registry& all = registry();
  std::unique_lock lock(all.mutex);
  all.added.wait_for(lock, kBeginLimit, [&] { return all.running.contains(component); });
  const auto found = all.running.find(component);
  return found == all.running.end() ? nullptr : found->second;
}

Error does_not_run(const std::string& component) {
  return Error{.code = ErrorCode::not_found, .what = "the service of " + component + " does not run"};
}

Status ask(const std::string& component, const std::function<Status(Service&)>& what) {
  const std::shared_ptr<Running> running = find(component);
  if (!running) return does_not_run(component);
  const std::scoped_lock lock(running->asking);
  return running->service == nullptr ? does_not_run(component) : what(*running->service);
}

}  // namespace

Status run_service(const std::string& component, Service& service, const Spec& spec, const Host& host,
                   AliveEvery alive_every, const slipway_services& services) {
  const auto running = std::make_shared<Running>();
  running->service = &service;
  Registry& all = registry();
  {
    const std::scoped_lock lock(all.mutex);
    if (!all.running.emplace(component, running).second)
      return Error{.code = ErrorCode::conflict, .what = "the service of " + component + " runs already"};
    all.added.notify_all();
  }
  // However run() ends, the entry is removed before the service is destroyed.
  const std::shared_ptr<void> leave(nullptr, [&](void*) {
    {
      const std::scoped_lock lock(all.mutex);
      all.running.erase(component);
    }
    const std::scoped_lock lock(running->asking);
    running->service = nullptr;
  });
  CoreServiceIo io(services, alive_every, *running);
  return service.run(spec, host, running->stop.get_token(), io);
}

Status quiesce_service(const std::string& component) {
  return ask(component, [](Service& service) { return service.quiesce(); });
}

Status resume_service(const std::string& component) {
  return ask(component, [](Service& service) { return service.resume(); });
}

Status stop_service(const std::string& component, bool runs_again) {
  const std::shared_ptr<Running> running = find(component);
  if (!running) return does_not_run(component);
  running->runs_again = runs_again;
  running->stop.request_stop();
  return {};
}

}  // namespace slipway::detail
