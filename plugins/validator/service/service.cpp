// SPDX-License-Identifier: Apache-2.0
// plugins/validator/service/service.cpp - the validator's service: status files and gauges that follow the state of the
// machine.
#include <algorithm>
#include <atomic>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <slipway/component.hpp>
#include <slipway/plugin.hpp>
#include <slipway/service_loop.hpp>
#include <slipway/text.hpp>

#include "base/http/basic_auth.hpp"
#include "base/http/http_listener.hpp"
#include "nvidia/config/config_choice.hpp"
#include "nvidia/config/config_watch.hpp"
#include "nvidia/config/shared_settings.hpp"
#include "validator/cuda_check.hpp"
#include "validator/driver_look.hpp"
#include "validator/service/events.hpp"
#include "validator/service/keeper.hpp"
#include "validator/service/look_schedule.hpp"

namespace slipway::validator {
namespace {

using nvidia::config::ConfigWatch;

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kCallLimit{5};  // a longer call counts as none: the driver hangs
constexpr std::chrono::seconds kPortAgain{5};

/// Runs NVML in a separate, short process.
DriverLook look_in_child() {
  return [child = std::optional<ChildLook>()](const auto& library) mutable -> Result<DriverAnswers> {
    if (!child) {
      SLIPWAY_TRY(program, program_beside_plugin(kDriverProbe));
      child.emplace(std::move(program), kCallLimit);
    }
    return child->look(library);
  };
}

class ValidatorService final : public Service {
 public:
  Status run(const Spec& spec, const Host& host, const std::stop_token& stop, ServiceIo& io) override {
    SLIPWAY_TRY(settings, read_settings(spec, host));
    root_folder_ = host.root_folder();
    SLIPWAY_TRY(root, RootDir::open(host.root_folder()));
    Keeper keeper(host, settings, look_in_child(), [this] {
      woken_ = true;
      loop_.wake();
    });
    SLIPWAY_TRY(config, read_config(spec, host));
    ConfigWatch watch(
        std::move(config), [&] { return read_config(spec, host); }, Clock::now());
    Events events(root, !host.borrows_root());
    StatusFiles files(std::move(root), settings.directory);
    LookSchedule looks;
    RoundSchedule rounds;
    bool reported_ready = false;
    const auto round = [&](Clock::time_point now) {
      rounds.begin(now, events.sees_files());
      follow(watch, keeper, io);
      if (watch.settling()) rounds.at(now + ConfigWatch::kSettle);
      const std::vector<Finding> changed = ask(keeper, looks, now);
      show(files, keeper.files(), keeper, io);
      serve(settings, keeper, io);
      report(changed, keeper, io);
      if (!port_problem_.empty()) rounds.at(serve_after_);
      if (events.watch(paths_of(spec, keeper))) rounds.at(now);  // events before the watch were missed
      log_problems(events, io);
    };
    const auto pass = [&]() -> Status {
      const News news = events.take();
      const auto now = Clock::now();
      if (news.driver_changed) looks.driver_changed(now);
      if (news.driver_logged) looks.driver_logged(now);
      if (news.files) {
        rounds.files_changed(now);
        watch.changed();
      }
      if (woken_.exchange(false)) rounds.at(now);
      if (rounds.is_due(now) || looks.is_due(now)) round(now);
      if (!std::exchange(reported_ready, true)) io.ready();
      return {};
    };
    const auto release = [&] {
      keeper.release();
      rounds.at({});  // the first round after it calls NVML again
    };
    const auto while_quiet = [&] {
      keeper.pass_without_driver();
      show(files, keeper.files(), keeper, io);
    };
    const auto next = [&] { return std::optional(std::min(rounds.due(), looks.due())); };
    const Status status = loop_.run(stop, io,
                                    {.interval = {},
                                     .pass = pass,
                                     .release = release,
                                     .while_quiet = while_quiet,
                                     .next = next,
                                     .descriptors = [&] { return events.descriptors(); }});
    server_.reset();
    show(files, {}, keeper, io);  // removes the files, which would become outdated
    return status;
  }
  Status quiesce() override { return loop_.quiesce(); }
  Status resume() override { return loop_.resume(); }

 private:
  /// Runs one round of the checks, with NVML if it is due or the driver has changed.
  static std::vector<Finding> ask(Keeper& keeper, LookSchedule& looks, Clock::time_point now) {
    const std::uint64_t looked = keeper.looks();
    const bool worked = keeper.driver_works();
    const bool due = looks.is_due(now);
    std::vector<Finding> changed = keeper.pass(due);
    if (due || keeper.looks() != looked)
      looks.looked(Clock::now(), keeper.driver_works(), worked != keeper.driver_works());
    return changed;
  }

