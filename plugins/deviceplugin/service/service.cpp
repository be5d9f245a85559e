// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/service/service.cpp - `slipway service deviceplugin`: turns NVML's data into the offer to
// kubelet.
#include <algorithm>
#include <functional>
#include <utility>

#include <slipway/component.hpp>
#include <slipway/plugin.hpp>
#include <slipway/service_loop.hpp>
#include <slipway/watch/file_watch.hpp>

#include "deviceplugin/conflicts.hpp"
#include "deviceplugin/devices/offer_judgement.hpp"
#include "deviceplugin/list_strategy.hpp"
#include "deviceplugin/memory.hpp"
#include "deviceplugin/service/driver_watch.hpp"
#include "deviceplugin/service/kubelet_view.hpp"
#include "deviceplugin/service/mps/daemons.hpp"
#include "deviceplugin/service/registrar.hpp"
#include "deviceplugin/service/snapshot.hpp"
#include "deviceplugin/service/state_file.hpp"
#include "deviceplugin/service/yield_watch.hpp"
#include "nvidia/cdi_refresh.hpp"
#include "nvidia/config/config_choice.hpp"
#include "nvidia/config/config_watch.hpp"
#include "nvidia/config/variables.hpp"
#include "nvidia/health/rules_watch.hpp"

namespace slipway::deviceplugin {
namespace {

using Clock = std::chrono::steady_clock;

/// Changes without an event are noticed at this interval: files on a network, mounts.
constexpr std::chrono::seconds kLookAtAll{10};
constexpr std::chrono::seconds kLookUnwatched{2};  // where files cannot be watched
/// MPS control daemons send no events.
constexpr std::chrono::milliseconds kMpsTick{300};

EndpointPaths paths_of(const Spec& spec) {
  const std::string root = spec.text("kubelet_root");
  const nvidia::config::Environment variables = nvidia::config::with_variables_of(spec, process_environment);
  const char* const named = variables("KUBELET_SOCKET");
  const std::string folder = root + "/device-plugins";
  return {.folder = folder,
          .kubelet_socket = named == nullptr ? folder + "/kubelet.sock" : named,
          .registry = root + "/plugins_registry",
          .in_registry = spec.text("registration") == "watcher"};
}

/// The endpoints survive a reload (run() of a new Service in the same process), so that kubelet sees no gap.
std::unique_ptr<Registrar>& kept_registrar() {
  static std::unique_ptr<Registrar> kept;
  return kept;
}

/// Reads the config, and fills in what it leaves to slipway.
Result<Settings> settings_of(const Spec& spec, const Host& host, ListStrategyChoice& strategy) {
  SLIPWAY_TRY(settings, read_settings(spec, "deviceplugin", host, process_environment));
  strategy.apply(settings);
  return settings;
}

/// One run of the service.
class Run {
 public:
  using LibraryChoice = nvidia::nvml::LibraryChoice;

  Run(const Spec& spec, const Host& host, ServiceIo& io, Settings first, ListStrategyChoice& strategy,
      LibraryChoice choice, Registrar& registrar, const RootDir& root, const std::function<void()>& wake)
      : spec_(spec),
        host_(host),
        io_(io),
        registrar_(registrar),
        config_(
            std::move(first), [this, &strategy] { return settings_that_fit(strategy); }, Clock::now(),
            ConfigWatch::kEveryWatched),
        log_([this](const char* level, const std::string& text) { io_.log(level, text); }),
        rules_(root, spec.text("health_rules"), log_),
        watch_(host, {.library = std::move(choice), .call_limit = std::chrono::seconds(5)}, rules_of(spec), log_),
        mps_(host, log_,
             [this](const std::string& gpu, bool exclusive) { return watch_.set_exclusive(gpu, exclusive); }),
        yield_(host, spec.text("kubelet_root"), nvidia::other_program_policy(spec.text("other_plugin"))),
        file_(root),
        health_(root, "deviceplugin"),
        kubelet_(host, spec.text("kubelet_root"), [this, wake] {
          registrar_.board()->set_allocations(kubelet_.view().allocations);
          wake();
        }) {
    registrar_.board()->expect_allocations();
    for (const std::string& warning : settings().warnings) io_.log("warning", warning);
    Remembered remembered = read_remembered(root);
    watch_.remember(std::move(remembered.gpus));
    watch_.book().load(health_.own(), Clock::now());
    offered_ = std::move(remembered.offered);
    rules_.is_watched();
    auto files = FileWatch::open(root, watched_files());
    if (!files)
      io_.log("warning", "files cannot be watched, so changes of them are noticed late: " + files.error().what);
    else
      files_ = std::move(*files);
  }

