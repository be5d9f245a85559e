// SPDX-License-Identifier: Apache-2.0
#include "dcgm/engine/client.hpp"

#include <utility>

#include "dcgm/engine/library.hpp"

namespace slipway::dcgm {

EngineClient::EngineClient() = default;
EngineClient::~EngineClient() { release(); }

Status EngineClient::connect(const std::string& root, const EngineAddress& address, const std::vector<unsigned>& fields,
                             std::chrono::milliseconds interval) {
  release();
  SLIPWAY_TRY(library, DcgmLibrary::open(root));
  auto session = std::make_shared<EngineSession>(std::move(library));
  auto status = std::make_shared<Status>();
  const bool came_back = thread_.run(
      [session, status, address, fields, interval] {
        *status = session->begin(address);
        if (*status) *status = session->watch(fields, interval);
      },
      kCallLimit);
  if (!came_back)
    return Error{.code = ErrorCode::timed_out,
                 .what = "the DCGM engine at " + address.text + " does not answer within 5 s",
                 .next = "restart nv-hostengine"};
  if (!*status) {
    end(std::move(session));
    return *status;
  }
  session_ = std::move(session);
  return {};
}

Result<EngineReading> EngineClient::read() {
  if (!session_) return Error{.code = ErrorCode::internal, .what = "the DCGM engine is not connected"};
  struct Answer {
    Result<EngineReading> reading = EngineReading();
  };
  auto answer = std::make_shared<Answer>();
  const bool came_back = thread_.run([session = session_, answer] { answer->reading = session->read(); }, kCallLimit);
  if (!came_back) {
    session_.reset();  // the hanging call keeps the session alive
    return Error{.code = ErrorCode::timed_out,
                 .what = "the DCGM engine does not answer within 5 s",
                 .next = "restart nv-hostengine"};
  }
  if (!answer->reading) release();
  return std::move(answer->reading);
}

/// Ends the session on the call thread, because that call may hang too. When the maximum number of threads hangs
/// already, the session stays open.
void EngineClient::end(std::shared_ptr<EngineSession> session) {
  if (thread_.stuck() >= nvidia::nvml::CallThread::kMaxStuck)
    (void)new std::shared_ptr<EngineSession>(std::move(session));
  else
    (void)thread_.run([session = std::move(session), alone = thread_.stuck() == 0] { session->end(alone); },
                      kCallLimit);
}

std::string EngineClient::missing() const { return session_ ? session_->missing() : ""; }

void EngineClient::release() {
  if (session_) end(std::exchange(session_, nullptr));
}

}  // namespace slipway::dcgm
