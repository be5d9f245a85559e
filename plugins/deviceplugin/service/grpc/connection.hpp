// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/service/grpc/connection.hpp - one connection to a gRPC server: HTTP/2 by nghttp2, without the
// threads and the memory of gRPC's own library.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include <nghttp2/nghttp2.h>

#include <slipway/fd.hpp>

namespace slipway::deviceplugin {

/// The gRPC status codes that are used here.
enum class GrpcStatus : std::uint8_t {
  ok = 0,
  invalid_argument = 3,
  resource_exhausted = 8,
  unimplemented = 12,
  internal = 13,
  unavailable = 14,
};

struct GrpcReply {
  GrpcStatus status = GrpcStatus::ok;
  std::string text;  ///< the message (protobuf); for a status other than ok the reason
};

/// The methods of a server.
struct GrpcMethods {
  using Method = std::function<GrpcReply(const std::string& question)>;
  std::map<std::string, Method, std::less<>> of;  ///< by path: "/v1beta1.DevicePlugin/Allocate"
  /// A streaming method without an end: it sends the newest message, then each newer one. Empty: no such method.
  std::string feed;
};

/// A message in wire format, shared by all streams that send it.
using GrpcMessage = std::shared_ptr<const std::string>;
GrpcMessage grpc_message(const std::string& protobuf);

/// Non-blocking. Used by one thread at a time.
class GrpcConnection {
 public:
  /// @param methods  outlives this object
  GrpcConnection(Fd socket, const GrpcMethods& methods, GrpcMessage newest);
  ~GrpcConnection();
  GrpcConnection(const GrpcConnection&) = delete;
  GrpcConnection& operator=(const GrpcConnection&) = delete;

  int fd() const { return socket_.get(); }
  /// Reads and answers received data, and sends. @return false: the connection is over
  bool receive();
  /// Sends as much as the socket accepts. @return false: the connection is over
  bool send();
  /// True when unsent data is left.
  bool is_blocked() const { return !unsent_.empty(); }
  /// True when a message of the feed, or a part of it, is still to be sent.
  bool is_sending() const;

  /// Sets the feed's newest message. A slow stream skips older ones.
  void show(GrpcMessage newest);
  /// Ends the streams of the feed; one in the middle of a message is reset.
  void end_streams();
  /// Number of open feed streams.
  unsigned streams() const;
  /// Number of feed streams opened so far, closed ones included.
  unsigned streams_begun() const { return streams_begun_; }

 private:
  struct Stream {
    std::string path;
    std::string question;
    bool is_too_large = false;
    bool is_feed = false;
    bool ends = false;  ///< after `message`
    GrpcMessage message;
    std::size_t sent = 0;  ///< of it
    GrpcMessage next;
  };

  static GrpcConnection& from(void* self) { return *static_cast<GrpcConnection*>(self); }
  static int on_begin(nghttp2_session*, const nghttp2_frame* frame, void* self);
  static int on_header(nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name, std::size_t name_size,
                       const std::uint8_t* value, std::size_t value_size, std::uint8_t flags, void* self);
  static int on_data(nghttp2_session*, std::uint8_t flags, std::int32_t id, const std::uint8_t* bytes, std::size_t size,
                     void* self);
  static int on_frame(nghttp2_session*, const nghttp2_frame* frame, void* self);
  static int on_close(nghttp2_session*, std::int32_t id, std::uint32_t error, void* self);
  static ssize_t give(nghttp2_session*, std::int32_t id, std::uint8_t* into, std::size_t size, std::uint32_t* flags,
                      nghttp2_data_source* source, void* self);

  void answer(std::int32_t id, Stream& stream);
  void begin_messages(std::int32_t id);
  void refuse(std::int32_t id, const GrpcReply& reply);
  ssize_t fill(std::int32_t id, Stream& stream, std::uint8_t* into, std::size_t size, std::uint32_t* flags);

  Fd socket_;
  const GrpcMethods& methods_;
  GrpcMessage newest_;
  std::unique_ptr<nghttp2_session, void (*)(nghttp2_session*)> session_{nullptr, nghttp2_session_del};
  std::map<std::int32_t, Stream> streams_;
  unsigned streams_begun_ = 0;
  std::size_t buffered_ = 0;  ///< bytes of unanswered requests
  std::string unsent_;        ///< frames that the socket has not accepted yet
};

}  // namespace slipway::deviceplugin