  Status pass() {
    read_changed_files();
    reread_settings();
    rules_.look(Clock::now());
    const auto rules = rules_.rules();
    const XidFilter filter(settings().health_checks_off, settings().health_checks_on, *rules);
    watch_.book().set_counting(!filter.nothing_counts());
    watch_.pass(filter);
    exchange_health(filter);
    specs_.saw(host_, watch_.presence());
    if (std::exchange(first_, false) && settings().fail_on_init_error && !watch_.looked())
      return Error{.code = ErrorCode::unreachable,
                   .what = "the GPUs cannot be queried: " + watch_.problem(),
                   .where = "FAIL_ON_INIT_ERROR, or flags.failOnInitError of the configuration",
                   .next = "load the driver; without that setting the service waits for it"};
    show();
    return {};
  }
  /// Another component is about to change the GPUs.
  void quiesce() {
    registrar_.board()->quiesced = true;
    mps_.release();
    watch_.release();
    while_quiet();  // called at once: tells readers of the status that the status will change
  }
  /// Ends this run. If another run follows, no GPU changes, and pods get the current offer until then.
  void end() {
    if (io_.runs_again()) {
      mps_.leave();
    } else {
      registrar_.close();
      mps_.release();
    }
    watch_.release();
  }
  std::vector<int> descriptors() const {
    std::vector<int> all = watch_.descriptors();
    if (files_) all.push_back(files_->fd());
    return all;
  }
  Clock::time_point next() const {
    Clock::time_point due = std::min({next_full_check_, watch_.next(), config_.next(), rules_.next()});
    if (!mps_.at_rest()) due = std::min(due, Clock::now() + kMpsTick);
    return due;
  }
  void resumed() { registrar_.board()->quiesced = false; }
  void while_quiet() { write_state(*registrar_.board()->now()); }

 private:
  static HealthRules rules_of(const Spec& spec) {
    const std::chrono::seconds quiet(spec.number("quiet_seconds"));
    return {.quiet_time = quiet, .long_quiet_time = 20 * quiet};
  }

  std::vector<std::string> watched_files() const {
    std::vector<std::string> files = nvidia::config::config_files(spec_, "deviceplugin", process_environment);
    files.push_back(rules_.file());
    files.emplace_back(kDefaultsFile);
    files.emplace_back(nvidia::health::kHealthFile);               // another service has recorded a fault
    files.push_back(spec_.text("kubelet_root") + kKubeletSocket);  // kubelet may have been replaced
    if (yield_.is_wanted()) files.push_back(spec_.text("kubelet_root") + "/device-plugins");  // sockets of others
    const std::vector<std::string> others = snapshot_files(settings(), keys());
    files.insert(files.end(), others.begin(), others.end());
    return files;
  }

  /// XIDs that only another service saw count too: dcgm reads the kernel's log.
  void exchange_health(const XidFilter& filter) {
    bool is_news = true;
    for (int rounds = 0; is_news && rounds < 2; ++rounds) {
      nvidia::health::HealthOfGpus own;
      for (const Gpu& gpu : watch_.gpus()) own[gpu.uuid] = watch_.book().shared(gpu.uuid, gpu.label());
      const Status exchanged = health_.exchange(own);
      if (!exchanged && health_problem_.empty())
        io_.log("warning", "other services cannot see the GPUs' health: " + exchanged.error().what);
      health_problem_ = exchanged ? "" : exchanged.error().what;
      is_news = false;
      if (const auto resets = health_.others().find(nvidia::health::kPausePart); resets != health_.others().end())
        for (const auto& [uuid, reset] : resets->second)
          if (watch_.book().was_reset(uuid, reset)) is_news = true;
      for (const auto& [service, gpus] : health_.unended())
        for (const auto& [uuid, gpu] : gpus)
          for (const nvidia::health::Fault& fault : gpu.faults)
            if (own.contains(uuid) &&
                watch_.book().take(uuid, fault, filter.effect(fault.xid), filter.rules(), Clock::now()))
              is_news = true;
    }
  }

  void read_changed_files() {
    const bool look_at_all = Clock::now() >= next_full_check_;
    if (look_at_all) next_full_check_ = Clock::now() + (files_ ? kLookAtAll : kLookUnwatched);
    const bool changed = files_ && (look_at_all ? files_->look() : files_->take());
    if (look_at_all) watch_.look_soon();
    if (!look_at_all && !changed) return;
    config_.changed();
    rules_.changed();
  }

  void reread_settings() {
    switch (config_.look(Clock::now())) {
      case ConfigWatch::News::none:
        return;
      case ConfigWatch::News::wrong:
        io_.log("warning",
                "the previous configuration stays in use: " + config_problem() + " (" + config_.problem()->next + ")");
        return;
      case ConfigWatch::News::changed:
        io_.log("info", "the changed configuration is used now");
        for (const std::string& warning : settings().warnings) io_.log("warning", warning);
        if (files_) (void)files_->watch(watched_files());  // the nodes of other IMEX channels
    }
  }

