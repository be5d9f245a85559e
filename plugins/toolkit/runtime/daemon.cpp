// SPDX-License-Identifier: Apache-2.0
#include "toolkit/runtime/daemon.hpp"

#include <chrono>

#include <sys/socket.h>

#include <slipway/service/unit_state.hpp>
#include <slipway/text.hpp>
#include <slipway/unix_socket.hpp>

#include "toolkit/environment.hpp"
#include "toolkit/runtime/engine.hpp"
#include "toolkit/runtime/unit_command.hpp"

namespace slipway::toolkit {
namespace {

constexpr std::chrono::seconds kAskLimit{30};
constexpr std::string_view kDeleted = " (deleted)";  // proc(5): the program was replaced while it is running

/// Connects to a socket of this machine.
Fd connect_here(const Host& host, const std::string& socket) {
  if (!host.live()) return {};
  auto end = connect_to(host, socket);
  return end ? std::move(*end) : Fd();
}

std::vector<std::string> words_of(std::string_view text, char separator) {
  std::vector<std::string> words = split(text, separator);
  std::erase(words, "");
  return words;
}

/// Returns the innermost service whose group contains the process (cgroups(7)).
std::string unit_of(const Host& host, const std::string& process) {
  const std::string groups = host.read(process + "/cgroup").value_or("");
  std::string unit;
  for (const std::string& line : lines_of(groups))
    for (const std::string& part : split(line, '/'))
      if (part.ends_with(".service")) unit = part;
  return unit;
}

}  // namespace

std::vector<std::string> Daemon::options(const std::vector<std::string>& names) const {
  std::vector<std::string> values;
  for (std::size_t i = 0; i < arguments.size(); ++i)
    for (const std::string& name : names) {
      if (arguments[i] == name && i + 1 < arguments.size())
        values.push_back(arguments[i + 1]);
      else if (arguments[i].starts_with(name + "="))
        values.push_back(arguments[i].substr(name.size() + 1));
    }
  return values;
}

std::string Daemon::option(const std::vector<std::string>& names) const {
  const auto values = options(names);
  return values.empty() ? "" : values.back();
}

bool socket_answers(const Host& host, const std::string& socket) { return connect_here(host, socket).get() >= 0; }

std::optional<Daemon> find_peer(const Host& host, const std::string& socket, const std::string& program) {
  const Fd end = connect_here(host, socket);
  ucred peer{};
  socklen_t size = sizeof(peer);
  if (end.get() < 0 || ::getsockopt(end.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 || peer.pid <= 0) return {};
  const std::string process = "/proc/" + std::to_string(peer.pid);
  std::string path = host.read_link(process + "/exe").value_or("");
  if (path.ends_with(kDeleted)) path.resize(path.size() - kDeleted.size());
  auto words = words_of(host.read(process + "/cmdline").value_or(""), '\0');
  if (path.empty() || words.empty() || file_name(words.front()) != program) return {};
  // K3s is one program under many names; it prints the engine's version only under the engine's name.
  if (file_name(path) != program) path = folder_of(path) + "/" + program;
  words.erase(words.begin());
  const std::string unit = unit_of(host, process);
  const auto command = read_unit_command(host, unit);
  Daemon daemon{path, words, unit, command ? command->place : ""};
  if (command) daemon.environment = command->environment;
  return daemon;
}

std::optional<Daemon> read_unit(const Host& host, const std::string& unit) {
  auto command = read_unit_command(host, unit);
  if (!command) return {};
  Daemon daemon{{}, {}, unit, command->place, command->environment};
  if (command->words.empty()) return daemon;
  daemon.program = command->words.front();
  if (!daemon.program.starts_with('/')) daemon.program = find_program(host, daemon.program);
  daemon.arguments.assign(command->words.begin() + 1, command->words.end());
  return daemon;
}

bool starts_later(const Host& host, const std::string& unit) {
  if (unit.empty()) return false;
  const auto state = unit_state(host, unit, kAskLimit);
  return state && state->queued;
}

std::string first_unit(const Host& host, const std::vector<std::string>& units) {
  for (const std::string& unit : units)
    if (!unit_files(host, unit).empty()) return unit;
  return units.front();
}

}  // namespace slipway::toolkit
