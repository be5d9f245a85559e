// SPDX-License-Identifier: Apache-2.0
#include "dcgm/service/counter_file.hpp"

#include <slipway/trusted_owner.hpp>

#include "dcgm/component/host_check.hpp"

namespace slipway::dcgm {

void CounterFile::look_at_config(ServiceIo& io) {
  if (settings_.config_file.empty()) return;
  const auto text = read_trusted(root_, settings_.config_file, kMostConfigBytes);
  if (!text) return;  // the file existed when the service started, and its values stay
  if (config_text_ && *config_text_ != *text)
    io.log("warning", settings_.config_file +
                          " has changed; the service reads it at its next start (do: `systemctl "
                          "reload slipway-dcgm`)");
  config_text_ = *text;
}

void CounterFile::update(ServiceIo& io) {
  look_at_config(io);
  if (settings_.collectors.empty() && counters_) return;
  if (counters_ && problem_.empty())
    if (const auto now = read_trusted(root_, settings_.collectors, kMostCounterBytes); now && *now == text_) return;
  std::string text;
  auto read = counters_of(settings_, [&](const std::string& path) -> Result<std::string> {
    SLIPWAY_TRY(found, read_trusted(root_, path, kMostCounterBytes));
    return text = std::move(found);
  });
  std::string problem = read ? "" : read.error().what;
  if (!read && !read.error().next.empty()) problem += " (do: " + read.error().next + ")";
  if (problem != problem_ && !problem.empty()) io.log("warning", problem);
  problem_ = std::move(problem);
  if (!read) return;
  if (counters_) io.log("info", settings_.collectors + " has changed");
  text_ = std::move(text);
  counters_ = std::make_shared<const Counters>(*std::move(read));
  for (const std::string& remark : remarks_on(settings_.engine, *counters_)) io.log("warning", remark);
  if (const std::string asked = asked_of_the_engine(settings_.engine, *counters_); !asked.empty())
    io.log("info", asked);
}

}  // namespace slipway::dcgm
