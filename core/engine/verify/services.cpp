// SPDX-License-Identifier: Apache-2.0
#include "core/engine/verify/services.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>

#include <poll.h>
#include <sys/socket.h>

#include <slipway/unix_socket.hpp>

#include "core/action/systemd/systemd.hpp"
#include "core/engine/advice.hpp"
#include "core/engine/unit/units.hpp"
#include "core/loader/service_device.hpp"

namespace slipway::core {
namespace {

using Clock = std::chrono::steady_clock;
using Is = ServiceState::Is;

constexpr std::chrono::seconds kAnswerLimit{2};
constexpr std::string_view kQuestion = "{\"op\":\"status\"}\n";
constexpr std::size_t kLongestAnswer = std::size_t{1} << 20U;
constexpr std::size_t kMostReasonsRead = 100;
constexpr std::size_t kMostReasonsShown = 3;

std::string text_at(const Json& value, const char* key) {
  const auto found = value.find(key);
  return found != value.end() && found->is_string() ? found->get<std::string>() : std::string();
}

bool flag_at(const Json& value, const char* key) {
  const auto found = value.find(key);
  return found != value.end() && *found == true;
}

ServiceState read_answer(const std::string& line) {
  const Json answer = parse_foreign(line);
  if (!answer.is_object() || !flag_at(answer, "ok")) return {Is::silent, {}, {}};
  ServiceState state{flag_at(answer, "quiet")   ? Is::quiesced
                     : flag_at(answer, "ready") ? Is::working
                                                : Is::starting,
                     text_at(answer, "status"),
                     {}};
  const auto reasons = answer.find("reasons");
  if (reasons == answer.end() || !reasons->is_array()) return state;
  for (const Json& each : *reasons)
    if (each.is_string() && state.reasons.size() < kMostReasonsRead) state.reasons.push_back(each);
  return state;
}

/// Adapts the commands that a service names to this root's options.
ServiceState advised_in(const SessionOptions& options, ServiceState state) {
  state.status = advised(std::move(state.status), options);
  for (std::string& reason : state.reasons) reason = advised(std::move(reason), options);
  return state;
}

/// One open request.
class Question {
 public:
  Question(const Host& host, const std::string& component) {
    auto connected = connect_to(host, std::string(kControlFolder) + "/" + component + ".sock");
    if (connected)
      socket_ = std::move(*connected);
    else
      end(how_without(connected.error().code));
    if (connected && ::send(socket_.get(), kQuestion.data(), kQuestion.size(), MSG_NOSIGNAL) < 0) end(Is::silent);
  }
  int fd() const { return state_ ? -1 : socket_.get(); }
  /// Reads the available part of the answer.
  void read() {
    std::array<char, 4096> part;
    const ssize_t got = ::recv(socket_.get(), part.data(), part.size(), 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got <= 0 || answer_.size() > kLongestAnswer) return end(Is::silent);
    answer_.append(part.data(), static_cast<std::size_t>(got));
    if (const auto line = answer_.find('\n'); line != std::string::npos) state_ = read_answer(answer_.substr(0, line));
  }
  ServiceState state() const { return state_.value_or(ServiceState{Is::silent, {}, {}}); }

 private:
  static Is how_without(ErrorCode connection) {
    switch (connection) {
      case ErrorCode::not_found:
        return Is::absent;
      case ErrorCode::denied:
        return Is::refused;
      case ErrorCode::busy:
        return Is::silent;
      default:
        return Is::died;
    }
  }
  void end(Is is) { state_ = ServiceState{is, {}, {}}; }

