// SPDX-License-Identifier: Apache-2.0
#include "slipway/process/sockets.hpp"

#include <charconv>
#include <cstdlib>
#include <optional>

#include <fcntl.h>
#include <unistd.h>

#include "slipway/process/start_program.hpp"

namespace slipway {
namespace {

constexpr const char* kWorkerVariable = "SLIPWAY_WORKER_SOCKETS";  // spawn.cpp passes no variable with that prefix
constexpr int kFirst = 3;                                          // SD_LISTEN_FDS_START

std::optional<std::size_t> number_of(const char* text) {
  if (text == nullptr) return std::nullopt;
  const std::string_view digits(text);
  std::size_t number = 0;
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return problem == std::errc{} && end == digits.data() + digits.size() ? std::optional(number) : std::nullopt;
}

}  // namespace

Result<std::vector<Fd>> take_systemd_sockets() {
  std::vector<Fd> sockets;
  const bool ours = number_of(std::getenv("LISTEN_PID")) == static_cast<std::size_t>(::getpid());
  const auto count = number_of(std::getenv("LISTEN_FDS"));
  for (const char* name : {"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"}) ::unsetenv(name);
  if (!ours) return sockets;
  if (!count || *count > kMostSockets)
    return Error{
        ErrorCode::invalid,
        "systemd passed an invalid number of sockets (LISTEN_FDS), or more than " + std::to_string(kMostSockets),
        "environment variable LISTEN_FDS",
        "look for further sockets in `systemctl show -p TriggeredBy` of the unit",
        {}};
  for (std::size_t i = 0; i < *count; ++i) {
    SLIPWAY_TRY(socket, moved_up(Fd(kFirst + static_cast<int>(i))));
    sockets.push_back(std::move(socket));
  }
  return sockets;
}

std::string worker_sockets_entry(std::size_t count) {
  return std::string(kWorkerVariable) + "=" + std::to_string(count);
}

std::size_t worker_sockets() {
  const auto count = number_of(std::getenv(kWorkerVariable));
  if (!count || *count > kMostSockets) return 0;
  for (std::size_t i = 0; i < *count; ++i) (void)::fcntl(kFirstWorkerSocket + static_cast<int>(i), F_SETFD, FD_CLOEXEC);
  return *count;
}

}  // namespace slipway
