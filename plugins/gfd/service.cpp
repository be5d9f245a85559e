// SPDX-License-Identifier: Apache-2.0
#include "gfd/service.hpp"

#include <fcntl.h>
#include <sys/stat.h>

namespace slipway::gfd {

Result<bool> FileSink::put(const Labels& labels) { return write_feature_file(root_, path_, to_lines(labels)); }

bool FileSink::holds_labels() const {
  const auto file = root_.open_at(path_, O_PATH);
  struct stat info {};
  return file && ::fstat(file->get(), &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0;
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

// NVML is open during a pass only, so there is nothing to release between two.
Status LabelService::run(const Spec& spec, const Host& host, const std::stop_token& stop, ServiceIo& io) {
  SLIPWAY_TRY(config, config_of(spec));
  SLIPWAY_TRY(root, RootDir::open(host.root_folder()));
  FileSink sink(std::move(root), config.output);
  Probe probe(host, config);
  std::string last;  // what was said of the last failure: the same again is not worth a line
  const auto pass = [&]() -> Status {
    const Status done = label_once(probe, config, sink, [&io](const std::string& text) { io.log("info", text); });
    const std::string failure = done ? "" : done.error().what;
    if (failure != last && failure.empty()) io.log("info", "labels are up to date again");
    if (failure != last && !failure.empty()) io.log("warning", "labels stay as they are: " + failure);
    last = failure;
    io.status(failure.empty() ? "labels are up to date" : "labels stay as they are: " + failure);
    io.reasons(failure.empty() ? std::vector<std::string>() : std::vector<std::string>{failure});
    io.ready();
    return {};
  };
  return loop_.run(stop, io, {.interval = config.interval, .pass = pass, .release = {}, .while_quiet = {}});
}

Status LabelService::resume() {
  loop_.wake();  // much may have changed meanwhile
  return loop_.resume();
}

}  // namespace slipway::gfd
