// SPDX-License-Identifier: Apache-2.0
// sdk/slipway/testing/failing_host.hpp - wraps another host, and lets some calls fail.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <slipway/host.hpp>

namespace slipway::testing {

/// Passes every call on to `inner` (borrowed) unless a fault was set for it. To try every place where a component can
/// meet a fault, count the calls of a run without faults, then fail the first, the second, … of them:
///
///   for (unsigned n = 1; n <= calls; ++n) {
///     const FailingHost host = FailingHost(machine).fail(n);
///     EXPECT_TRUE(detect_reports_or_copes(host));
///   }
class FailingHost final : public Host {
 public:
  explicit FailingHost(const Host& inner) : inner_(inner) {}

  /// Makes the `nth` call (from 1) of any kind fail.
  FailingHost& fail(unsigned nth, const Error& error = broken());
  /// Makes the `nth` call of one kind fail: "read" (parts as well), "info", "read_link", "resolve", "list", "opens",
  /// "run", "kernel_release", "secret". Other kinds never occur.
  FailingHost& fail(const std::string& kind, unsigned nth, const Error& error = broken());
  /// Makes every call for this path, or program, fail.
  FailingHost& fail_at(const std::string& path, const Error& error = broken());

  /// Returns the number of calls so far: of any kind, or of one.
  unsigned calls() const;
  unsigned calls(const std::string& kind) const;

  bool live() const override { return inner_.live(); }
  bool has_kernel_view() const override { return inner_.has_kernel_view(); }
  std::string hardware() const override { return inner_.hardware(); }
  bool booting() const override { return inner_.booting(); }
  std::string root_folder() const override { return inner_.root_folder(); }
  std::string kernel_folder() const override { return inner_.kernel_folder(); }
  std::string arch() const override { return inner_.arch(); }
  Result<std::string> kernel_release() const override;
  std::vector<std::string> asked_kernels() const override { return inner_.asked_kernels(); }
  std::optional<KernelChange> kernel_change() const override { return inner_.kernel_change(); }
  Result<std::string> read(std::string_view path, std::size_t limit_bytes = 1 << 20) const override;
  Result<std::string> read_part(std::string_view path, std::uint32_t offset_bytes,
                                std::uint32_t size_bytes) const override;
  Result<FileInfo> info(std::string_view path) const override;
  Result<std::string> read_link(std::string_view path) const override;
  Result<std::string> resolve(std::string_view path) const override;
  Result<std::vector<std::string>> list(std::string_view path) const override;
  Status opens(std::string_view path) const override;
  Result<ProcessOutput> run(const std::vector<std::string>& argv, std::chrono::milliseconds limit) const override;
  Result<std::string> secret(const Json& reference, std::size_t limit_bytes = 1 << 16) const override;

 private:
  static Error broken();
  /// Counts one call. @return its fault
  std::optional<Error> meet(const std::string& kind, std::string_view path) const;

  const Host& inner_;
  std::map<std::pair<std::string, unsigned>, Error> faults_;
  std::map<std::string, Error> broken_paths_;
  mutable std::map<std::string, unsigned> counts_;
};

}  // namespace slipway::testing
