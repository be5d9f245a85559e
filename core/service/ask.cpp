// SPDX-License-Identifier: Apache-2.0
#include "core/service/ask.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "core/service/control_socket.hpp"

namespace slipway::core {
namespace {

using Clock = std::chrono::steady_clock;
using Is = ServiceState::Is;

constexpr std::string_view kQuestion = "{\"op\":\"status\"}\n";
constexpr std::size_t kLongestAnswer = std::size_t{1} << 20U;
constexpr std::size_t kMostReasonsRead = 100;

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
  ServiceState state{flag_at(answer, "quiet")   ? Is::quiet
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

/// One question under way.
class Question {
 public:
  Question(const Fd& folder, const std::string& component)
      : socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    // Through the descriptor of the folder: no link in the path leads out of the root.
    const std::string path = "/proc/self/fd/" + std::to_string(folder.get()) + "/" + component + ".sock";
    path.copy(address.sun_path, std::min(path.size(), sizeof address.sun_path - 1));
    if (!socket_ || ::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
      end(errno == EACCES || errno == EPERM ? Is::refused : errno == EAGAIN ? Is::silent : Is::absent);
    else if (::send(socket_.get(), kQuestion.data(), kQuestion.size(), MSG_NOSIGNAL) < 0)
      end(Is::silent);
  }
  int fd() const { return state_ ? -1 : socket_.get(); }
  /// Takes what there is of the answer.
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
  void end(Is is) { state_ = ServiceState{is, {}, {}}; }

  Fd socket_;
  std::string answer_;
  std::optional<ServiceState> state_;
};

/// Until all have answered or the time is over.
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

const char* word(Is is) {
  switch (is) {
    case Is::absent:
      return "not-running";
    case Is::starting:
      return "starting";
    case Is::working:
      return "working";
    case Is::quiet:
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
  return {{"state", word(state.is)}, {"status", state.status}, {"reasons", state.reasons}};
}

std::string to_text(const ServiceState& state) {
  switch (state.is) {
    case Is::absent:
      return "does not run";
    case Is::silent:
      return "runs, but does not answer";
    case Is::refused:
      return "may be asked by the user only that it runs as";
    default:
      return word(state.is) + (state.status.empty() ? std::string() : ": " + state.status);
  }
}

std::map<std::string, ServiceState> ask_services(const RootDir& root, const std::vector<std::string>& components,
                                                 std::chrono::milliseconds limit) {
  std::map<std::string, ServiceState> states;
  for (const std::string& component : components) states[component] = {};
  const auto folder = root.open_at(kControlFolder, O_PATH | O_DIRECTORY);
  if (!folder) return states;
  std::map<std::string, Question> questions;
  for (const std::string& component : components)
    questions.emplace(std::piecewise_construct, std::forward_as_tuple(component),
                      std::forward_as_tuple(*folder, component));
  wait_for(questions, Clock::now() + limit);
  for (const auto& [component, question] : questions) states[component] = question.state();
  return states;
}

}  // namespace slipway::core
