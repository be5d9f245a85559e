// SPDX-License-Identifier: Apache-2.0
// plugins/dcgm/service/service.cpp - `slipway service dcgm`: one thread samples, and a scrape gets what it has
// rendered.
#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <slipway/component.hpp>
#include <slipway/local_host.hpp>
#include <slipway/plugin.hpp>
#include <slipway/process/sockets.hpp>
#include <slipway/process/start_program.hpp>
#include <slipway/service_loop.hpp>
#include <slipway/text.hpp>
#include <slipway/unix_socket.hpp>
#include <slipway/watch/file_watch.hpp>

#include "base/http/basic_auth.hpp"
#include "base/http/http_listener.hpp"
#include "dcgm/engine/engine.hpp"
#include "dcgm/environment/variables.hpp"
#include "dcgm/exposition/exposition.hpp"
#include "dcgm/health/findings.hpp"
#include "dcgm/health/health_watch.hpp"
#include "dcgm/names/name_sets.hpp"
#include "dcgm/page/page.hpp"
#include "dcgm/page/page_maker.hpp"
#include "dcgm/pods/attribution_watch.hpp"
#include "dcgm/pods/pod_processes.hpp"
#include "dcgm/sampler/sampler.hpp"
#include "dcgm/sampler/schedule.hpp"
#include "dcgm/service/board.hpp"
#include "dcgm/service/counter_file.hpp"
#include "dcgm/service/pods_and_health.hpp"
#include "dcgm/service/run_settings.hpp"
#include "dcgm/settings.hpp"
#include "dcgm/takeover/other_exporters.hpp"
#include "nvidia/duration.hpp"
#include "nvidia/health/rules_watch.hpp"
#include "nvidia/nvml/device.hpp"

