// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>
#include <vector>

#include <unistd.h>

#include "artifact/io/file.hpp"
#include "artifact/registry/client.hpp"
#include "artifact/registry/http/http.hpp"
#include "base/digest/digest.hpp"

namespace slipway::artifact {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kRehashBytes = 256UL << 10;

/// The download of one blob: the partial file, and the hash of its content.
class Download {
 public:
  Download(RegistryClient& client, const BlobCache& cache, const Descriptor& blob, Progress& progress, Fd file)
      : client_(client),
        cache_(cache),
        blob_(blob),
        progress_(progress),
        name_(cache.partial_path_of(blob.digest)),
        file_(std::move(file)) {}

  Result<std::uint64_t> run() {
    SLIPWAY_CHECK(take_up());
    const bool resumed = have_ > 0;
    SLIPWAY_CHECK(receive());
    std::string digest = hash_.digest();
    if (digest != blob_.digest && resumed) {  // the part from an earlier attempt may be damaged
      SLIPWAY_CHECK(start_over());
      SLIPWAY_CHECK(receive());
      digest = hash_.digest();
    }
    if (digest != blob_.digest) return wrong_digest(digest);
    SLIPWAY_CHECK(cache_.complete(file_.get(), blob_.digest));
    return received_;
  }

 private:
  /// Hashes the bytes of an earlier attempt.
  Status take_up() {
    std::vector<std::byte> buffer(kRehashBytes);
    while (true) {
      const ssize_t count = ::read(file_.get(), buffer.data(), buffer.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return system_error("read", name_, errno);
      if (count == 0) break;
      hash_.update(std::span(buffer).first(static_cast<std::size_t>(count)));
      have_ += static_cast<std::uint64_t>(count);
    }
    progress_.add(have_);
    return have_ > blob_.size ? start_over() : Status();
  }

  Status start_over() {
    progress_.take_back(std::exchange(have_, 0));
    hash_ = base::Sha256();
    if (::ftruncate(file_.get(), 0) != 0 || ::lseek(file_.get(), 0, SEEK_SET) != 0)
      return system_error("write", name_, errno);
    return {};
  }

  /// The registry's manifest declares the size, so it can be any. Deletes the received part, so that it does not fill
  /// the disk.
  Status check_space() {
    next_look_ = have_ + kBytesBetweenLooks;
    const Status room = check_room(file_.get(), blob_.size - have_, name_);
    if (!room) cache_.drop_partial(blob_.digest);
    return room;
  }

  Status receive() {
    SLIPWAY_CHECK(check_space());
    for (Retry attempts = client_.retry(); have_ < blob_.size;) {
      const std::uint64_t before = have_;
      auto response = client_.send_once(request());
      if (!response && !is_worth_retrying(response.error())) return std::move(response).error();
      if (response && response->status == 416) {
        SLIPWAY_CHECK(start_over());
      } else if (response && !is_temporary(response->status) && response->status != 200 && response->status != 206) {
        return refused(*response);
      }
      if (have_ >= blob_.size) break;
      if (std::chrono::steady_clock::now() >= deadline_) return given_up(response, attempts.made());
      if (have_ > before) attempts.reset();
      const auto asked = response ? retry_after(*response) : std::nullopt;
      if (!client_.may_try_again(attempts, asked)) return given_up(response, attempts.made());
    }
    return {};
  }

  HttpRequest request() {
    HttpRequest request{.url = client_.url("blobs/" + blob_.digest), .expected_bytes = blob_.size - have_};
    if (have_ > 0) request.headers.push_back("Range: bytes=" + std::to_string(have_) + "-");
    request.sink = [this, checked = false](const HttpResponse& head,
                                           std::span<const std::byte> bytes) mutable -> Status {
      if (!checked) SLIPWAY_CHECK(check_start(head));
      checked = true;
      return append(bytes);
    };
    return request;
  }

  /// A 200 always starts at the beginning; a 206 must start where the file ends.
  Status check_start(const HttpResponse& head) {
    if (head.status == 200) return have_ > 0 ? start_over() : Status();
    const std::string wanted = "bytes " + std::to_string(have_) + "-";
    if (head.header("content-range").starts_with(wanted)) return {};
    return Error{.code = ErrorCode::invalid,
                 .what = client_.reference().authority() + " returned another part of blob " + describe(blob_) +
                         " than the requested one (" + head.header("content-range") + ")",
                 .where = where(),
                 .next = "tell the operator of the registry, or of the proxy in front of it"};
  }

  Status append(std::span<const std::byte> bytes) {
    if (bytes.size() > blob_.size - have_) {
      cache_.drop_partial(blob_.digest);
      return Error{.code = ErrorCode::corrupt,
                   .what = "blob " + describe(blob_) + " is longer than it should be",
                   .where = where(),
                   .next = advice(),
                   .details = {{"expected", std::to_string(blob_.size) + " bytes"}}};
    }
    if (have_ >= next_look_) SLIPWAY_CHECK(check_space());
    const Status written = base::write_all(file_.get(), bytes, name_);
    if (!written && written.error().code == ErrorCode::no_space) cache_.drop_partial(blob_.digest);
    SLIPWAY_CHECK(written);
    hash_.update(bytes);
    have_ += bytes.size();
    received_ += bytes.size();
    progress_.add(bytes.size());
    return {};
  }

  Error refused(const HttpResponse& response) const {
    Error error = refusal(response, "download blob " + describe(blob_) + " of " + client_.reference().name);
    if (response.status == 404) {
      error.details.emplace_back("blob", blob_.digest);
      error.next = "the manifest names a blob that the registry lacks: push the package again";
    }
    return error;
  }

  Error given_up(const Result<HttpResponse>& response, int attempts) const {
    Error error = !response                        ? response.error()
                  : is_temporary(response->status) ? refused(*response)
                  : Clock::now() >= deadline_      ? too_slow()
                                                   : cut_short();
    error.details.emplace_back("blob", describe(blob_) + ": " + std::to_string(have_) + " of " +
                                           std::to_string(blob_.size) + " bytes were received");
    error.details.emplace_back("tried",
                               std::to_string(attempts) + " times: the transfer made no progress, or took too long");
    error.next += (error.next.empty() ? "" : "; ") + std::string("the next attempt continues after the received bytes");
    return error;
  }

  Error too_slow() const {
    const auto seconds = std::max<std::uint64_t>(
        static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - begin_).count()), 1);
    return Error{.code = ErrorCode::timed_out,
                 .what = client_.reference().authority() + " sends blob " + describe(blob_) + " too slowly",
                 .where = where(),
                 .next = "check the network on the way to the registry (firewall, proxy), then try again",
                 .details = {{"rate", std::to_string(received_) + " bytes in " + std::to_string(seconds) + " s (" +
                                          std::to_string(received_ / seconds) + " bytes/s)"}}};
  }

