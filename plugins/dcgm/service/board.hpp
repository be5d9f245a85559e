// SPDX-License-Identifier: Apache-2.0
// plugins/dcgm/service/board.hpp - the answer to scrapes: rendered once for each sample by the sampling thread, and
// sent by the listener's thread without a copy.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/http/http_listener.hpp"
#include "dcgm/page/page.hpp"
#include "dcgm/page/page_maker.hpp"

namespace slipway::dcgm {

/// Texts are immutable: a client that is still being served keeps its text, and the next sample creates another.
class Board {
 public:
  /// @param interval  longest time between two samples
  explicit Board(std::chrono::milliseconds interval);

  /// @param problem  the text of /health; empty: healthy
  void put(std::string text, std::string problem);
  void put_page(std::shared_ptr<const PageTexts> page);

  /// Empty if the last sample is old: no values are better than outdated ones. Never null.
  base::HttpText text() const;
  base::HttpText openmetrics() const;
  base::ServiceHealth health() const;
  /// GET / and /overview.json.
  std::optional<base::HttpPage> page(std::string_view path) const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Sheet {
    base::HttpText text;
    base::HttpText openmetrics;  ///< the same text in OpenMetrics' format
    std::string problem;
    Clock::time_point time;
  };
  static std::shared_ptr<const Sheet> sheet_of(std::string text, std::string problem);
  std::shared_ptr<const Sheet> current() const;
  bool is_old(const Sheet& sheet) const { return Clock::now() - sheet.time > limit_; }

  Clock::duration limit_;
  std::shared_ptr<const Sheet> nothing_;
  mutable std::mutex mutex_;
  std::shared_ptr<const PageTexts> page_;  ///< null: there is no page yet
  std::shared_ptr<const Sheet> sheet_;
};

}  // namespace slipway::dcgm
