// SPDX-License-Identifier: Apache-2.0
// plugins/gfd/service.hpp - `slipway service gfd`: checks the machine again and again and keeps the labels and their
// file up to date.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include <slipway/result.hpp>
#include <slipway/root_dir.hpp>
#include <slipway/service.hpp>
#include <slipway/service_loop.hpp>

#include "gfd/labels/config.hpp"
#include "gfd/probe.hpp"

namespace slipway::gfd {

/// The destination of labels: the file of Node Feature Discovery; for an agent, objects of a cluster
/// (cluster_sink.hpp).
class LabelSink {
 public:
  virtual ~LabelSink() = default;
  /// Replaces the labels by these. @return false when they were the same already
  virtual Result<bool> put(const Labels& labels) = 0;
  /// True when the sink has labels, from this process or an earlier one.
  virtual bool holds_labels() const = 0;
};

/// The features.d file.
class FileSink final : public LabelSink {
 public:
  FileSink(RootDir root, std::string path) : root_(std::move(root)), path_(std::move(path)) {}
  Result<bool> put(const Labels& labels) override;
  bool holds_labels() const override;

 private:
  RootDir root_;
  std::string path_;  ///< inside the root
};

struct Labelled {
  std::vector<std::string> unreachable;  ///< for each GPU that does not answer and so has no labels: the error
  std::string no_driver;                 ///< why there are no labels of GPUs at all; empty: a driver runs
};

/// Runs one pass: reads the GPUs, makes labels, and puts them into the sink. If a pass fails, or the driver is gone
/// while its GPUs are still on the bus, the labels of the last good pass stay.
/// @param log  logs a line
Result<Labelled> label_once(Probe& probe, const Config& config, LabelSink& sink,
                            const std::function<void(const std::string&)>& log);

class LabelService final : public Service {
 public:
  Status run(const Spec& spec, const Host& host, const std::stop_token& stop, ServiceIo& io) override;
  Status quiesce() override { return loop_.quiesce(); }
  Status resume() override;

 private:
  ServiceLoop loop_;
  std::atomic<bool> anew_ = false;  ///< run a pass even if none is due
};

/// Replaces the file's content by `text`, with mode 0644, and creates missing folders. A reader sees the old content or
/// the new, never a part. The new file is created outside the folder, so that watchers of the folder see one change
/// only. Pods may write in that folder: links cannot lead out of the root, and only a regular file is read.
/// @param path  absolute, inside the root
/// @return false when it held that text already and nothing was written
/// Errors: those of the file system; the old content is then unchanged
Result<bool> write_feature_file(const RootDir& root, const std::string& path, const std::string& text);

}  // namespace slipway::gfd
