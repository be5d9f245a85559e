// SPDX-License-Identifier: Apache-2.0
#include "nvidia/kubelet/unary_call.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>

#include <nghttp2/nghttp2.h>
#include <poll.h>
#include <sys/socket.h>

namespace slipway::nvidia::kubelet {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kHead = 5;  // of a message: compression flag, and four bytes of length
constexpr std::size_t kBuffer = 16U << 10U;
constexpr std::size_t kMaxStatusBytes = 500;  // bytes of a text from the other side

Error failure(ErrorCode code, const std::string& what) { return Error{code, what, {}, {}, {}}; }

std::string with_head(const std::string& message) {
  std::string text(1, '\0');
  for (int shift = 24; shift >= 0; shift -= 8)
    text += static_cast<char>(static_cast<unsigned char>(message.size() >> static_cast<unsigned>(shift)));
  return text + message;
}

nghttp2_nv header(const std::string& name, const std::string& value) {
  // nghttp2 copies both; its interface is non-const only because of its own flags.
  return {reinterpret_cast<std::uint8_t*>(const_cast<char*>(name.data())),
          reinterpret_cast<std::uint8_t*>(const_cast<char*>(value.data())), name.size(), value.size(),
          NGHTTP2_NV_FLAG_NONE};
}

class Exchange {
 public:
  explicit Exchange(const UnaryCall& question) : unsent_(with_head(question.message)), most_(question.largest_answer) {}

  Result<std::string> run(int fd, const UnaryCall& question) {
    SLIPWAY_CHECK(start(question.method));
    const auto limit = Clock::now() + question.limit;
    while (!closed_) {
      SLIPWAY_CHECK(send(fd));
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(limit - Clock::now());
      if (left.count() <= 0) return failure(ErrorCode::timed_out, "it does not answer in time");
      const bool more = !pending_.empty() || nghttp2_session_want_write(session_.get()) != 0;
      if (!more && nghttp2_session_want_read(session_.get()) == 0) return no_grpc();  // nghttp2 has ended the session
      pollfd watched{fd, static_cast<short>(POLLIN | (more ? POLLOUT : 0)), 0};
      const int ready = ::poll(&watched, 1, static_cast<int>(left.count()));
      if (ready < 0 && errno != EINTR) return system_error("wait for", "the answer", errno);
      if (ready > 0 && (watched.revents & (POLLIN | POLLHUP | POLLERR)) != 0) SLIPWAY_CHECK(receive(fd));
    }
    return answer();
  }

