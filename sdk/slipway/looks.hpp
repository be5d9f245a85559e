// SPDX-License-Identifier: Apache-2.0
// sdk/slipway/looks.hpp - what was looked at through a Host, and whether the same look would see the same again.
//
// A component whose manifest says `hermetic: true` learns everything through its Host. slipway remembers its answer
// with the looks behind it, and starts its plugin again only when one of them would see something else.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <slipway/host.hpp>
#include <slipway/json.hpp>

namespace slipway {

/// The secret of one record. What is seen enters a record as SipHash-2-4 under it, so nobody who writes the files that
/// are looked at can make two contents that look alike.
using LookKey = std::array<std::uint64_t, 2>;

/// Two texts of hexadecimal digits, the form of a request.
Json to_json(const LookKey& key);
/// Errors: `invalid` when the value has not that form.
Result<LookKey> look_key_from_json(const Json& value);

/// SipHash-2-4 with 64 bits of result (Aumasson and Bernstein, "SipHash: a fast short-input PRF", 2012).
std::uint64_t siphash(const LookKey& key, std::string_view bytes);

/// Hands every call on to `inner` (borrowed), and notes what it was about and what it gave. What no look can tell,
/// running a program, opening a device, reading a secret, or leaving the Host by root_folder() or kernel_folder(),
/// makes the record incomplete.
class WatchedHost final : public Host {
 public:
  WatchedHost(const Host& inner, const LookKey& key) : inner_(inner), key_(key) {}

  /// [[call, path, limit in bytes, hash in hexadecimal], …] in the order of call and path; null when it is incomplete.
  Json looks() const;

  // What the host is by configuration takes no look: it is a part of the question.
  bool live() const override { return inner_.live(); }
  bool has_kernel_view() const override { return inner_.has_kernel_view(); }
  std::string hardware() const override { return inner_.hardware(); }
  bool booting() const override { return inner_.booting(); }
  std::vector<std::string> asked_kernels() const override { return inner_.asked_kernels(); }
  std::string root_folder() const override;
  std::string kernel_folder() const override;
  std::string arch() const override;
  Result<std::string> kernel_release() const override;
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
  struct Question {
    std::string call;
    std::string path;
    std::uint64_t limit_bytes = 0;  ///< of read_part: the offset in the upper half, the size in the lower one
    auto operator<=>(const Question&) const = default;
  };
  void note(Question question, const std::string& seen) const;

  const Host& inner_;
  LookKey key_;
  mutable std::map<Question, std::uint64_t> seen_;
  mutable bool complete_ = true;
};

/// Each of these looks() would give the same on `host` now. Stops at the first that would not.
/// @return false as well for what are no looks
bool looks_the_same(const Json& looks, const LookKey& key, const Host& host);

}  // namespace slipway