  const Settings& settings() const { return config_.in_force(); }
  /// A changed config that does not fit these GPUs is rejected like one that cannot be read, since it would take the
  /// GPUs out of the offer. A config that another MIG layout would fit is accepted.
  Result<Settings> settings_that_fit(ListStrategyChoice& strategy) const {
    SLIPWAY_TRY(fresh, settings_of(spec_, host_, strategy));
    if (fresh == settings()) return std::move(fresh);
    OfferCheck offer = judge_offer(watch_.gpus(), watch_.absent(), fresh);
    if (offer.problem && offer.problem->code != ErrorCode::not_found) return *std::move(offer.problem);
    return std::move(fresh);
  }
  SnapshotKeys keys() const {
    return {.cdi_vendor = spec_.text("cdi_vendor"),
            .driver_root = spec_.text("driver_root"),
            .has_mig = spec_.section_of("mig").has_value()};
  }
  std::string config_problem() const {
    return config_.problem() ? config_.problem()->where + ": " + config_.problem()->what : "";
  }

  void show() {
    const bool known = watch_.looked() || !watch_.problem().empty();
    if (!known) return;
    Snapshot snapshot = make_snapshot(watch_, settings(), host_, keys());
    if (snapshot.problem.empty()) snapshot.problem = config_problem();
    yield_resources(snapshot);
    if (watch_.problem().empty())
      snapshot.unready =
          mps_.tick(mps_settings(snapshot.resources, snapshot.gpus, settings().sharing.mps_memory_percent),
                    spec_.text("driver_root"), settings().mps_root);
    for (const auto& [name, why] : snapshot.unready)
      if (snapshot.problem.empty()) snapshot.problem = name + " is not ready: " + why;
    const bool told = snapshot.problem.empty() || snapshot.problem == watch_.problem();
    if (snapshot.problem != problem_ && !told) io_.log("warning", snapshot.problem);
    problem_ = snapshot.problem;
    if (registrar_.board()->publish(std::move(snapshot))) report_changes(*registrar_.board()->now());
    write_state(*registrar_.board()->now());
    if (!reported_ready_) io_.ready();
    reported_ready_ = true;
  }

  void yield_resources(Snapshot& snapshot) {
    constexpr std::size_t kMostNames = 256;  // a config can change any number of times
    if (offered_.size() > kMostNames) offered_.clear();
    for (const auto& [name, resource] : snapshot.resources) offered_.insert(name);
    yield_.look(offered_, YieldWatch::Clock::now());
    snapshot.yields = yield_.yields_to();
    if (!snapshot.yields.empty()) snapshot.resources.clear();
    if (snapshot.yields != yields_)
      io_.log("info",
              snapshot.yields.empty() ? "the other device plugin is gone: the GPUs are offered" : snapshot.yields);
    yields_ = snapshot.yields;
  }

  void report_changes(const Snapshot& snapshot) {
    for (const std::string& note : snapshot.notes)
      if (std::ranges::find(logged_notes_, note) == logged_notes_.end()) io_.log("info", note);
    logged_notes_ = snapshot.notes;
    for (const Gpu& gpu : snapshot.gpus) {
      const auto health = snapshot.health.find(gpu.uuid);
      const Health fresh = health == snapshot.health.end() ? Health() : health->second;
      Health& told = reported_health_[gpu.uuid];
      // The loss or return of the driver is logged once, not for each GPU.
      const bool of_all = told.reason == kDriverGone || fresh.reason == kDriverGone;
      if (told != fresh && !of_all && fresh.healthy) io_.log("info", gpu.label() + " is healthy again");
      if (told != fresh && !of_all && !fresh.healthy)
        io_.log("warning", gpu.label() + " is unhealthy: " + fresh.text + " (" + fresh.remedy + ")");
      told = fresh;
    }
  }

  /// Memory use changes at every check, so the reported reason is that of the first time.
  void report_shortages(const Json& status, std::vector<std::string>& wrong) {
    std::map<std::string, std::string> now;
    for (const Shortage& each : memory_shortages(status)) {
      const auto told = shortages_.find(each.uuid);
      if (told != shortages_.end()) {
        now.insert(*told);  // the shortage ends only when twice as much is free
      } else if (each.exhausted) {
        now[each.uuid] = each.text;
        io_.log("warning", each.text + " (" + each.remedy + ")");
      }
    }
    for (const auto& [uuid, text] : shortages_)
      if (!now.contains(uuid)) io_.log("info", uuid + " has enough free memory again");
    shortages_ = std::move(now);
    for (const auto& [uuid, text] : shortages_) wrong.push_back(text);
  }

