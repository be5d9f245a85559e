// SPDX-License-Identifier: Apache-2.0
// artifact/registry/retry.hpp - how often, and after what pause, a failed exchange is tried again.
#pragma once

#include <chrono>
#include <optional>

#include "artifact/registry/http/http.hpp"

namespace slipway::artifact {

struct RetryPolicy {
  int attempts = 5;                            ///< in all, the first one included
  std::chrono::milliseconds first_pause{500};  ///< doubled each time
  std::chrono::seconds longest_pause{60};      ///< a Retry-After beyond it is not waited for
};

/// Counts the attempts of one request.
class Retry {
 public:
  explicit Retry(const RetryPolicy& policy) : policy_(policy), pause_(policy.first_pause) {}

  /// Waits if another attempt is to be made. `asked` is what the server wants to be waited for.
  /// @return  false when the attempts are used up, or the server asks for more patience than there is
  bool again(std::optional<std::chrono::seconds> asked = {});

  /// Something was achieved: the count begins anew.
  void reset();
  int made() const { return made_; }

 private:
  RetryPolicy policy_;
  std::chrono::milliseconds pause_;
  int made_ = 1;
};

/// The Retry-After header (seconds, or a date), if there is a sensible one.
std::optional<std::chrono::seconds> retry_after(const HttpResponse& response);

/// Whether an answer means "later": 408, 429 and all of 5xx but 501 and 505.
bool is_temporary(int status);

}  // namespace slipway::artifact
