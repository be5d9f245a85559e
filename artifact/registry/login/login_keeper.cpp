// SPDX-License-Identifier: Apache-2.0
// A process that finds one repository's login, for the process that contacts the registry. A request is one byte, and
// the answer is one line of JSON.
#include <array>
#include <cerrno>
#include <csignal>
#include <mutex>

#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <slipway/fd.hpp>
#include <slipway/json.hpp>
#include <slipway/process/start_program.hpp>

#include "artifact/io/file.hpp"
#include "artifact/oci/json_field.hpp"
#include "artifact/registry/login/credentials.hpp"

namespace slipway::artifact {
namespace {

constexpr std::size_t kMaxLine = 1UL << 20;

struct Keeper {
  std::mutex mutex;  ///< one request at a time
  std::string of;    ///< the repository and file of its login
  Fd line;           ///< unset: there is no keeper
};

Keeper& keeper() {
  static Keeper only;
  return only;
}

std::string key_of(const Reference& reference, const std::string& auth_file) {
  return reference.authority() + "/" + reference.name + "\n" + auth_file;
}

Json json_of(const Result<std::optional<Credentials>>& found) {
  if (!found) return {{"error", to_json(found.error())}};
  if (!*found) return nullptr;
  const Credentials& login = **found;
  return {{"user", login.user},
          {"password", login.password},
          {"identity_token", login.identity_token},
          {"found_in", login.found_in}};
}

Result<std::optional<Credentials>> login_from(const Json& answer) {
  if (answer.contains("error")) return error_from_json(answer["error"]);
  if (!answer.is_object()) return std::optional<Credentials>();
  return std::optional(Credentials{.user = text_at(answer, "user"),
                                   .password = text_at(answer, "password"),
                                   .identity_token = text_at(answer, "identity_token"),
                                   .found_in = text_at(answer, "found_in")});
}

/// Looks up the login only once: a helper may ask the user for a password.
[[noreturn]] void answer_until_the_end(const Fd& line, const Reference& reference, const std::string& auth_file) {
  std::string answer;
  for (char question = 0; ::read(line.get(), &question, 1) == 1;) {
    if (answer.empty()) answer = canonical(json_of(find_credentials(reference, auth_file))) + "\n";
    if (!base::write_all(line.get(), answer, "the worker")) break;
  }
  ::_exit(0);
}

/// Closes all descriptors except this line and the standard ones: the worker's connection to slipway must end with the
/// worker.
void leave_only(const Fd& line) {
  constexpr int kFirst = STDERR_FILENO + 1;
  const int kept = line.get();
  if (kept > kFirst) ::close_range(kFirst, static_cast<unsigned>(kept) - 1, 0);
  ::close_range(static_cast<unsigned>(kept) + 1, ~0U, 0);
}

Error gone() {
  return Error{.code = ErrorCode::unreachable,
               .what = "the process that looks for the registry's login has ended",
               .where = "login",
               .next = "try again; if it happens again, log in without a credential helper"};
}

}  // namespace

Status keep_login(const Reference& reference, const std::string& auth_file) {
  SLIPWAY_TRY(line, make_socket_pair());
  const pid_t child = ::fork();
  if (child < 0) return system_error("start", "the process that looks for logins", errno);
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    line.ours.reset();
    leave_only(line.theirs);
    answer_until_the_end(line.theirs, reference, auth_file);
  }
  keeper().of = key_of(reference, auth_file);
  keeper().line = std::move(line.ours);
  return {};
}

Result<std::optional<Credentials>> login_of(const Reference& reference, const std::string& auth_file) {
  Keeper& asked = keeper();
  const std::scoped_lock lock(asked.mutex);
  if (!asked.line || asked.of != key_of(reference, auth_file)) return find_credentials(reference, auth_file);
  if (::send(asked.line.get(), "?", 1, MSG_NOSIGNAL) != 1) return gone();
  std::string line;
  while (line.size() < kMaxLine && !line.ends_with('\n')) {
    std::array<char, 4096> part;
    const ssize_t got = ::read(asked.line.get(), part.data(), part.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return gone();
    line.append(part.data(), static_cast<std::size_t>(got));
  }
  SLIPWAY_TRY(answer, parse_json(line, "the login"));
  return login_from(answer);
}

}  // namespace slipway::artifact