  Error cut_short() const {
    return Error{.code = ErrorCode::unreachable,
                 .what = client_.reference().authority() + " sends blob " + describe(blob_) + " incompletely",
                 .where = where()};
  }

  Error wrong_digest(const std::string& digest) const {
    cache_.drop_partial(blob_.digest);
    return Error{.code = ErrorCode::corrupt,
                 .what = "blob " + describe(blob_) + " has the wrong digest",
                 .where = where(),
                 .next = advice(),
                 .details = {{"expected", blob_.digest}, {"got", digest}}};
  }

  std::string where() const { return client_.url("blobs/" + blob_.digest); }
  static std::string advice() {
    return "run the same command again; if the result is the same, the registry's copy is damaged: push the package "
           "again";
  }

  RegistryClient& client_;
  const BlobCache& cache_;
  const Descriptor& blob_;
  Progress& progress_;
  std::string name_;
  Fd file_;
  base::Sha256 hash_;
  std::uint64_t have_ = 0;
  std::uint64_t received_ = 0;
  std::uint64_t next_look_ = 0;  ///< file size at which to check the free space again
  Clock::time_point begin_ = Clock::now();
  Clock::time_point deadline_ = client_.deadline_for(blob_.size);  ///< for all attempts together
};

}  // namespace

Result<std::uint64_t> download(RegistryClient& client, const BlobCache& cache, const Descriptor& blob,
                               Progress& progress) {
  if (cache.has(blob)) return std::uint64_t{0};
  SLIPWAY_TRY(file, cache.lock_partial(blob.digest));
  if (cache.has(blob)) {  // another process downloaded it while this one waited
    cache.drop_partial(blob.digest);
    return std::uint64_t{0};
  }
  return Download(client, cache, blob, progress, std::move(file)).run();
}

}  // namespace slipway::artifact
