// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cerrno>

#include <poll.h>
#include <slipway/abi.h>
#include <unistd.h>

#include "core/worker/client/channel.hpp"
#include "core/worker/client/failure.hpp"
#include "core/worker/client/output.hpp"
#include "core/worker/client/spawn.hpp"
#include "core/worker/client/worker.hpp"

namespace slipway::core {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

std::vector<std::string> lines_at(const Json& message, const char* name) {
  std::vector<std::string> lines;
  const auto found = message.find(name);
  if (found == message.end() || !found->is_array()) return lines;
  for (const Json& line : *found)
    if (line.is_string()) lines.push_back(line);
  return lines;
}

std::string text_at(const Json& message, const char* name) {
  const auto found = message.find(name);
  return found != message.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::uint64_t number_at(const Json& message, const char* name) {
  const auto found = message.find(name);
  return found != message.end() && found->is_number_unsigned() ? found->get<std::uint64_t>() : 0;
}

class ProcessWorker final : public Worker {
 public:
  ProcessWorker(WorkerOptions options, std::unique_ptr<Family> family, WorkerProcess process)
      : options_(std::move(options)),
        family_(std::move(family)),
        process_(std::move(process)),
        channel_(std::move(process_.channel)) {}
  ~ProcessWorker() override { (void)family_->end(); }

  Result<Json> call(const std::string& op, const Json& request, milliseconds limit,
                    const WorkerEvents& events) override;
  Result<std::uint64_t> tell(const std::string& op, const Json& request) override;
  void end_within(milliseconds limit) override;
  void leave() override { leaves_ = true; }

 private:
  /// One running call.
  struct Turn {
    const WorkerEvents& events;
    Clock::time_point deadline;
    milliseconds limit;
    std::uint64_t id;
    std::optional<Result<Json>> answer;

    bool is_cancelled() const { return events.cancel != nullptr && events.cancel->load(); }
  };
  std::optional<Error> converse(Turn& turn);
  std::optional<Error> wait(const Turn& turn);
  void drain_printed(const WorkerEvents& events);
  std::optional<Error> handle_all(Turn& turn);
  std::optional<Error> handle(const Json& message, Turn& turn);
  bool handle_service(const std::string& type, const Json& message, const Turn& turn);
  void forget_old_lines();
  std::optional<Error> answer_core(const Json& message, Turn& turn);
  Result<Json> read_reply(const Json& message) const;
  Error ended(const WorkerEvents& events);
  Error end_because(const Error& error);
  Error over_memory() const {
    return misbehaved(failed(), "ran out of memory, of which it may use " +
                                    std::to_string(options_.memory_limit_bytes >> 20U) + " MiB,");
  }
  Failed failed() const { return {options_.name, phase_, options_.plugin_path, output_.last_lines()}; }

  WorkerOptions options_;
  std::unique_ptr<Family> family_;
  WorkerProcess process_;
  Channel channel_;
  ToolOutput output_;
  std::string phase_;
  std::string op_;
  std::uint64_t calls_ = 0;
  Turn* turn_ = nullptr;  ///< the running call
  Clock::time_point lines_since_;
  bool ready_ = false;
  bool over_ = false;
  bool leaves_ = false;
};

Result<Json> ProcessWorker::call(const std::string& op, const Json& request, milliseconds limit,
                                 const WorkerEvents& events) {
  op_ = op;
  phase_ = ready_ || over_ ? op : "load";
  if (over_) return worker_already_ended(failed());
  constexpr milliseconds kLongest = std::chrono::hours(24 * 365);
  Turn turn{events, Clock::now() + std::min(limit, kLongest), limit, ++calls_, std::nullopt};
  SLIPWAY_CHECK(channel_.queue({{"type", "call"}, {"id", turn.id}, {"op", op}, {"request", request}}));
  output_.begin_call();
  lines_since_ = Clock::now();
  turn_ = &turn;
  const std::optional<Error> failure = converse(turn);
  turn_ = nullptr;
  drain_printed(events);
  output_.flush(events.log);
  if (failure) return *failure;
  return std::move(*turn.answer);
}

/// Exchanges messages until the answer is there. An error means that the worker has ended or was given up.
std::optional<Error> ProcessWorker::converse(Turn& turn) {
  for (;;) {
    channel_.send();
    const bool open = channel_.receive();
    drain_printed(turn.events);
    if (auto error = handle_all(turn)) return error;
    if (turn.answer) return std::nullopt;
    if (!open) return ended(turn.events);
    if (output_.flooded())
      return end_because(
          misbehaved(failed(), "printed more than " + std::to_string(ToolOutput::kMaxPerCall >> 20) + " MiB"));
    if (turn.is_cancelled()) return end_because({ErrorCode::cancelled, "stopped by a signal", {}, {}, {}});
    if (Clock::now() >= turn.deadline) return end_because(ran_out_of_time(failed(), turn.limit));
    forget_old_lines();
    if (auto error = wait(turn)) return error;
    if (leaves_) return Error{.code = ErrorCode::cancelled, .what = "the service of " + options_.name + " continues"};
  }
}

/// Waits until the channel can be read or written, for the deadline, or for the end of the process.
std::optional<Error> ProcessWorker::wait(const Turn& turn) {
  const short channel_events = static_cast<short>(channel_.has_unsent() ? POLLIN | POLLOUT : POLLIN);
  std::array<pollfd, 4> wanted{
      pollfd{channel_.fd(), channel_events, 0}, pollfd{process_.printed ? process_.printed.get() : -1, POLLIN, 0},
      pollfd{process_.handle ? process_.handle.get() : -1, POLLIN, 0}, pollfd{turn.events.watched, POLLIN, 0}};
  constexpr std::int64_t kLookMs = 200;
  const bool needs_looks = family_->group().needs_looks();
  const bool looks = needs_looks || turn.events.cancel != nullptr;  // a signal may wake another thread than this one
  if (needs_looks && family_->group().excess() != base::ExceededLimit::none) return end_because(over_memory());
  const auto left = std::chrono::ceil<milliseconds>(turn.deadline - Clock::now());
  const auto pause = std::clamp<std::int64_t>(left.count(), 0, looks ? kLookMs : std::int64_t{3600} * 1000);
  if (poll(wanted.data(), wanted.size(), static_cast<int>(pause)) < 0 && errno != EINTR)
    return end_because(system_error("wait for", "the worker of " + options_.name, errno));
  if (wanted[3].revents != 0 && turn.events.on_watched) turn.events.on_watched();
  const bool dead = wanted[2].revents != 0 && (wanted[0].revents & POLLIN) == 0;
  return dead ? std::optional(ended(turn.events)) : std::nullopt;
}

void ProcessWorker::drain_printed(const WorkerEvents& events) {
  std::array<char, 65536> part;
  while (process_.printed && !output_.flooded()) {
    const ssize_t got = ::read(process_.printed.get(), part.data(), part.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return;
    if (got == 0) process_.printed = Fd();
    output_.printed({part.data(), static_cast<std::size_t>(got)}, events.log);
  }
}

std::optional<Error> ProcessWorker::handle_all(Turn& turn) {
  while (!turn.answer) {
    const Result<std::optional<Json>> message = channel_.next();
    if (!message) return end_because(misbehaved(failed(), message.error().what));
    if (!*message) return std::nullopt;
    if (auto error = handle(**message, turn)) return error;
  }
  return std::nullopt;
}

std::optional<Error> ProcessWorker::handle(const Json& message, Turn& turn) {
  const std::string type = text_at(message, "type");
  if (type == "ready" && !ready_) {
    ready_ = true;
    phase_ = op_;
  } else if (type == "log") {
    output_.logged(text_at(message, "level"), text_at(message, "text"), turn.events.log);
  } else if (type == "progress") {
    if (turn.events.progress)
      turn.events.progress(text_at(message, "label"), number_at(message, "done"), number_at(message, "total"));
  } else if (type == "output") {
    if (turn.events.output) turn.events.output(text_at(message, "text"));
  } else if (type == "core") {
    return answer_core(message, turn);
  } else if (handle_service(type, message, turn)) {
    return std::nullopt;
  } else if (type == "reply" && !ready_) {
    return end_because(read_reply(message).error());
  } else if (type == "reply" && number_at(message, "id") == turn.id) {
    turn.answer = read_reply(message);
  } else {
    return end_because(misbehaved(failed(), "sent an unexpected message (" + type + ")"));
  }
  return std::nullopt;
}

/// Handles messages that only a service sends. @return false for any other message
bool ProcessWorker::handle_service(const std::string& type, const Json& message, const Turn& turn) {
  if (op_ != "service" || !ready_) return false;
  if (type == "told") {
    if (turn.events.told) turn.events.told(number_at(message, "id"), read_reply(message));
  } else if (type == "works") {
    if (turn.events.works) turn.events.works();
  } else if (type == "status") {
    if (turn.events.status) turn.events.status(text_at(message, "text"));
  } else if (type == "reasons") {
    if (turn.events.reasons) turn.events.reasons(lines_at(message, "lines"));
  } else if (type == "alive") {
    if (turn.events.alive) turn.events.alive();
  } else {
    return false;
  }
  return true;
}

/// Forgets the output of earlier minutes: a service may run for years, and only too much output in one minute is an
/// error.
void ProcessWorker::forget_old_lines() {
  if (op_ != "service" || Clock::now() - lines_since_ < std::chrono::minutes(1)) return;
  output_.begin_call();
  lines_since_ = Clock::now();
}

Result<std::uint64_t> ProcessWorker::tell(const std::string& op, const Json& request) {
  if (over_ || turn_ == nullptr) return worker_already_ended(failed());
  const std::uint64_t id = ++calls_;
  SLIPWAY_CHECK(channel_.queue({{"type", "tell"}, {"id", id}, {"op", op}, {"request", request}}));
  return id;
}

void ProcessWorker::end_within(milliseconds limit) {
  if (turn_ == nullptr) return;
  turn_->deadline = std::min(turn_->deadline, Clock::now() + limit);
  turn_->limit = limit;
}

/// The core's time for its own part does not count against the plugin's limit.
std::optional<Error> ProcessWorker::answer_core(const Json& message, Turn& turn) {
  const Clock::time_point begin = Clock::now();
  const std::string op = text_at(message, "op");
  Result<Json> result =
      Error{.code = ErrorCode::unsupported, .what = "this slipway does not offer plugins the operation '" + op + "'"};
  const auto request = message.find("request");
  if (turn.events.core) result = turn.events.core(op, request == message.end() ? Json() : *request);
  const int status = result                                          ? SLIPWAY_OK
                     : result.error().code == ErrorCode::unsupported ? SLIPWAY_UNSUPPORTED
                                                                     : SLIPWAY_FAILED;
  const Status queued = channel_.queue({{"type", "core-reply"},
                                        {"id", number_at(message, "id")},
                                        {"status", status},
                                        {"value", result ? *result : to_json(result.error())}});
  if (!queued) return end_because(queued.error());
  turn.deadline += Clock::now() - begin;
  return std::nullopt;
}

Result<Json> ProcessWorker::read_reply(const Json& message) const {
  const auto status = message.find("status");
  const auto value = message.find("value");
  if (status == message.end() || !status->is_number_integer() || value == message.end())
    return misbehaved(failed(), "sent a reply without a status or value");
  if (*status == SLIPWAY_OK && ready_) return *value;
  if (*status == SLIPWAY_UNSUPPORTED && (value->is_null() || !value->is_object()))
    return Error{.code = ErrorCode::unsupported,
                 .what = "the plugin of " + options_.name + " does not know the operation '" + op_ + "'",
                 .where = options_.plugin_path};
  Error error = error_from_json(*value);
  if (*status == SLIPWAY_UNSUPPORTED) error.code = ErrorCode::unsupported;
  if (error.code != ErrorCode::plugin_defect) return error;
  const Failed context = failed();
  error.what = "the plugin of " + context.name + " " + error.what;
  if (error.where.empty()) error.where = context.plugin;
  error.details.emplace_back("phase", context.phase);
  if (!context.output.empty()) error.details.emplace_back("output", context.output);
  return error;
}

/// The connection or the process has ended without a request.
Error ProcessWorker::ended(const WorkerEvents& events) {
  constexpr int kDyingMs = 500;  // a descriptor closes a little before its process has ended
  const std::optional<int> status = family_->wait(kDyingMs);
  drain_printed(events);
  output_.flush(events.log);
  if (!status) return end_because(misbehaved(failed(), "closed its connection to slipway"));
  over_ = true;
  const bool no_memory = family_->group().excess() == base::ExceededLimit::memory;
  (void)family_->end();
  return no_memory ? over_memory() : ended_by_itself(failed(), *status);
}

Error ProcessWorker::end_because(const Error& error) {
  over_ = true;
  return family_->end() ? error : stuck_in_kernel(failed(), error, process_.pid);
}

}  // namespace

Result<std::unique_ptr<Worker>> start_worker(const WorkerOptions& options) {
  auto family = std::make_unique<Family>(base::ProcessLimits{.memory_bytes = options.memory_limit_bytes,
                                                             .files_in_memory_count = options.files_in_memory_count});
  SLIPWAY_TRY(process, spawn_worker(options, *family));
  return std::unique_ptr<Worker>(std::make_unique<ProcessWorker>(options, std::move(family), std::move(process)));
}

}  // namespace slipway::core
