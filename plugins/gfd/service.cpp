// SPDX-License-Identifier: Apache-2.0
#include "gfd/service.hpp"

#include <algorithm>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>

#include <slipway/watch/file_watch.hpp>

#include "gfd/pass_schedule.hpp"
#include "nvidia/config/config_choice.hpp"
#include "nvidia/config/config_watch.hpp"
#include "nvidia/config/shared_settings.hpp"
#include "nvidia/health/shared_health.hpp"
#include "nvidia/loaded_driver.hpp"

namespace slipway::gfd {

using nvidia::config::ConfigWatch;

Result<bool> FileSink::put(const Labels& labels) { return write_feature_file(root_, path_, to_lines(labels)); }

bool FileSink::holds_labels() const {
  const auto file = root_.open_at(path_, O_PATH);
  struct stat info {};
  return file && ::fstat(file->get(), &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0;
}

Result<Labelled> label_once(Probe& probe, const Config& config, LabelSink& sink,
                            const std::function<void(const std::string&)>& log) {
  SLIPWAY_TRY(seen, probe.look(config.sharing));
  if (seen.no_driver && seen.sources.gpu_on_bus && sink.holds_labels()) return *seen.no_driver;
  SLIPWAY_TRY(labels, make_labels(seen.sources, config));
  if (const std::string dropped = drop_invalid(labels); !dropped.empty())
    log("left out labels that Kubernetes does not accept: " + dropped);
  SLIPWAY_TRY(changed, sink.put(labels));
  if (changed)
    log(std::to_string(labels.size()) + " labels written" + (seen.no_driver ? ", of no GPU: " : "") +
        (seen.no_driver ? seen.no_driver->what : ""));
  std::vector<std::string> unreachable;
  for (const Error& gpu : seen.sources.snapshot.unreachable) unreachable.push_back(gpu.what);
  return Labelled{std::move(unreachable), seen.no_driver ? seen.no_driver->what : ""};
}

namespace {

/// Returns the settings of a config that this service supports.
Result<nvidia::config::Settings> readable_settings(const Spec& spec, const Host& host) {
  SLIPWAY_TRY(settings, nvidia::config::read_shared_settings(spec, "gfd", host, nvidia::config::process_environment));
  SLIPWAY_CHECK(config_of(spec, settings, nvidia::config::process_environment));
  return settings;
}

/// Loads a config file that has changed. If it is invalid, the last good one stays active.
/// @return the problem of the new file; empty: none
std::string follow(ConfigWatch& watch, const Spec& spec, Config& config, ServiceIo& io) {
  watch.changed();  // passes are rare enough to read it each time
  auto news = watch.look(std::chrono::steady_clock::now());
  if (watch.settling()) {
    std::this_thread::sleep_for(ConfigWatch::kSettle);
    news = watch.look(std::chrono::steady_clock::now());
  }
  if (news == ConfigWatch::News::changed) {
    auto fresh = config_of(spec, watch.in_force(), nvidia::config::process_environment);
    if (!fresh) return fresh.error().what;
    io.log("info", "the changed configuration is used now");
    for (const std::string& warning : fresh->warnings) io.log("warning", warning);
    config = *std::move(fresh);
  }
  return watch.problem() ? watch.problem()->where + ": " + watch.problem()->what : "";
}

/// Files that change when the driver comes or goes, another service loses or finds a GPU, or the config changes.
std::vector<std::string> paths_of(const Spec& spec, const Host& host) {
  std::vector<std::string> paths{"/dev/nvidiactl", nvidia::health::kHealthFile};
  for (const unsigned minor : nvidia::read_gpu_minors(host)) paths.push_back("/dev/nvidia" + std::to_string(minor));
  for (std::string& path : nvidia::config::shared_config_files(spec, "gfd", nvidia::config::process_environment))
    if (path.starts_with('/')) paths.push_back(std::move(path));
  return paths;
}

/// Schedules the passes, and watches the files that start them.
class Passes {
 public:
  using Clock = PassSchedule::Clock;

  Passes(const RootDir& root, std::optional<std::chrono::milliseconds> interval, ServiceIo& io) : schedule_(interval) {
    if (!interval) return;  // one pass only
    auto opened = FileWatch::open(root);
    if (opened)
      files_.emplace(std::move(*opened));
    else
      io.log("info", "changed files are noticed at the next pass: " + opened.error().what);
  }
  bool is_due(Clock::time_point now) {
    if (files_ && files_->take()) schedule_.files_changed(now);
    return schedule_.is_due(now);
  }
  std::optional<Clock::time_point> due() const { return schedule_.due(); }
  std::vector<int> descriptors() const { return files_ ? std::vector<int>{files_->fd()} : std::vector<int>(); }
  void begin(Clock::time_point now, const std::vector<std::string>& paths) {
    schedule_.begin(now);
    if (files_ && std::exchange(paths_, paths) != paths && files_->watch(paths)) schedule_.look_again(now);
  }

 private:
  PassSchedule schedule_;
  std::optional<FileWatch> files_;
  std::vector<std::string> paths_;
};

}  // namespace

// NVML is open only during a pass, so there is nothing to release between passes.
Status LabelService::run(const Spec& spec, const Host& host, const std::stop_token& stop, ServiceIo& io) {
  SLIPWAY_TRY(settings, readable_settings(spec, host));
  SLIPWAY_TRY(config, config_of(spec, settings, nvidia::config::process_environment));
  SLIPWAY_TRY(root, RootDir::open(host.root_folder()));
  Passes passes(root, config.interval, io);
  FileSink sink(std::move(root), config.output);
  Probe probe(host, config);
  ConfigWatch watch(
      std::move(settings), [&] { return readable_settings(spec, host); }, std::chrono::steady_clock::now());
  if (config.fail_on_init_error) {
    SLIPWAY_TRY(seen, probe.look(config.sharing));
    if (seen.no_driver) return *seen.no_driver;
  }
  std::string last;  // text of the last failure: the same failure is not logged again
  std::vector<std::string> last_left_out;
  const auto pass = [&]() -> Status {
    const auto now = Passes::Clock::now();
    if (!passes.is_due(now) && !anew_.exchange(false)) return {};
    passes.begin(now, paths_of(spec, host));
    const std::string wrong = follow(watch, spec, config, io);
    const auto done = label_once(probe, config, sink, [&io](const std::string& text) { io.log("info", text); });
    const std::vector<std::string> left_out = done ? done->unreachable : last_left_out;
    for (const std::string& gpu : left_out)
      if (std::ranges::count(last_left_out, gpu) == 0) io.log("warning", "the labels leave out a GPU: " + gpu);
    last_left_out = left_out;
    const std::string failure = done ? wrong : done.error().what;
    if (failure != last && failure.empty()) io.log("info", "labels are up to date again");
    if (failure != last && !failure.empty()) io.log("warning", "labels stay as they are: " + failure);
    last = failure;
    const std::string without =
        left_out.empty() ? "" : ", without GPUs that do not answer: " + std::to_string(left_out.size());
    const std::string standing =
        done && !done->no_driver.empty() ? "no labels of GPUs: " + done->no_driver : "labels are up to date";
    io.status(failure.empty() ? standing + without : "labels stay as they are: " + failure);
    std::vector<std::string> current_problems = left_out;
    if (!failure.empty()) current_problems.push_back(failure);
    io.reasons(current_problems);
    io.ready();
    return {};
  };
  return loop_.run(stop, io,
                   {.interval = {},
                    .pass = pass,
                    .release = {},
                    .while_quiet = {},
                    .next = [&] { return passes.due(); },
                    .descriptors = [&] { return passes.descriptors(); }});
}

Status LabelService::resume() {
  anew_ = true;
  loop_.wake();  // the state may have changed meanwhile
  return loop_.resume();
}

}  // namespace slipway::gfd
