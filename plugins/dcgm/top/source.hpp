// SPDX-License-Identifier: Apache-2.0
// plugins/dcgm/top/source.hpp - where `slipway top` has its overviews from: the running service, or a child that
// samples. A driver that hangs holds up neither the screen nor its keys.
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
  /// The newest overview; waits for it at most so long. Errors: why there is none.
  virtual Result<Overview> read(std::chrono::milliseconds limit) = 0;
  /// For people: "from the service at 127.0.0.1:9400".
  virtual std::string name() const = 0;
};

/// GET /overview.json of "ADDRESS:PORT", without TLS. Errors of read(): `not_found` nobody listens there; `denied` it
/// asks for a password; `invalid` what answers is not a service of slipway's.
std::unique_ptr<OverviewSource> service_at(const std::string& address, std::uint16_t port);

struct FeedOptions {
  std::chrono::milliseconds interval{2000};
  std::string sim;    ///< a simulated machine; empty: this one
  bool once = false;  ///< one overview is enough
};
/// A child of this program, `slipway dcgm overview`, which ends with this object.
std::unique_ptr<OverviewSource> own_samples(const FeedOptions& options);

/// Where the service of a root listens, by what the last apply left for it there. Nothing: there is none.
struct ServicePlace {
  std::string address;
  std::uint16_t port = 0;
};
std::optional<ServicePlace> service_place(const std::string& root = "/");

}  // namespace slipway::dcgm
