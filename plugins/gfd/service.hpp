// SPDX-License-Identifier: Apache-2.0
// plugins/gfd/service.hpp - `slipway service gfd`: looks at the machine again and again and keeps the labels and their
// file right.
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

/// Where labels go: the file of Node Feature Discovery; objects of a cluster (cluster_sink.hpp), for an agent.
class LabelSink {
 public:
  virtual ~LabelSink() = default;
  /// Makes these the labels. @return false when they were already
  virtual Result<bool> put(const Labels& labels) = 0;
  /// Labels were put there, by this process or an earlier one.
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
  std::vector<std::string> unreachable;  ///< GPUs that the labels are without, since they do not answer
  std::string no_driver;                 ///< why they are of no GPU at all; empty: a driver runs
};

/// One pass: looks, makes labels, hands them on. A pass that fails leaves the labels of the last good one where they
/// are; so does a driver that is away while its GPUs are still on the bus.
/// @param log  a line for people
Result<Labelled> label_once(Probe& probe, const Config& config, LabelSink& sink,
                            const std::function<void(const std::string&)>& log);

class LabelService final : public Service {
 public:
  Status run(const Spec& spec, const Host& host, const std::stop_token& stop, ServiceIo& io) override;
  Status quiesce() override { return loop_.quiesce(); }
  Status resume() override;

 private:
  ServiceLoop loop_;
  std::atomic<bool> anew_ = false;  ///< a pass whatever is due
};

/// Makes the file hold exactly `text`, mode 0644, with its folders. A reader sees the old content or the new, never a
/// part. The new file comes into being outside the folder, whose watchers then see one change only.
/// Others may write in that folder, pods among them: no link leads out of the root, and only a regular file is read.
/// @param path  absolute, inside the root
/// @return false when it held that text already and nothing was written
/// Errors: of the file system; the old content is then still there
Result<bool> write_feature_file(const RootDir& root, const std::string& path, const std::string& text);

}  // namespace slipway::gfd