namespace slipway::dcgm {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kDriverAgain{1};  // interval of the retry while the driver is gone
constexpr std::chrono::seconds kPortAgain{5};
constexpr std::chrono::seconds kSlowLook{10};  // interval for changes without an event: rules that expire, certificates
// Shortest time between samples that events cause, and the longest when events keep coming.
constexpr std::chrono::seconds kMinEventInterval{1};
constexpr std::chrono::seconds kMaxEventInterval{60};

/// Shortest time between two questions: they come with samples, and kubelet allows a hundred a second for all its
/// clients.
std::chrono::milliseconds attribution_interval(const Settings& settings) {
  return std::clamp<std::chrono::milliseconds>(settings.interval, std::chrono::seconds(1), std::chrono::seconds(10));
}

std::chrono::milliseconds shortest_interval(const Settings& settings) {
  auto shortest = settings.interval;
  for (const WatchGroup& group : settings.config.groups) shortest = std::min(shortest, group.interval);
  return shortest;
}

/// Returns "10s, some counters every 1s and 5m".
std::string intervals_text(const Settings& settings) {
  std::vector<std::string> own;
  for (const WatchGroup& group : settings.config.groups)
    if (const std::string text = nvidia::duration_text(group.interval); std::ranges::find(own, text) == own.end())
      own.push_back(text);
  return nvidia::duration_text(settings.interval) + (own.empty() ? "" : ", some counters every " + listed(own, "and"));
}

/// Programs of another root run only in a sandbox, where an engine cannot work. A simulated machine has no engine of
/// its own, so this machine's is used.
Status check_engine(const Settings& settings, const Host& host) {
  if (settings.engine == "none" || host.root_folder() == "/" || host.has_kernel_view()) return {};
  return Error{.code = ErrorCode::unsupported,
               .what = "engine: " + settings.engine + " would run a program or a library of " + host.root_folder() +
                       ", which is another root",
               .where = "spec.components.dcgm.engine",
               .next = "run the service on the machine itself, or set engine: none"};
}

class DcgmService final : public Service {
 public:
  Status run(const Spec& spec, const Host& host, const std::stop_token& stop, ServiceIo& io) override {
    SLIPWAY_TRY(asked, with_environment(spec, own_environment()));
    for (const std::string& warning : asked.warnings) io.log("warning", warning);
    if (!asked.taken.empty()) io.log("info", "the environment overrides the spec: " + joined(asked.taken));
    auto read = read_settings(asked.spec);
    if (!read) return blamed_on_variable(read.error(), asked.taken);
    Settings& settings = *read;
    SLIPWAY_CHECK(check_engine(settings, host));
    const Settings as_asked = settings;
    SLIPWAY_TRY(begin, settings_for_run(as_asked, host, former()));
    settings = std::move(begin.settings);
    config_problem_ = std::move(begin.problem);
    if (!config_problem_.empty()) io.log("warning", config_problem_);
    root_folder_ = host.root_folder();
    SLIPWAY_TRY(root, RootDir::open(host.root_folder()));
    watch_files(root, settings, io);
    health_.emplace(root, !host.borrows_root());
    health_->load();
    ScrapeFile scrape_file(root);
    const auto runs = [&host](const std::string& service) { return service_runs(host, service); };
    rules_.emplace(
        root, settings.health_rules, [&io](const char* level, const std::string& text) { io.log(level, text); },
        check_rule_fields);
    if (files_) rules_->is_watched();
    CounterFile file(std::move(root), settings, std::move(begin.counters));
    none_ = std::make_shared<const Counters>(with_fields_of(settings.names, Counters()));
    const auto shortest = shortest_interval(settings);
    Board board(shortest);
    SLIPWAY_TRY(attribution, AttributionWatch::start(host, settings.attribution, attribution_interval(settings)));
    std::optional<PageMaker> page;
    if (settings.page)
      page.emplace(OverviewOptions{.node = settings.node,
                                   .shows_processes = settings.page_processes,
                                   .interval = shortest,
                                   .root = host.root_folder()});
    Sampler sampler(host,
                    {.driver_root = settings.driver_root,
                     .mig_devices = settings.attribution.kubernetes,
                     .processes = settings.attribution.virtual_gpus,
                     .devices = settings.devices,
                     .links = settings.links,
                     .processors = settings.processors},
                    [&io](const char* level, const std::string& text) { io.log(level, text); });
    EventCounts events(settings.windows);
    events_ = &events;
    attribution.on_change([this] { loop_.wake(); });
    start_engine(settings, host, io);
    const auto pass = [&]() -> Status {
      logged_quiesced_ = false;
      if (files_ && files_->take()) rules_->changed();  // the other files are checked in each pass
      serve(settings, board, io);
      file.update(io);
      rules_->look(Clock::now());
      note_events(sampler.take_events());
      bool uses_changed = false;
      const auto learn_uses = [&] {
        const Attribution before = std::exchange(attribution_, attribution.known());
        uses_changed = uses_changed || before != attribution_;
      };
      learn_uses();
      const auto counters = counters_now(file);
      schedule_.set(intervals_of(*counters, settings.interval));
      const bool others = std::exchange(sampled_with_, counters) != counters;
      if (others) schedule_.start_over();
      const auto begun = Clock::now();
      auto due = schedule_.take(begun);
      if (event_sample_ && begun >= *event_sample_) due = all_intervals(*counters, settings.interval);
      const bool samples = !due.empty() || (!last_.problem.empty() && begun >= sampled_at_ + kDriverAgain);
      if (samples) {
        attribution.ask();
        if (!std::exchange(event_sample_, std::nullopt)) event_pause_ = kMinEventInterval;
        sampled_at_ = begun;
        const bool with_page = page && page->is_due(begun);
        last_ = sampler.sample(counters, {.details = with_page, .due = due});
        events.take(last_, *counters);
        health_->take(last_, *counters, *rules_->rules(), Clock::now());
        if (settings.attribution.virtual_gpus) find_pods_of_processes(host, last_.entities);
        ask_engine(*counters, io);
        if (with_page) page->add(last_, begun);
        made_page_ = with_page;
        learn_uses();  // the users of the GPUs were requested when the sample began
      }
      health_->take_kernel_log(*rules_->rules(), Clock::now());
      const auto xid_lines = health_->take_log_lines();
      for (const LogLine& line : xid_lines) io.log(line.level, line.text);
      const auto exchanged = health_->exchange(runs);
      if (!exchanged && health_file_problem_.empty())
        io.log("warning", "other services cannot see the GPUs' health: " + exchanged.error().what);
      health_file_problem_ = exchanged ? "" : exchanged.error().what;
      if (samples || uses_changed || !xid_lines.empty() || exchanged.value_or(false))
        show(settings, file, board, false);
      if (std::exchange(made_page_, false))
        board.put_page(page->make(last_, *counters, pods_and_health(settings), false));
      (void)scrape_file.write({port_problem_, port_remedy_}).ok();  // on failure: the log has the same text
      report(settings, file, io);
      if (!std::exchange(reported_ready_, true)) io.ready();
      return {};
    };
    const auto release = [&] {
      sampler.release();
      if (engine_) engine_->quiesce();
      schedule_.start_over();
      show(settings, file, board, true);
      if (page) board.put_page(page->make(last_, *counters_now(file), pods_and_health(settings), true));
    };
    const auto while_quiet = [&] {
      if (!std::exchange(logged_quiesced_, true))
        io.log("info", "another program needs the driver, so NVML stays closed until that program is done");
      show(settings, file, board, true);
    };
    const Status status = loop_.run(stop, io,
                                    {.interval = {},
                                     .pass = pass,
                                     .release = release,
                                     .while_quiet = while_quiet,
                                     .next = [this] { return std::optional(next_pass()); },
                                     .descriptors = [&] { return descriptors(sampler); }});
    server_.reset();
    engine_.reset();
    scrape_file.remove();
    if (file.counters()) former() = FormerRun{as_asked, settings, file.counters()};
    return status;
  }
  Status quiesce() override { return loop_.quiesce(); }
  Status resume() override {
    loop_.wake();
    return loop_.resume();
  }