  /// Reports pods that use a device in another way than it is offered.
  void report_conflicts(const Json& status, std::vector<std::string>& wrong) {
    std::map<std::string, std::string> now;
    for (const Conflict& each : conflicts_in(status)) {
      std::string& told = now[each.device + " " + each.resource];
      told = each.text;
      wrong.push_back(each.text);
      const auto before = conflicts_.find(each.device + " " + each.resource);
      if (before == conflicts_.end() || before->second != told)
        io_.log("warning", each.text + " (" + each.remedy + ")");
    }
    for (const auto& [key, text] : conflicts_)
      if (!now.contains(key)) io_.log("info", "this is over: " + text);
    conflicts_ = std::move(now);
  }

  void write_state(const Snapshot& snapshot) {
    const auto endpoints = registrar_.status();
    kubelet_.offers(offered_of(snapshot));
    const ShownState known{snapshot, endpoints, watch_.clients(), kubelet_.view(), registrar_.board()->quiesced,
                           offered_};
    const Json status = status_json(known);
    const Status written = file_.write(status, metrics_text(known));
    if (!written && file_problem_ != written.error().what) io_.log("warning", "status file: " + written.error().what);
    file_problem_ = written ? "" : written.error().what;
    const std::string line = summary(snapshot, endpoints);
    if (line != line_) io_.status(line);
    line_ = line;
    std::vector<std::string> wrong = reasons(snapshot, endpoints);
    if (!rules_.problem().empty()) wrong.push_back(rules_.problem());
    report_shortages(status, wrong);
    report_conflicts(status, wrong);
    if (wrong != reasons_) io_.reasons(wrong);
    reasons_ = std::move(wrong);
  }

  const Spec& spec_;
  const Host& host_;
  ServiceIo& io_;
  Registrar& registrar_;
  ConfigWatch config_;
  DriverWatch::Log log_;
  nvidia::health::RulesWatch rules_;
  std::optional<FileWatch> files_;  ///< empty: this user has no inotify instances left
  Clock::time_point next_full_check_ = Clock::now() + kLookAtAll;
  DriverWatch watch_;
  MpsDaemons mps_;
  YieldWatch yield_;
  std::string yields_;             ///< as last logged
  std::set<std::string> offered_;  ///< resources offered since the boot
  StateFile file_;
  nvidia::health::HealthPart health_;
  std::string health_problem_;
  std::string problem_;
  std::string file_problem_;
  std::string line_;
  std::vector<std::string> reasons_;
  std::vector<std::string> logged_notes_;
  std::map<std::string, std::string> shortages_;  ///< as last logged, by UUID
  std::map<std::string, Health> reported_health_;
  bool first_ = true;
  nvidia::CdiRefresh specs_;
  bool reported_ready_ = false;
  std::map<std::string, std::string> conflicts_;  ///< as last logged, by device and resource
  KubeletView kubelet_;
};

class DevicePluginService final : public Service {
 public:
  Status run(const Spec& spec, const Host& host, const std::stop_token& stop, ServiceIo& io) override {
    ListStrategyChoice strategy(host, spec.text("kubelet_root"));
    SLIPWAY_TRY(settings, settings_of(spec, host, strategy));
    SLIPWAY_TRY(choice, nvidia::nvml::choose_library(host, spec.text("driver_root")));
    std::unique_ptr<Registrar>& registrar = kept_registrar();
    SLIPWAY_TRY(root, RootDir::open(host.root_folder()));
    const auto log = [&io](const char* level, const std::string& text) { io.log(level, text); };
    if (!registrar || registrar->root().folder() != root.folder()) {
      registrar.reset();
      registrar = std::make_unique<Registrar>(root, paths_of(spec), log);
    }
    registrar->use(paths_of(spec));
    registrar->set_log(log);
    registrar->board()->quiesced = false;
    const auto wake = [this] { loop_.wake(); };
    Run run(spec, host, io, settings, strategy, choice, *registrar, root, wake);
    registrar->set_on_change(wake);
    const Status status = loop_.run(stop, io,
                                    {.interval = {},
                                     .pass =
                                         [&] {
                                           run.resumed();
                                           return run.pass();
                                         },
                                     .release = [&] { stop.stop_requested() ? run.end() : run.quiesce(); },
                                     .while_quiet = [&] { run.while_quiet(); },
                                     .next = [&] { return run.next(); },
                                     .descriptors = [&] { return run.descriptors(); }});
    registrar->set_on_change({});
    registrar->set_log({});
    if (!io.runs_again()) registrar.reset();
    return status;
  }
  Status quiesce() override { return loop_.quiesce(); }
  Status resume() override { return loop_.resume(); }

 private:
  ServiceLoop loop_;
};

}  // namespace
}  // namespace slipway::deviceplugin

SLIPWAY_PLUGIN(slipway::component<slipway::ServiceOnly<slipway::deviceplugin::DevicePluginService>>("deviceplugin"))