  /// Returns the files that the service depends on: those in the spec, then those of the checks.
  static std::vector<std::string> paths_of(const Spec& spec, const Keeper& keeper) {
    std::vector<std::string> paths = keeper.paths();
    if (const std::string path = spec.text("web_config_file"); path.starts_with('/')) paths.insert(paths.begin(), path);
    for (std::string& path : nvidia::config::shared_config_files(spec, "validator", nvidia::config::no_environment))
      if (path.starts_with('/')) paths.insert(paths.begin(), std::move(path));
    return paths;
  }

  /// Late notice of changes is not a failure; it is logged once.
  void log_problems(const Events& events, ServiceIo& io) {
    const std::string all = joined(events.problems());
    if (std::exchange(logged_problems_, all) != all && !all.empty()) io.log("info", all);
  }

  /// Loads a changed config file; if it is invalid, the last good one stays active.
  static void follow(ConfigWatch& watch, Keeper& keeper, ServiceIo& io) {
    switch (watch.look(Clock::now())) {
      case ConfigWatch::News::none:
        return;
      case ConfigWatch::News::wrong:
        io.log("warning",
               "the previous configuration stays in use: " + watch.problem()->where + ": " + watch.problem()->what);
        return;
      case ConfigWatch::News::changed:
        keeper.take_names(given_names(watch.in_force()));
        io.log("info", "the changed configuration is used now");
    }
  }

  void report(const std::vector<Finding>& changed, const Keeper& keeper, ServiceIo& io) {
    for (const Finding& finding : changed) {
      const bool bad = finding.status == Verdict::fail;
      const std::string remedy = finding.remedy.empty() ? "" : " (do: " + finding.remedy + ")";
      io.log(bad ? "warning" : "info",
             finding.name + ": " + std::string(to_string(finding.status)) + ": " + finding.text + remedy);
    }
    if (changed.empty() && reported_port_problem_ == port_problem_) return;
    reported_port_problem_ = port_problem_;
    io.status(keeper.summary() + (port_problem_.empty() ? "" : "; no gauges"));
    std::vector<std::string> reasons = keeper.failures();
    if (!port_problem_.empty()) reasons.push_back("no gauges: " + port_problem_);
    io.reasons(reasons);
  }

  /// A folder that cannot be written is logged once, and tried again in every round.
  void show(StatusFiles& files, const std::map<std::string, StatusFile>& wanted, const Keeper& keeper, ServiceIo& io) {
    const Status shown = files.show(wanted, keeper.looked_after());
    if (!shown && file_problem_ != shown.error().what) io.log("warning", "status files: " + shown.error().what);
    file_problem_ = shown ? "" : shown.error().what;
  }

  void serve(const Settings& settings, const Keeper& keeper, ServiceIo& io) {
    const auto now = Clock::now();
    if (settings.port == 0 || now < serve_after_ || (server_ && !server_->files_changed())) return;
    if (server_) io.log("info", "the web-config file or what it names has changed");
    server_.reset();
    base::HttpSettings http{.address = settings.address,
                            .port = settings.port,
                            .web_config = settings.web_config,
                            .root = root_folder_,
                            .key = "validator.port",
                            .names = settings.host_names,
                            .known = known_};
    http.names.push_back(settings.node);
    auto server = base::HttpListener::start(
        http, [&keeper] { return std::make_shared<const std::string>(gauges_text(keeper.gauges())); });
    if (server) {
      server_ = std::move(*server);
      port_problem_.clear();
      return io.log("info", "gauges are at port " + std::to_string(server_->port()) + ", /metrics");
    }
    serve_after_ = now + kPortAgain;
    if (port_problem_ != server.error().what)
      io.log("warning", "no gauges: " + server.error().what + " (at: " + server.error().where +
                            (server.error().next.empty() ? "" : ", do: " + server.error().next) + ")");
    port_problem_ = server.error().what;
  }

  ServiceLoop loop_;
  std::atomic<bool> woken_ = false;  ///< CUDA was tried
  std::string logged_problems_;      ///< of the events
  std::string root_folder_;
  std::shared_ptr<base::KnownClients> known_ = std::make_shared<base::KnownClients>();  ///< over each server_
  std::unique_ptr<base::HttpListener> server_;
  Clock::time_point serve_after_;
  std::string file_problem_;
  std::string port_problem_;
  std::string reported_port_problem_;  ///< text in the service's status
};

}  // namespace
}  // namespace slipway::validator

SLIPWAY_PLUGIN(slipway::component<slipway::ServiceOnly<slipway::validator::ValidatorService>>("validator"))
