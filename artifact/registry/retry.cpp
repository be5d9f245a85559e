// SPDX-License-Identifier: Apache-2.0
#include "artifact/registry/retry.hpp"

#include <algorithm>
#include <charconv>
#include <ctime>
#include <random>
#include <thread>

#include <curl/curl.h>

namespace slipway::artifact {

bool Retry::again(std::optional<std::chrono::seconds> asked) {
  if (made_ >= policy_.attempts || asked > policy_.longest_pause) return false;
  ++made_;
  // Adds up to a quarter, so that a rack of nodes does not retry all at once.
  thread_local std::minstd_rand random{std::random_device{}()};
  const auto extra = std::chrono::milliseconds(random() % static_cast<unsigned long>(pause_.count() / 4 + 1));
  const auto wanted = asked ? std::chrono::milliseconds(*asked) : pause_;
  std::this_thread::sleep_for(wanted + extra);
  pause_ = std::min<std::chrono::milliseconds>(pause_ * 2, policy_.longest_pause);
  return true;
}

void Retry::reset() {
  made_ = 1;
  pause_ = policy_.first_pause;
}

std::optional<std::chrono::seconds> retry_after(const HttpResponse& response) {
  const std::string text = response.header("retry-after");
  if (text.empty()) return {};
  long seconds = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (problem != std::errc() || end != text.data() + text.size()) {
    const std::time_t then = curl_getdate(text.c_str(), nullptr);
    if (then < 0) return {};
    seconds = static_cast<long>(then - std::time(nullptr));
  }
  return std::chrono::seconds(std::max(seconds, 0L));
}

bool is_temporary(int status) {
  return status == 408 || status == 429 || (status >= 500 && status != 501 && status != 505);
}

}  // namespace slipway::artifact
