// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/kubelet/unary_call.hpp - one gRPC call and its answer on an existing connection: HTTP/2 by nghttp2,
// without the memory and threads of a whole gRPC library in a service that calls rarely.
#pragma once

#include <chrono>
#include <string>

#include <slipway/result.hpp>

namespace slipway::nvidia::kubelet {

struct UnaryCall {
  std::string method;   ///< "/v1.PodResourcesLister/List"
  std::string message;  ///< protobuf
  std::chrono::milliseconds limit{1000};
  std::size_t largest_answer = 16U << 20U;  ///< bytes
};

/// Returns the answer's message. @param fd  a non-blocking stream socket; it cannot be used for another call. Errors:
/// `timed_out`; `unsupported` the other side has no such method; `denied` it answers with another gRPC error; `io` the
/// connection ended; `corrupt` it does not speak gRPC, or its answer is too large.
Result<std::string> call(int fd, const UnaryCall& question);

}  // namespace slipway::nvidia::kubelet
