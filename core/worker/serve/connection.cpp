// SPDX-License-Identifier: Apache-2.0
#include "core/worker/serve/connection.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>

#include <sys/socket.h>
#include <unistd.h>

namespace slipway::core {
namespace {

constexpr int kGone = 71;  // EX_OSERR; slipway has ended, so this status is not read

void reply_with(const slipway_reply& reply, const Json& value) {
  const std::string text = canonical(value);
  reply.write(reply.context, text.data(), text.size());
}

int fail(const slipway_reply& reply, ErrorCode code, const std::string& what) {
  reply_with(reply, to_json(Error{.code = code, .what = what}));
  return code == ErrorCode::unsupported ? SLIPWAY_UNSUPPORTED : SLIPWAY_FAILED;
}

std::int64_t now_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

void Connection::send(const Json& message) {
  Result<std::string> frame = encode_frame(message);
  if (!frame) {
    Error error = frame.error();
    error.code = ErrorCode::plugin_defect;
    frame = encode_frame({{"type", "reply"},
                          {"id", message.value("id", 0)},
                          {"status", static_cast<int>(SLIPWAY_FAILED)},
                          {"value", to_json(error)}});
  }
  const std::scoped_lock lock(sending_);
  write_all(*frame);
}

void Connection::write_all(const std::string& bytes) {
  std::size_t sent = 0;
  while (sent < bytes.size()) {
    const ssize_t part = ::send(descriptor_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (part < 0 && errno == EINTR) continue;
    if (part < 0) _exit(kGone);
    sent += static_cast<std::size_t>(part);
  }
}

Json Connection::receive() {
  for (;;) {
    Result<std::optional<Json>> message = reader_.next();
    if (!message) _exit(kGone);
    if (*message) return std::move(**message);
    std::array<char, 65536> part;
    const ssize_t got = recv(descriptor_, part.data(), part.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) _exit(kGone);
    reader_.feed({part.data(), static_cast<std::size_t>(got)});
  }
}

WorkerServices::WorkerServices(Connection& connection) : connection_(connection) {
  table_ = {.size = sizeof(slipway_services), .context = this, .call = entry};
}

void WorkerServices::set_in_call(bool in_call) {
  const std::scoped_lock lock(asking_);  // waits until another thread's request is answered
  in_call_ = in_call;
}

int WorkerServices::entry(void* context, const char* op, const char* json, std::size_t length,
                          const slipway_reply* reply) {
  if (op == nullptr || reply == nullptr || (json == nullptr && length > 0)) return SLIPWAY_FAILED;
  const Json message = Json::parse(std::string_view(json, length), nullptr, false);
  if (!message.is_object()) return fail(*reply, ErrorCode::invalid, std::string(op) + " needs a JSON object");
  return static_cast<WorkerServices*>(context)->call(op, message, *reply);
}

int WorkerServices::call(const std::string& op, const Json& message, const slipway_reply& reply) {
  if (op == "core") return ask_core(message, reply);
  static constexpr std::array<std::string_view, 7> kKnown{"log",    "progress", "output", "ready",
                                                          "status", "reasons",  "alive"};
  const bool known = std::ranges::find(kKnown, op) != kKnown.end();
  if (!known) return fail(reply, ErrorCode::unsupported, "this slipway has no service '" + op + "'");
  if (op != "progress" || worth_telling(message)) {
    Json frame = message;
    frame["type"] = op == "ready" ? "works" : op;  // the worker sends `ready` itself
    connection_.send(frame);
  }
  reply_with(reply, nullptr);
  return SLIPWAY_OK;
}

int WorkerServices::ask_core(const Json& message, const slipway_reply& reply) {
  const std::scoped_lock lock(asking_);
  if (!in_call_) return fail(reply, ErrorCode::invalid, "a plugin sent slipway a request outside of a call");
  const std::uint64_t id = ++asked_;
  connection_.send({{"type", "core"},
                    {"id", id},
                    {"op", message.value("op", Json())},
                    {"request", message.value("request", Json())}});
  const Json answer = connection_.receive();
  if (answer["type"] != "core-reply" || answer.value("id", Json()) != id) _exit(kGone);
  reply_with(reply, answer.value("value", Json()));
  return answer.value("status", static_cast<int>(SLIPWAY_FAILED));
}

/// A plugin may report each block that it copies; a few reports per second are enough for a user, and the end is always
/// sent.
bool WorkerServices::worth_telling(const Json& progress) {
  constexpr std::int64_t kEveryMs = 50;
  const std::scoped_lock lock(telling_);
  const Json label = progress.value("label", Json());
  const std::string text = label.is_string() ? label.get<std::string>() : std::string();
  const bool ended = progress.value("done", Json()) == progress.value("total", Json());
  const std::int64_t now = now_ms();
  if (!ended && text == last_label_ && now - last_told_ms_ < kEveryMs) return false;
  last_label_ = text;
  last_told_ms_ = now;
  return true;
}

}  // namespace slipway::core