 private:
  /// State of this process that survives a reload, which runs the service again.
  static std::optional<FormerRun>& former() {
    static std::optional<FormerRun> former_run;
    return former_run;
  }

  /// Watches the files that are read again when they change; a change wakes the service.
  void watch_files(const RootDir& root, const Settings& settings, ServiceIo& io) {
    std::vector<std::string> paths{"/dev/kmsg", nvidia::health::kHealthFile};  // cannot be polled if it is a plain file
    for (const std::string& path :
         {settings.collectors, settings.config_file, settings.health_rules, settings.web_config})
      if (path.starts_with('/')) paths.push_back(path);
    auto opened = FileWatch::open(root, paths);
    if (!opened) return io.log("info", "changed files are noticed late: " + opened.error().what);
    files_.emplace(std::move(*opened));
  }

  /// Takes a sample at once when a GPU's state changes or an XID counts as a fault.
  void note_events(const EventNews& news) {
    const auto counts = [this](const XidEvent& event) {
      return rules_->rules()->counts(static_cast<unsigned>(event.number));
    };
    if (event_sample_ || (!news.states && std::ranges::none_of(news.xids, counts))) return;
    event_sample_ = sampled_at_ + event_pause_;
    event_pause_ = std::min<std::chrono::seconds>(2 * event_pause_, kMaxEventInterval);
  }

  static Schedule::Intervals all_intervals(const Counters& counters, std::chrono::milliseconds interval) {
    const auto all = intervals_of(counters, interval);
    return {all.begin(), all.end()};
  }

  Clock::time_point next_pass() const {
    const auto now = Clock::now();
    auto next = std::min<Clock::time_point>(schedule_.due(), now + kSlowLook);
    if (!last_.problem.empty()) next = std::min<Clock::time_point>(next, sampled_at_ + kDriverAgain);
    if (event_sample_) next = std::min(next, *event_sample_);
    if (!port_problem_.empty()) next = std::min(next, serve_after_);
    return next;
  }

  std::vector<int> descriptors(const Sampler& sampler) const {
    std::vector<int> all;
    for (const int fd : {files_ ? files_->fd() : -1, sampler.event_fd(), health_->kernel_log_fd()})
      if (fd >= 0) all.push_back(fd);
    return all;
  }

  /// The GPUs are sampled even if no file of counters can be read.
  std::shared_ptr<const Counters> counters_now(const CounterFile& file) const {
    return file.counters() ? file.counters() : none_;
  }

  PodsAndHealth pods_and_health(const Settings& settings) const {
    return pods_and_health_of(last_, attribution_, settings.attribution, *health_);
  }

