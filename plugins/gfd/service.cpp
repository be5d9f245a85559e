// SPDX-License-Identifier: Apache-2.0
#include "gfd/service.hpp"

#include <cstdio>
#include <filesystem>

#include "gfd/feature_file.hpp"

namespace slipway::gfd {
namespace {

/// Standard error is the service's log.
void say(const std::string& text) {
  std::fprintf(stderr, "%s\n", text.c_str());
  std::fflush(stderr);
}

}  // namespace

Result<bool> FileSink::put(const Labels& labels) { return replace_file(path_, to_lines(labels)); }

bool FileSink::holds_labels() const {
  std::error_code ignored;
  return std::filesystem::file_size(path_, ignored) > 0 && !ignored;
}

Status label_once(Probe& probe, const Config& config, LabelSink& sink,
                  const std::function<void(const std::string&)>& log) {
  SLIPWAY_TRY(seen, probe.look());
  if (seen.no_driver && seen.sources.gpu_on_bus && sink.holds_labels()) return *seen.no_driver;
  SLIPWAY_TRY(labels, make_labels(seen.sources, config));
  if (const std::string dropped = drop_invalid(labels); !dropped.empty())
    log("left out what is no label for Kubernetes: " + dropped);
  SLIPWAY_TRY(changed, sink.put(labels));
  if (changed)
    log(std::to_string(labels.size()) + " labels written" + (seen.no_driver ? ", of no GPU: " : "") +
        (seen.no_driver ? seen.no_driver->what : ""));
  return {};
}

Status LabelService::run(const Spec& spec, const Host& host, const std::stop_token& stop) {
  SLIPWAY_TRY(config, config_of(spec));
  const std::filesystem::path path =
      std::filesystem::path(host.root_folder()) / std::filesystem::path(config.output).relative_path();
  FileSink sink(path.lexically_normal().string());
  Probe probe(host, config);
  std::string last;  // what was said of the last failure: the same again is not worth a line
  while (!stop.stop_requested()) {
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, stop, [this] { return !quiet_; });
      if (stop.stop_requested()) break;
      looking_ = true;
    }
    const Status done = label_once(probe, config, sink, say);
    const std::string failure = done ? "" : done.error().what;
    if (failure != last) say(failure.empty() ? "labels are up to date again" : "labels stay as they are: " + failure);
    last = failure;
    wait(stop, config);
  }
  return {};
}

/// Until the next pass is due, or stop.
void LabelService::wait(const std::stop_token& stop, const Config& config) {
  std::unique_lock lock(mutex_);
  looking_ = false;
  changed_.notify_all();
  const auto woken = [this] { return woken_; };
  if (config.interval)
    changed_.wait_for(lock, stop, *config.interval, woken);
  else
    changed_.wait(lock, stop, woken);
  woken_ = false;
}

Status LabelService::quiesce() {
  std::unique_lock lock(mutex_);
  quiet_ = true;
  changed_.wait(lock, [this] { return !looking_; });  // NVML is open during a pass only
  return {};
}

Status LabelService::resume() {
  const std::scoped_lock lock(mutex_);
  quiet_ = false;
  woken_ = true;  // much may have changed meanwhile
  changed_.notify_all();
  return {};
}

}  // namespace slipway::gfd
