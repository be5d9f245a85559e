// SPDX-License-Identifier: Apache-2.0
// artifact/registry/retry.hpp - the number of attempts for a failed exchange, and the pauses between them.
#pragma once

#include <chrono>
#include <optional>

#include "artifact/registry/http/http.hpp"

namespace slipway::artifact {

struct RetryPolicy {
  int attempts = 5;                            ///< in total, including the first one
  std::chrono::milliseconds first_pause{500};  ///< doubled each time
  std::chrono::seconds longest_pause{60};      ///< a longer Retry-After is not waited for
};

/// Counts the attempts of one request.
class Retry {
 public:
  explicit Retry(const RetryPolicy& policy) : policy_(policy), pause_(policy.first_pause) {}

  /// Waits before another attempt. `asked` is the pause that the server requests.
  /// @return  false when all attempts are used, or the server requests too long a pause
  bool again(std::optional<std::chrono::seconds> asked = {});

  /// Restarts the count after progress was made.
  void reset();
  int made() const { return made_; }

 private:
  RetryPolicy policy_;
  std::chrono::milliseconds pause_;
  int made_ = 1;
};

/// Returns the Retry-After header (seconds, or a date), if it is valid.
std::optional<std::chrono::seconds> retry_after(const HttpResponse& response);

/// True when a status is temporary: 408, 429 and all of 5xx except 501 and 505.
bool is_temporary(int status);

}  // namespace slipway::artifact