  Fd socket_;
  std::string answer_;
  std::optional<ServiceState> state_;
};

/// Waits until all have answered or the time is over.
void wait_for(std::map<std::string, Question>& questions, Clock::time_point end) {
  for (;;) {
    std::vector<pollfd> wanted;
    std::vector<Question*> open;
    for (auto& [name, question] : questions) {
      if (question.fd() < 0) continue;
      wanted.push_back({question.fd(), POLLIN, 0});
      open.push_back(&question);
    }
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
    if (open.empty() || left <= 0) return;
    if (::poll(wanted.data(), wanted.size(), static_cast<int>(left)) < 0 && errno != EINTR) return;
    for (std::size_t i = 0; i < open.size(); ++i)
      if (wanted[i].revents != 0) open[i]->read();
  }
}

/// True when systemd starts the units of services here; otherwise only users do.
bool is_started_here(const Session& session) {
  return has_systemd(session.host()) && session.host().exists(unit_program(session));
}

std::string why_not_started(const Session& session, const std::string& unit) {
  if (!session.host().live()) return "this root is not running: a boot starts " + unit;
  if (!has_systemd(session.host())) return "no systemd runs here to start " + unit;
  return "the root has no " + unit_program(session) + " for " + unit + ": install slipway there";
}

/// True when a service waits for its device: on a running machine without the device the service does not start.
bool waits_for_device(const Session& session, const std::string& component) {
  const auto left = session.host().live() ? read_service_file(session, component) : Result<Json>(Json::object());
  return left && !has_device(*left, "/sys");
}

std::string reasons_text(const std::vector<std::string>& reasons) {
  const std::size_t shown = std::min(reasons.size(), kMostReasonsShown);
  std::string text;
  for (std::size_t i = 0; i < shown; ++i) text += (i == 0 ? "" : "; ") + reasons[i];
  if (shown < reasons.size()) text += "; and " + std::to_string(reasons.size() - shown) + " more";
  return text;
}

const char* word(Is is) {
  switch (is) {
    case Is::absent:
    case Is::died:
      return "not-running";
    case Is::starting:
      return "starting";
    case Is::working:
      return "working";
    case Is::quiesced:
      return "quiet";
    case Is::silent:
      return "no-answer";
    case Is::refused:
      return "unknown";
  }
  return "unknown";
}

}  // namespace

Json to_json(const ServiceState& state) {
  return {{"state", word(state.is)}, {"status", state.status}, {"text", to_text(state)}, {"reasons", state.reasons}};
}

std::string to_text(const ServiceState& state) {
  switch (state.is) {
    case Is::absent:
      return "does not run";
    case Is::died:
      return "does not run: it was killed or has crashed";
    case Is::silent:
      return "runs, but does not answer";
    case Is::refused:
      return "can only be asked by the user that it runs as";
    default:
      return word(state.is) + (state.status.empty() ? std::string() : ": " + state.status);
  }
}

std::map<std::string, ServiceState> ask_services(Session& session) {
  std::map<std::string, Question> questions;
  for (const auto& [component, path] : session.plugins().component_to_path)
    if (session.plugins().manifest(component)->service != Manifest::ServiceIn::none)
      questions.emplace(std::piecewise_construct, std::forward_as_tuple(component),
                        std::forward_as_tuple(session.host(), component));
  wait_for(questions, Clock::now() + kAnswerLimit);
  std::map<std::string, ServiceState> states;
  for (const auto& [component, question] : questions)
    if (ServiceState state = question.state(); state.is != Is::absent || has_service_section(session, component))
      states[component] = advised_in(session.options(), std::move(state));
  return states;
}

Finding service_finding(const Session& session, const std::string& component, const ServiceState& state) {
  using Status = Finding::Status;
  const std::string unit = "slipway-" + component + ".service";
  const bool started = is_started_here(session);
  Finding finding{Status::fail, component + ".service", "the service " + to_text(state), {}};
  if (state.is == Is::working || state.is == Is::quiesced) {
    // While a service is quiesced for an apply, its report says only that.
    const bool reports = state.is == Is::working && !state.reasons.empty();
    finding.status = reports ? Status::warning : Status::pass;
    finding.text = reports ? "the service works, and reports: " + reasons_text(state.reasons) : to_text(state);
    if (reports && started) finding.remedy = "`journalctl -u " + unit + "` tells since when it reports this";
  } else if (state.is == Is::refused) {
    finding.status = Status::not_exercised;
  } else if (state.is == Is::absent && waits_for_device(session, component)) {
    finding.status = Status::not_applicable;
    finding.text = "the device that " + unit + " is for is missing; udev starts it when one appears";
  } else if (state.is == Is::absent && !started) {
    finding.status = Status::not_exercised;
    finding.text = why_not_started(session, unit);
  } else if (state.is == Is::died && !started) {  // a user had started it by hand
    finding.remedy = "start the service again: `slipway service " + component + "`";
    if (!session.host().has_kernel_view()) finding.status = Status::not_exercised;
  } else {
    if (state.is == Is::starting) finding.status = Status::warning;
    finding.remedy = "look at `systemctl status " + unit + "` and `journalctl -u " + unit + "`";
  }
  finding.remedy = advised(std::move(finding.remedy), session.options());
  return finding;
}

}  // namespace slipway::core