  void show(const Settings& settings, const CounterFile& file, Board& board, bool released) {
    const auto now = counters_now(file);
    const Counters& counters = *now;
    Sample sample = last_;
    if (released) {
      sample.entities.clear();
      sample.links.clear();
    }
    std::optional<Merged> merged;
    if (engine_) merged = with_engine(counters, sample, engine_->latest(), settings.links);
    board.put(exposition_text(merged ? merged->sample : sample, merged ? merged->counters : counters,
                              {.host_name = settings.node,
                               .blanks_in_model_name = settings.blanks_in_model_name,
                               .engine_up = engine_up(),
                               .released = released,
                               .attribution = settings.attribution,
                               .known = attribution_,
                               .names = settings.names,
                               .health = health_->watches(*rules_->rules()),
                               .events = events_}) +
                  health_->metrics(settings.node, settings.attribution.old_names),
              released ? "another program needs the driver, so sampling is paused" : problem_of(sample, file));
  }

  void start_engine(const Settings& settings, const Host& host, ServiceIo& io) {
    if (settings.engine == "none") return;
    engine_.emplace(EngineOptions{.managed = settings.engine == "managed",
                                  .address = settings.engine_address,
                                  .root = host.root_folder(),
                                  .programs = host.live() ? host.root_folder() : "/",
                                  .interval = settings.interval},
                    [&io](const char* level, const std::string& text) { io.log(level, text); });
  }
  /// The fields to ask for depend on the GPUs, so the former fields stay while no GPU can be read.
  void ask_engine(const Counters& counters, ServiceIo& io) {
    if (!engine_) return;
    engine_->wake();
    if (last_.entities.empty()) return;
    auto fields = fields_for_engine(counters, last_);
    const bool none = fields.empty();
    if (none && !engine_is_idle_) io.log("info", "NVML has all counters of these GPUs, so the DCGM engine is not used");
    engine_is_idle_ = none;
    engine_->want(std::move(fields));
  }
  std::optional<bool> engine_up() const { return engine_ ? engine_->answers() : std::nullopt; }

  /// Returns the reason why no GPU can be sampled; a single lost GPU has a metric.
  static std::string problem_of(const Sample& sample, const CounterFile& file) {
    if (!sample.problem.empty()) return "the GPUs cannot be read: " + sample.problem;
    if (!file.counters()) return "there are no metrics of GPUs: " + file.problem();
    if (!sample.entities.empty()) return "";
    for (const GpuState& state : sample.gpus)
      if (!state.problem.empty())
        return "no GPU can be read; GPU " + std::to_string(state.gpu.index) + ": " + state.problem;
    return "";
  }

  std::string sampled_text(bool is_well) const {
    const auto silent = std::ranges::count_if(last_.gpus, [](const GpuState& state) { return !state.problem.empty(); });
    const auto all = static_cast<std::ptrdiff_t>(last_.gpus.size());
    if (silent != 0) return std::to_string(all - silent) + " of " + std::to_string(all) + " GPUs are sampled";
    return is_well ? "all GPUs are sampled" : "all GPUs are sampled, but not all are healthy";
  }

  void report(const Settings& settings, const CounterFile& file, ServiceIo& io) {
    std::vector<std::string> reasons;
    if (!config_problem_.empty()) reasons.push_back(config_problem_);
    if (!file.problem().empty()) reasons.push_back(file.problem());
    if (const std::string nothing = empty_selection(settings, last_); !nothing.empty())
      reasons.push_back(nothing + " (do: " + kSelectionRemedy + ")");
    if (!last_.problem.empty()) reasons.push_back("the GPUs cannot be read: " + last_.problem);
    if (last_.problem.empty())
      for (const GpuState& state : last_.gpus)
        if (!state.problem.empty() && health_->of(state.gpu.uuid).empty())
          reasons.push_back(name_of(state) + ": " + state.problem);
    if (!attribution_.pods_problem.empty())
      reasons.push_back("kubelet does not report which pods hold the GPUs: " + attribution_.pods_problem);
    if (!attribution_.jobs_problem.empty())
      reasons.push_back("the jobs on the GPUs are not known: " + attribution_.jobs_problem);
    if (!rules_->problem().empty()) reasons.push_back(rules_->problem());
    if (engine_ && !engine_->problem().empty()) reasons.push_back(engine_->problem());
    if (!port_problem_.empty()) reasons.push_back(scrape_text());
    std::string status = reasons.empty() ? "" : reasons.front();
    for (std::string& line : health_->lines()) reasons.push_back(std::move(line));
    if (status.empty()) status = sampled_text(reasons.empty());
    if (reasons == reported_ && status == reported_status_ && reported_ready_) return;
    reported_ = reasons;
    reported_status_ = status;
    io.status(status);
    io.reasons(reasons);
  }

