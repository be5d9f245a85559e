// SPDX-License-Identifier: Apache-2.0
#include "deviceplugin/service/grpc/connection.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <sys/socket.h>

namespace slipway::deviceplugin {
namespace {

constexpr std::size_t kMessageHead = 5;                          // compression flag, and four bytes of length
constexpr std::size_t kLargestQuestion = std::size_t{4} << 20U;  // the limit of gRPC's own servers
constexpr std::size_t kMostBuffered = std::size_t{16} << 20U;    // over all requests of a connection
constexpr std::size_t kLongestPath = 256;
constexpr std::uint32_t kMostStreams = 100;
constexpr std::uint32_t kLongestHeaders = 16U << 10U;
constexpr std::size_t kReadBytes = 64U << 10U;
constexpr std::size_t kSendBytes = 64U << 10U;

constexpr const char* kStatusHeader = "grpc-status";

nghttp2_nv header(std::string_view name, std::string_view value) {
  // nghttp2 copies both; its interface is non-const only because of its own flags.
  return {reinterpret_cast<std::uint8_t*>(const_cast<char*>(name.data())),
          reinterpret_cast<std::uint8_t*>(const_cast<char*>(value.data())), name.size(), value.size(),
          NGHTTP2_NV_FLAG_NONE};
}

/// Encodes for `grpc-message`: all bytes but printable ASCII, and %, become %XX.
std::string percent_encoded(const std::string& text) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string encoded;
  for (const char letter : text) {
    const auto byte = static_cast<unsigned char>(letter);
    if (byte >= ' ' && byte <= '~' && letter != '%')
      encoded += letter;
    else
      encoded += {'%', kHex[byte >> 4U], kHex[byte & 15U]};
  }
  return encoded;
}

/// Returns the one message of a request; empty: it is not one message, or it is compressed, which was not offered.
std::optional<std::string> message_in(const std::string& question) {
  if (question.size() < kMessageHead || question[0] != '\0') return std::nullopt;
  std::size_t size = 0;
  for (std::size_t i = 1; i < kMessageHead; ++i) size = size << 8U | static_cast<unsigned char>(question[i]);
  if (size != question.size() - kMessageHead) return std::nullopt;
  return question.substr(kMessageHead);
}

bool is_request(const nghttp2_frame* frame) {
  return frame->hd.type == NGHTTP2_HEADERS && frame->headers.cat == NGHTTP2_HCAT_REQUEST;
}

}  // namespace

GrpcMessage grpc_message(const std::string& protobuf) {
  std::string text(1, '\0');
  for (int shift = 24; shift >= 0; shift -= 8)
    text += static_cast<char>(static_cast<unsigned char>(protobuf.size() >> static_cast<unsigned>(shift)));
  return std::make_shared<const std::string>(text + protobuf);
}

GrpcConnection::GrpcConnection(Fd socket, const GrpcMethods& methods, GrpcMessage newest)
    : socket_(std::move(socket)), methods_(methods), newest_(std::move(newest)) {
  nghttp2_session_callbacks* callbacks = nullptr;
  if (nghttp2_session_callbacks_new(&callbacks) != 0) return;  // out of memory: receive() reports the end
  const std::unique_ptr<nghttp2_session_callbacks, void (*)(nghttp2_session_callbacks*)> owned(
      callbacks, nghttp2_session_callbacks_del);
  nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, on_begin);
  nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
  nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
  nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_close);
  nghttp2_option* option = nullptr;
  if (nghttp2_option_new(&option) != 0) return;
  const std::unique_ptr<nghttp2_option, void (*)(nghttp2_option*)> owned_option(option, nghttp2_option_del);
  // kubelet before 1.26 sends the path of the socket as :authority, which violates the syntax.
  nghttp2_option_set_no_http_messaging(option, 1);
  nghttp2_session* session = nullptr;
  if (nghttp2_session_server_new2(&session, callbacks, this, option) != 0) return;
  session_.reset(session);
  const std::array<nghttp2_settings_entry, 2> settings{{{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, kMostStreams},
                                                        {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, kLongestHeaders}}};
  (void)nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, settings.data(), settings.size());
}

GrpcConnection::~GrpcConnection() = default;

