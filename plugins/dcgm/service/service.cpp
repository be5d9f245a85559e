// SPDX-License-Identifier: Apache-2.0
// plugins/dcgm/service/service.cpp - `slipway service dcgm`: one thread samples, and a scrape gets what it has
// rendered.
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <slipway/component.hpp>
#include <slipway/http/http_listener.hpp>
#include <slipway/plugin.hpp>
#include <slipway/regular_file.hpp>
#include <slipway/service_loop.hpp>
#include <slipway/text.hpp>

#include "dcgm/exposition/exposition.hpp"
#include "dcgm/page/page.hpp"
#include "dcgm/page/page_maker.hpp"
#include "dcgm/sampler/sampler.hpp"
#include "dcgm/settings.hpp"
#include "nvidia/duration.hpp"

namespace slipway::dcgm {
namespace {

using Clock = std::chrono::steady_clock;

// How often what does not wait for the next sample is looked at: a driver that is away, the port, the files.
constexpr std::chrono::seconds kTick{1};
constexpr std::chrono::seconds kPortAgain{5};
constexpr std::chrono::seconds kLongestLook{60};  // eight GPUs that hang, each until its call is given up

/// What scrapes get: rendered once for each sample, by the sampling thread, and handed out by the listener's.
class Board {
 public:
  explicit Board(std::chrono::milliseconds interval) : limit_(3 * interval + kLongestLook) {}

  void put(std::string text, std::string problem) {
    auto sheet = std::make_shared<const Sheet>(Sheet{std::move(text), std::move(problem), Clock::now()});
    const std::scoped_lock lock(mutex_);
    sheet_ = std::move(sheet);
  }
  void put_page(std::shared_ptr<const PageTexts> page) {
    const std::scoped_lock lock(mutex_);
    page_ = std::move(page);
  }
  /// GET / and /overview.json.
  std::optional<HttpPage> page(std::string_view path) const {
    if (path != "/" && path != "/overview.json") return std::nullopt;
    const bool is_html = path == "/";
    HttpPage answer{is_html ? "text/html; charset=utf-8" : "application/json", is_html ? page_policy() : "", nullptr};
    const bool old = is_old(*current());
    const std::scoped_lock lock(mutex_);
    if (page_ && !old) answer.body = {page_, is_html ? &page_->html : &page_->json};
    return answer;
  }
  std::string text() const {
    const auto sheet = current();
    return is_old(*sheet) ? std::string() : sheet->text;  // no values are better than ones of long ago
  }
  ServiceHealth health() const {
    const auto sheet = current();
    if (is_old(*sheet)) return {.well = false, .text = "there has been no sample for a long time\n"};
    return {.well = sheet->problem.empty(), .text = sheet->problem.empty() ? "ok\n" : sheet->problem + "\n"};
  }

 private:
  struct Sheet {
    std::string text;
    std::string problem;
    Clock::time_point time;
  };
  std::shared_ptr<const Sheet> current() const {
    const std::scoped_lock lock(mutex_);
    return sheet_;
  }
  bool is_old(const Sheet& sheet) const { return Clock::now() - sheet.time > limit_; }

  Clock::duration limit_;
  mutable std::mutex mutex_;
  std::shared_ptr<const PageTexts> page_;  ///< null: there is none yet
  std::shared_ptr<const Sheet> sheet_ =
      std::make_shared<const Sheet>(Sheet{"", "there has been no sample yet", Clock::now()});
};

/// The counters of the spec's file, as it is now.
class CounterFile {
 public:
  CounterFile(RootDir root, std::string path) : root_(std::move(root)), path_(std::move(path)) {}

  /// Reads the file again when it has changed. What was read before counts as long as it cannot be read.
  void update(ServiceIo& io) {
    if (path_.empty() && counters_) return;
    const auto text =
        path_.empty() ? Result<std::string>(std::string()) : read_regular(root_, path_, kMostCounterBytes);
    if (text && counters_ && problem_.empty() && *text == text_) return;
    auto read = counters_of(path_, text);
    const std::string problem = read ? "" : read.error().what;
    if (problem != problem_ && !problem.empty())
      io.log("warning", problem + (read.error().next.empty() ? "" : " (do: " + read.error().next + ")"));
    problem_ = problem;
    if (!read) return;
    if (counters_) io.log("info", path_ + " has changed");
    text_ = *text;
    counters_ = std::make_shared<const Counters>(*std::move(read));
    for (const std::string& warning : counters_->warnings) io.log("warning", warning);
    if (!counters_->left_out.empty())
      io.log("info", "not available without DCGM itself, and left out: " + joined(counters_->left_out));
  }
  /// Null: none was ever read.
  const std::shared_ptr<const Counters>& counters() const { return counters_; }
  const std::string& problem() const { return problem_; }

