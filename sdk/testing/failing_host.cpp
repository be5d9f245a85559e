// SPDX-License-Identifier: Apache-2.0
#include <slipway/testing/failing_host.hpp>

namespace slipway::testing {
namespace {

constexpr const char* kAny = "";

}  // namespace

Error FailingHost::broken() { return Error{.code = ErrorCode::io, .what = "a fault that the test put here"}; }

FailingHost& FailingHost::fail(unsigned nth, const Error& error) { return fail(kAny, nth, error); }

FailingHost& FailingHost::fail(const std::string& kind, unsigned nth, const Error& error) {
  faults_.insert_or_assign({kind, nth}, error);
  return *this;
}

FailingHost& FailingHost::fail_at(const std::string& path, const Error& error) {
  broken_paths_.insert_or_assign(path, error);
  return *this;
}

unsigned FailingHost::calls() const { return calls(kAny); }

unsigned FailingHost::calls(const std::string& kind) const {
  const auto found = counts_.find(kind);
  return found == counts_.end() ? 0 : found->second;
}

std::optional<Error> FailingHost::meet(const std::string& kind, std::string_view path) const {
  const unsigned of_any = ++counts_[kAny];
  const unsigned of_kind = ++counts_[kind];
  if (const auto fault = faults_.find({kAny, of_any}); fault != faults_.end()) return fault->second;
  if (const auto fault = faults_.find({kind, of_kind}); fault != faults_.end()) return fault->second;
  if (const auto fault = broken_paths_.find(std::string(path)); fault != broken_paths_.end()) return fault->second;
  return std::nullopt;
}

Result<std::string> FailingHost::kernel_release() const {
  if (auto fault = meet("kernel_release", {})) return *fault;
  return inner_.kernel_release();
}

Result<std::string> FailingHost::read(std::string_view path, std::size_t limit_bytes) const {
  if (auto fault = meet("read", path)) return *fault;
  return inner_.read(path, limit_bytes);
}

Result<std::string> FailingHost::read_part(std::string_view path, std::uint32_t offset_bytes,
                                           std::uint32_t size_bytes) const {
  if (auto fault = meet("read", path)) return *fault;
  return inner_.read_part(path, offset_bytes, size_bytes);
}

Result<FileInfo> FailingHost::info(std::string_view path) const {
  if (auto fault = meet("info", path)) return *fault;
  return inner_.info(path);
}

Result<std::string> FailingHost::read_link(std::string_view path) const {
  if (auto fault = meet("read_link", path)) return *fault;
  return inner_.read_link(path);
}

Result<std::string> FailingHost::resolve(std::string_view path) const {
  if (auto fault = meet("resolve", path)) return *fault;
  return inner_.resolve(path);
}

Result<std::vector<std::string>> FailingHost::list(std::string_view path) const {
  if (auto fault = meet("list", path)) return *fault;
  return inner_.list(path);
}

Status FailingHost::opens(std::string_view path) const {
  if (auto fault = meet("opens", path)) return *fault;
  return inner_.opens(path);
}

Result<ProcessOutput> FailingHost::run(const std::vector<std::string>& argv, std::chrono::milliseconds limit) const {
  if (auto fault = meet("run", argv.empty() ? std::string_view() : argv.front())) return *fault;
  return inner_.run(argv, limit);
}

Result<std::string> FailingHost::secret(const Json& reference, std::size_t limit_bytes) const {
  std::string named;
  for (const char* kind : {"file", "env"})
    if (reference.is_object() && reference.contains(kind) && reference[kind].is_string()) named = reference[kind];
  if (auto fault = meet("secret", named)) return *fault;
  return inner_.secret(reference, limit_bytes);
}

}  // namespace slipway::testing