bool GrpcConnection::receive() {
  if (!session_) return false;
  std::vector<std::uint8_t> part(kReadBytes);
  const ssize_t got = ::recv(socket_.get(), part.data(), part.size(), MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return true;
  if (got <= 0) return false;
  if (nghttp2_session_mem_recv(session_.get(), part.data(), static_cast<std::size_t>(got)) < 0) return false;
  return send();
}

bool GrpcConnection::send() {
  if (!session_) return false;
  while (true) {
    while (unsent_.size() < kSendBytes) {
      const std::uint8_t* bytes = nullptr;
      const ssize_t size = nghttp2_session_mem_send(session_.get(), &bytes);
      if (size < 0) return false;
      if (size == 0) break;
      unsent_.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
    }
    if (unsent_.empty())
      return nghttp2_session_want_read(session_.get()) != 0 || nghttp2_session_want_write(session_.get()) != 0;
    const ssize_t sent = ::send(socket_.get(), unsent_.data(), unsent_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return errno == EAGAIN;
    unsent_.erase(0, static_cast<std::size_t>(sent));
  }
}

void GrpcConnection::show(GrpcMessage newest) {
  newest_ = std::move(newest);
  for (auto& [id, stream] : streams_) {
    if (!stream.is_feed || stream.ends) continue;
    stream.next = newest_;
    (void)nghttp2_session_resume_data(session_.get(), id);
  }
}

void GrpcConnection::end_streams() {
  for (auto& [id, stream] : streams_) {
    if (!stream.is_feed || stream.ends) continue;
    stream.ends = true;
    if (stream.message) {
      (void)nghttp2_submit_rst_stream(session_.get(), NGHTTP2_FLAG_NONE, id, NGHTTP2_CANCEL);
      continue;
    }
    (void)nghttp2_session_resume_data(session_.get(), id);
  }
}

unsigned GrpcConnection::streams() const {
  return static_cast<unsigned>(std::ranges::count_if(streams_, [](const auto& each) { return each.second.is_feed; }));
}

bool GrpcConnection::is_sending() const {
  return is_blocked() || std::ranges::any_of(streams_, [](const auto& each) {
           return each.second.is_feed && (each.second.message || each.second.next);
         });
}

int GrpcConnection::on_begin(nghttp2_session* /*session*/, const nghttp2_frame* frame, void* self) {
  if (is_request(frame)) from(self).streams_[frame->hd.stream_id];
  return 0;
}

int GrpcConnection::on_header(nghttp2_session* /*session*/, const nghttp2_frame* frame, const std::uint8_t* name,
                              std::size_t name_size, const std::uint8_t* value, std::size_t value_size,
                              std::uint8_t /*flags*/, void* self) {
  constexpr std::string_view kPath = ":path";
  if (!is_request(frame) || value_size > kLongestPath) return 0;
  if (std::string_view(reinterpret_cast<const char*>(name), name_size) != kPath) return 0;
  auto& streams = from(self).streams_;
  if (const auto found = streams.find(frame->hd.stream_id); found != streams.end())
    found->second.path.assign(reinterpret_cast<const char*>(value), value_size);
  return 0;
}

int GrpcConnection::on_data(nghttp2_session* /*session*/, std::uint8_t /*flags*/, std::int32_t id,
                            const std::uint8_t* bytes, std::size_t size, void* self) {
  GrpcConnection& connection = from(self);
  const auto found = connection.streams_.find(id);
  if (found == connection.streams_.end()) return 0;
  Stream& stream = found->second;
  stream.is_too_large = stream.is_too_large || stream.question.size() + size > kLargestQuestion + kMessageHead ||
                        connection.buffered_ + size > kMostBuffered;
  if (stream.is_too_large) return 0;
  connection.buffered_ += size;
  stream.question.append(reinterpret_cast<const char*>(bytes), size);
  return 0;
}

int GrpcConnection::on_frame(nghttp2_session* /*session*/, const nghttp2_frame* frame, void* self) {
  const bool ends = (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
  if (!ends || (frame->hd.type != NGHTTP2_DATA && frame->hd.type != NGHTTP2_HEADERS)) return 0;
  auto& streams = from(self).streams_;
  if (const auto found = streams.find(frame->hd.stream_id); found != streams.end())
    from(self).answer(frame->hd.stream_id, found->second);
  return 0;
}

int GrpcConnection::on_close(nghttp2_session* /*session*/, std::int32_t id, std::uint32_t /*error*/, void* self) {
  GrpcConnection& connection = from(self);
  const auto found = connection.streams_.find(id);
  if (found == connection.streams_.end()) return 0;
  connection.buffered_ -= found->second.question.size();
  connection.streams_.erase(found);
  return 0;
}

/// Answers a complete request.
void GrpcConnection::answer(std::int32_t id, Stream& stream) {
  if (stream.is_feed || stream.ends) return;  // it was answered
  buffered_ -= stream.question.size();
  const std::string question = std::exchange(stream.question, {});
  if (stream.is_too_large)
    return refuse(id, {GrpcStatus::resource_exhausted, "a message of more than 4 MiB, or too many at once"});
  const auto method = methods_.of.find(stream.path);
  const bool is_feed = !stream.path.empty() && stream.path == methods_.feed;
  if (method == methods_.of.end() && !is_feed)
    return refuse(id, {GrpcStatus::unimplemented, "there is no method " + stream.path});
  const auto message = message_in(question);
  if (!message) return refuse(id, {GrpcStatus::internal, "not a single message without compression"});
  if (is_feed) {
    stream.is_feed = true;
    ++streams_begun_;
    stream.next = newest_;
    return begin_messages(id);
  }
  const GrpcReply reply = method->second(*message);
  if (reply.status != GrpcStatus::ok) return refuse(id, reply);
  stream.next = grpc_message(reply.text);
  stream.ends = true;
  begin_messages(id);
}

void GrpcConnection::begin_messages(std::int32_t id) {
  const std::array<nghttp2_nv, 2> headers{header(":status", "200"), header("content-type", "application/grpc")};
  nghttp2_data_provider body{};
  body.read_callback = give;
  (void)nghttp2_submit_response(session_.get(), id, headers.data(), headers.size(), &body);
}

void GrpcConnection::refuse(std::int32_t id, const GrpcReply& reply) {
  const std::string status = std::to_string(static_cast<unsigned>(reply.status));
  const std::string reason = percent_encoded(reply.text);
  const std::array<nghttp2_nv, 4> headers{header(":status", "200"), header("content-type", "application/grpc"),
                                          header(kStatusHeader, status), header("grpc-message", reason)};
  (void)nghttp2_submit_response(session_.get(), id, headers.data(), headers.size(), nullptr);
}

ssize_t GrpcConnection::give(nghttp2_session* /*session*/, std::int32_t id, std::uint8_t* into, std::size_t size,
                             std::uint32_t* flags, nghttp2_data_source* /*source*/, void* self) {
  GrpcConnection& connection = from(self);
  const auto found = connection.streams_.find(id);
  if (found == connection.streams_.end()) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
  return connection.fill(id, found->second, into, size, flags);
}

ssize_t GrpcConnection::fill(std::int32_t id, Stream& stream, std::uint8_t* into, std::size_t size,
                             std::uint32_t* flags) {
  if (!stream.message && !(stream.is_feed && stream.ends)) {
    stream.message = std::exchange(stream.next, nullptr);
    stream.sent = 0;
  }
  std::size_t count = 0;
  if (stream.message) {
    count = std::min(size, stream.message->size() - stream.sent);
    std::memcpy(into, stream.message->data() + stream.sent, count);
    stream.sent += count;
    if (stream.sent == stream.message->size()) stream.message.reset();
  }
  if (!stream.message && stream.ends) {
    *flags |= NGHTTP2_DATA_FLAG_EOF | NGHTTP2_DATA_FLAG_NO_END_STREAM;
    const nghttp2_nv status = header(kStatusHeader, "0");
    if (nghttp2_submit_trailer(session_.get(), id, &status, 1) != 0) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    return static_cast<ssize_t>(count);
  }
  return count == 0 ? static_cast<ssize_t>(NGHTTP2_ERR_DEFERRED) : static_cast<ssize_t>(count);
}

}  // namespace slipway::deviceplugin
