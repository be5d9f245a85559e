// SPDX-License-Identifier: Apache-2.0
// plugins/dcgm/top/source.hpp - the source of `slipway top`'s overviews: the running service, or a child that samples.
// A driver that hangs blocks neither the screen nor its keys.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include <slipway/result.hpp>

#include "dcgm/page/overview.hpp"

namespace slipway::dcgm {

class OverviewSource {
 public:
  virtual ~OverviewSource() = default;
  /// Returns the newest overview, and waits for it up to the limit. Errors: the reason why there is none.
  virtual Result<Overview> read(std::chrono::milliseconds limit) = 0;
  /// The source as a text: "from the service at 127.0.0.1:9400".
  virtual std::string name() const = 0;
};

/// GET /overview.json of "ADDRESS:PORT", without TLS. Errors of read(): `not_found` no process listens there; `denied`
/// it asks for a password; `invalid` the answer is not from slipway's service.
std::unique_ptr<OverviewSource> service_at(const std::string& address, std::uint16_t port);

struct FeedOptions {
  std::chrono::milliseconds interval{2000};
  std::string sim;    ///< a simulated machine; empty: the real one
  bool once = false;  ///< exit after one overview
};
/// Runs the child process `slipway dcgm overview`, which ends with this object.
std::unique_ptr<OverviewSource> own_samples(const FeedOptions& options);

/// The address where the service of a root listens, as the last apply recorded it. Empty: there is no service.
struct ServicePlace {
  std::string address;
  std::uint16_t port = 0;
};
std::optional<ServicePlace> service_place(const std::string& root = "/");

}  // namespace slipway::dcgm