 private:
  Status start(const std::string& method) {
    nghttp2_session_callbacks* callbacks = nullptr;
    if (nghttp2_session_callbacks_new(&callbacks) != 0) return failure(ErrorCode::io, "out of memory");
    const std::unique_ptr<nghttp2_session_callbacks, void (*)(nghttp2_session_callbacks*)> owned(
        callbacks, nghttp2_session_callbacks_del);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_close);
    nghttp2_session* session = nullptr;
    if (nghttp2_session_client_new(&session, callbacks, this) != 0) return failure(ErrorCode::io, "out of memory");
    session_.reset(session);
    const std::array<std::string, 12> words{":method", "POST",     ":scheme",      "http",
                                            ":path",   method,     ":authority",   "localhost",
                                            "te",      "trailers", "content-type", "application/grpc"};
    std::array<nghttp2_nv, words.size() / 2> headers{};
    for (std::size_t i = 0; i < headers.size(); ++i) headers[i] = header(words[2 * i], words[2 * i + 1]);
    nghttp2_data_provider body{};
    body.source.ptr = this;
    body.read_callback = give;
    const bool begun = nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, nullptr, 0) == 0 &&
                       nghttp2_submit_request(session, nullptr, headers.data(), headers.size(), &body, nullptr) > 0;
    return begun ? Status() : failure(ErrorCode::io, "the call cannot be sent");
  }

  Status send(int fd) {
    while (true) {
      if (pending_.empty()) {
        const std::uint8_t* bytes = nullptr;
        const ssize_t size = nghttp2_session_mem_send(session_.get(), &bytes);
        if (size < 0) return failure(ErrorCode::io, nghttp2_strerror(static_cast<int>(size)));
        if (size == 0) return {};
        pending_.assign(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
      }
      const ssize_t sent = ::send(fd, pending_.data(), pending_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent < 0 && errno == EINTR) continue;
      if (sent < 0 && errno == EAGAIN) return {};
      if (sent < 0) return system_error("send", "a question", errno);
      pending_.erase(0, static_cast<std::size_t>(sent));
    }
  }

  Status receive(int fd) {
    std::array<std::uint8_t, kBuffer> part;
    const ssize_t got = ::recv(fd, part.data(), part.size(), MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return {};
    if (got < 0) return system_error("receive", "the answer", errno);
    if (got == 0) return failure(ErrorCode::io, "the connection ended before the answer");
    const ssize_t taken = nghttp2_session_mem_recv(session_.get(), part.data(), static_cast<std::size_t>(got));
    if (too_large_) return failure(ErrorCode::corrupt, "the answer is larger than " + std::to_string(most_) + " bytes");
    if (taken < 0) return no_grpc();
    return {};
  }

  Result<std::string> answer() const {
    constexpr const char* kUnimplemented = "12";
    if (status_.empty()) return failure(ErrorCode::io, "it ends the call without a status");
    if (status_ != "0")
      return failure(status_ == kUnimplemented ? ErrorCode::unsupported : ErrorCode::denied,
                     "it answers with error " + status_ + ": " + message_);
    std::size_t size = 0;
    for (std::size_t i = 1; i < kHead && i < body_.size(); ++i)
      size = size << 8U | static_cast<unsigned char>(body_[i]);
    if (body_.size() < kHead || body_[0] != '\0' || size != body_.size() - kHead)
      return failure(ErrorCode::corrupt, "the answer is not a single message");
    return body_.substr(kHead);
  }

  static Error no_grpc() { return failure(ErrorCode::corrupt, "the other side does not speak gRPC"); }

  static Exchange& from(void* self) { return *static_cast<Exchange*>(self); }

  static ssize_t give(nghttp2_session* /*session*/, std::int32_t /*stream*/, std::uint8_t* into, std::size_t size,
                      std::uint32_t* flags, nghttp2_data_source* source, void* /*self*/) {
    std::string& unsent = from(source->ptr).unsent_;
    const std::size_t count = std::min(size, unsent.size());
    std::copy_n(unsent.data(), count, into);
    unsent.erase(0, count);
    if (unsent.empty()) *flags |= NGHTTP2_DATA_FLAG_EOF;
    return static_cast<ssize_t>(count);
  }

  static int on_header(nghttp2_session* /*session*/, const nghttp2_frame* /*frame*/, const std::uint8_t* name,
                       std::size_t name_size, const std::uint8_t* value, std::size_t value_size, std::uint8_t /*flags*/,
                       void* self) {
    const std::string_view key(reinterpret_cast<const char*>(name), name_size);
    const std::string_view text(reinterpret_cast<const char*>(value), std::min(value_size, kMaxStatusBytes));
    if (key == "grpc-status") from(self).status_ = text;
    if (key == "grpc-message") from(self).message_ = text;
    return 0;
  }

  static int on_data(nghttp2_session* /*session*/, std::uint8_t /*flags*/, std::int32_t /*stream*/,
                     const std::uint8_t* bytes, std::size_t size, void* self) {
    Exchange& exchange = from(self);
    exchange.too_large_ = exchange.body_.size() + size > exchange.most_ + kHead;
    if (exchange.too_large_) return NGHTTP2_ERR_CALLBACK_FAILURE;
    exchange.body_.append(reinterpret_cast<const char*>(bytes), size);
    return 0;
  }

  static int on_close(nghttp2_session* /*session*/, std::int32_t /*stream*/, std::uint32_t /*error*/, void* self) {
    from(self).closed_ = true;
    return 0;
  }

  std::unique_ptr<nghttp2_session, void (*)(nghttp2_session*)> session_{nullptr, nghttp2_session_del};
  std::string unsent_;   // of the question
  std::string pending_;  // frames that the socket has not accepted yet
  std::string body_;
  std::string status_;
  std::string message_;
  std::size_t most_;
  bool closed_ = false;
  bool too_large_ = false;
};

}  // namespace

Result<std::string> call(int fd, const UnaryCall& question) { return Exchange(question).run(fd, question); }

}  // namespace slipway::nvidia::kubelet
