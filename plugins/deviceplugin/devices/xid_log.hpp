// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/devices/xid_log.hpp - the XIDs that are worth a line of the log: programs of pods can make a GPU
// send thousands a second.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "deviceplugin/devices/health.hpp"

namespace slipway::deviceplugin {

/// Logs the first XID per place and number at once, then a count once a minute, until a minute has none.
class XidLog {
 public:
  struct Line {
    const char* level;
    std::string text;
  };

  /// @param place  a GPU's UUID, or an instance_key()
  /// @return the line to log now, or an empty list
  std::vector<Line> add(const std::string& place, unsigned number, XidEffect effect, Moment now);
  /// Returns the lines whose minute is over.
  std::vector<Line> take(Moment now);
  /// Returns when take() has something to do; Moment::max(): nothing is counted.
  Moment due() const;

 private:
  struct Count {
    Moment since;
    std::size_t more = 0;
    XidEffect effect = XidEffect::none;  ///< of the last XID
  };
  std::map<std::pair<std::string, unsigned>, Count> counts_;  ///< by place and number
};

}  // namespace slipway::deviceplugin