  void serve(const Settings& settings, const Board& board, ServiceIo& io) {
    const auto now = Clock::now();
    if (now < serve_after_ || (server_ && !server_->files_changed())) return;
    if (server_) io.log("info", "the web-config file, or a file that it names, has changed");
    server_.reset();
    auto server = start_server(settings, board);
    if (server) {
      server_ = std::move(*server);
      port_problem_.clear();
      return io.log("info", "metrics are served at port " + std::to_string(server_->port()) +
                                ", path /metrics, and read every " + intervals_text(settings));
    }
    serve_after_ = now + kPortAgain;
    std::string problem = server.error().what;
    if (server.error().code == ErrorCode::busy) problem += port_owner_text(settings);
    problem += " (at: " + server.error().where + ")";
    port_remedy_ = server.error().next.empty() ? "`slipway verify dcgm` says what prevents it" : server.error().next;
    if (std::exchange(port_problem_, problem) != problem) io.log("warning", scrape_text());
  }

  std::string scrape_text() const {
    return "metrics cannot be scraped: " + port_problem_ + " (do: " + port_remedy_ + ")";
  }

  Result<std::unique_ptr<base::HttpListener>> start_server(const Settings& settings, const Board& board) const {
    base::HttpSettings http{.address = settings.address,
                            .port = settings.port,
                            .web_config = settings.web_config,
                            .root = root_folder_,
                            .key = "dcgm.listen",
                            .names = host_names_of(settings),
                            .known = known_};
    if (settings.systemd_socket) {
      if (worker_sockets() != 1)
        return Error{
            .code = ErrorCode::not_found,
            .what = "systemd passed " + std::to_string(worker_sockets()) + " sockets, but systemd_socket needs one",
            .where = "spec.components.dcgm.systemd_socket",
            .next = "run `slipway apply`, which makes slipway-dcgm.socket, and start the service by its unit"};
      http.socket = kFirstWorkerSocket;
    }
    return base::HttpListener::start(
        http, [&board] { return board.text(); }, [&board] { return board.health(); },
        [&board] { return board.openmetrics(); },
        settings.page ? base::HttpPages([&board](std::string_view path) { return board.page(path); })
                      : base::HttpPages());
  }

  static std::vector<std::string> host_names_of(const Settings& settings) {
    std::vector<std::string> names = settings.host_names;
    names.push_back(settings.node);
    return names;
  }

  /// The port belongs to this process' network, even if the service is for another root.
  static std::string port_owner_text(const Settings& settings) {
    const auto here = open_host({.root = "/", .live = true, .kernel_view = "/", .kernel = "", .hardware = ""});
    const auto holder = here ? port_holder(**here, settings.address, settings.port) : std::nullopt;
    return holder ? "; it is taken by " + to_text(*holder) : "";
  }

  ServiceLoop loop_;
  std::string root_folder_;
  Sample last_;
  std::shared_ptr<const Counters> none_;          ///< used if no file can be read
  std::shared_ptr<const Counters> sampled_with_;  ///< last_
  std::string config_problem_;
  Attribution attribution_;  ///< as last_
  const EventCounts* events_ = nullptr;
  std::optional<HealthWatch> health_;
  std::string health_file_problem_;  ///< logged once
  std::optional<nvidia::health::RulesWatch> rules_;
  Schedule schedule_;
  Clock::time_point sampled_at_;
  std::optional<Clock::time_point> event_sample_;  ///< time of a sample that an event requested
  std::chrono::seconds event_pause_ = kMinEventInterval;
  bool made_page_ = false;
  std::optional<FileWatch> files_;
  std::optional<EnginePoller> engine_;
  bool engine_is_idle_ = false;
  std::shared_ptr<base::KnownClients> known_ = std::make_shared<base::KnownClients>();  ///< outlives each server_
  std::unique_ptr<base::HttpListener> server_;
  Clock::time_point serve_after_;
  std::string port_problem_;  ///< why scrapes fail; empty: every permitted client can scrape
  std::string port_remedy_;
  std::vector<std::string> reported_;
  std::string reported_status_;
  bool reported_ready_ = false;
  bool logged_quiesced_ = false;
};

}  // namespace
}  // namespace slipway::dcgm

SLIPWAY_PLUGIN(slipway::component<slipway::ServiceOnly<slipway::dcgm::DcgmService>>("dcgm"))
