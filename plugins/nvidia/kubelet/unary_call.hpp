// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/kubelet/unary_call.hpp - one question and one answer of gRPC on a connection that is there already:
// HTTP/2 by nghttp2, without the memory and threads of a whole gRPC library in a service that asks once in a while.
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

/// The answer's message. @param fd  a stream socket that does not block; of no use for another call afterwards
/// Errors: `timed_out`; `unsupported` the other side has no such method; `denied` it answers with another error of
/// gRPC; `io` the connection ended; `corrupt` it speaks no gRPC, or its answer is larger.
Result<std::string> call(int fd, const UnaryCall& question);

}  // namespace slipway::nvidia::kubelet