 private:
  RootDir root_;
  std::string path_;
  std::string text_;
  std::string problem_;
  std::shared_ptr<const Counters> counters_;
};

class DcgmService final : public Service {
 public:
  Status run(const Spec& spec, const Host& host, const std::stop_token& stop, ServiceIo& io) override {
    SLIPWAY_TRY(settings, read_settings(spec));
    SLIPWAY_TRY(root, RootDir::open(host.root_folder()));
    CounterFile file(std::move(root), settings.collectors);
    Board board(settings.interval);
    std::optional<PageMaker> page;
    if (settings.page)
      page.emplace(OverviewOptions{
          .node = settings.node, .shows_processes = settings.page_processes, .interval = settings.interval});
    Sampler sampler(host, {.driver_root = settings.driver_root},
                    [&io](const char* level, const std::string& text) { io.log(level, text); });
    const auto pass = [&]() -> Status {
      serve(settings, board, io);
      file.update(io);
      if (file.counters() && (Clock::now() >= next_ || !last_.problem.empty())) {
        next_ = Clock::now() + settings.interval;
        const bool with_page = page && page->is_due(Clock::now());
        last_ = sampler.sample(file.counters(), with_page);
        if (with_page) page->add(last_, Clock::now());
        show(settings, file, board, false);
        if (with_page) board.put_page(page->make(last_, *file.counters(), {}, false));
      }
      if (!file.counters()) show(settings, file, board, false);
      report(file, io);
      if (!std::exchange(reported_ready_, true)) io.ready();
      return {};
    };
    const auto release = [&] {
      sampler.release();
      next_ = {};
      show(settings, file, board, true);
      if (page && file.counters()) board.put_page(page->make(last_, *file.counters(), {}, true));
    };
    const auto while_quiet = [&] { show(settings, file, board, true); };
    const Status status = loop_.run(stop, io,
                                    {.interval = std::min<std::chrono::milliseconds>(settings.interval, kTick),
                                     .pass = pass,
                                     .release = release,
                                     .while_quiet = while_quiet});
    server_.reset();
    return status;
  }
  Status quiesce() override { return loop_.quiesce(); }
  Status resume() override {
    loop_.wake();
    return loop_.resume();
  }

 private:
  void show(const Settings& settings, const CounterFile& file, Board& board, bool released) {
    static const Counters kNone;
    const Counters& counters = file.counters() ? *file.counters() : kNone;
    Sample sample = last_;
    if (released) sample.entities.clear();
    if (!file.counters()) sample.problem = file.problem();
    board.put(exposition_text(sample, counters, {.host_name = settings.node, .released = released}),
              released ? "another program has asked for the driver, so nothing is sampled" : problem_of(sample));
  }

  /// What keeps all GPUs from being sampled; a single one that is lost has a metric.
  static std::string problem_of(const Sample& sample) {
    if (!sample.problem.empty()) return "the GPUs cannot be read: " + sample.problem;
    if (!sample.entities.empty() || sample.gpus.empty()) return "";
    return "no GPU can be read; GPU " + std::to_string(sample.gpus.front().gpu.index) + ": " +
           sample.gpus.front().problem;
  }

  void report(const CounterFile& file, ServiceIo& io) {
    std::vector<std::string> reasons;
    if (!file.problem().empty()) reasons.push_back(file.problem());
    if (!last_.problem.empty()) reasons.push_back("the GPUs cannot be read: " + last_.problem);
    if (last_.problem.empty())
      for (const GpuState& state : last_.gpus)
        if (!state.problem.empty())
          reasons.push_back("GPU " + std::to_string(state.gpu.index) + " (" + state.gpu.bus_id + "): " + state.problem);
    if (!port_problem_.empty()) reasons.push_back("nobody can scrape: " + port_problem_);
    if (reasons == reported_ && reported_ready_) return;
    reported_ = reasons;
    io.status(reasons.empty() ? "all GPUs are sampled" : reasons.front());
    io.reasons(reasons);
  }

  void serve(const Settings& settings, const Board& board, ServiceIo& io) {
    const auto now = Clock::now();
    if (now < serve_after_ || (server_ && !server_->files_changed())) return;
    if (server_) io.log("info", "the web-config file or what it names has changed");
    server_.reset();
    auto server = HttpListener::start(
        {settings.address, settings.port, settings.web_config, "dcgm.listen"}, [&board] { return board.text(); },
        [&board] { return board.health(); },
        settings.page ? HttpPages([&board](std::string_view path) { return board.page(path); }) : HttpPages());
    if (server) {
      server_ = std::move(*server);
      port_problem_.clear();
      return io.log("info", "metrics are at port " + std::to_string(server_->port()) + ", /metrics, every " +
                                nvidia::duration_text(settings.interval));
    }
    serve_after_ = now + kPortAgain;
    if (port_problem_ != server.error().what)
      io.log("warning", "nobody can scrape: " + server.error().what + " (at: " + server.error().where +
                            (server.error().next.empty() ? "" : ", do: " + server.error().next) + ")");
    port_problem_ = server.error().what;
  }

  ServiceLoop loop_;
  Sample last_;
  Clock::time_point next_;  ///< when to sample again
  std::unique_ptr<HttpListener> server_;
  Clock::time_point serve_after_;
  std::string port_problem_;
  std::vector<std::string> reported_;
  bool reported_ready_ = false;
};

}  // namespace
}  // namespace slipway::dcgm

SLIPWAY_PLUGIN(slipway::component<slipway::ServiceOnly<slipway::dcgm::DcgmService>>("dcgm"))
