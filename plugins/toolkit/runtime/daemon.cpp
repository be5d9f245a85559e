// SPDX-License-Identifier: Apache-2.0
#include "toolkit/runtime/daemon.hpp"

#include <algorithm>
#include <chrono>

#include <sys/socket.h>

#include <slipway/text.hpp>
#include <slipway/unix_socket.hpp>

#include "toolkit/environment.hpp"

namespace slipway::toolkit {
namespace {

constexpr std::chrono::seconds kAskLimit{30};
constexpr std::string_view kDeleted = " (deleted)";  // proc(5): the program was replaced while it runs

/// A connection to a socket of this machine.
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

/// The innermost service in whose group the process is (cgroups(7)).
std::string unit_of(const Host& host, const std::string& process) {
  const std::string groups = host.read(process + "/cgroup").value_or("");
  std::string unit;
  for (const std::string& line : lines_of(groups))
    for (const std::string& part : split(line, '/'))
      if (part.ends_with(".service")) unit = part;
  return unit;
}

/// Words as systemd takes them apart, without what stands in front of the program (systemd.service(5)).
Daemon parse_command(const std::string& line, const std::string& unit) {
  std::vector<std::string> words = words_of(line, ' ');
  for (std::string& word : words)
    if (word.size() > 1 && (word.front() == '"' || word.front() == '\'') && word.back() == word.front())
      word = word.substr(1, word.size() - 2);
  Daemon daemon{{}, {}, unit};
  if (words.empty()) return daemon;
  daemon.program = words.front().substr(std::min(words.front().find_first_not_of("@-:+!|"), words.front().size()));
  daemon.arguments.assign(words.begin() + 1, words.end());
  return daemon;
}

/// The unit's file and its drop-ins, in the order in which they count.
std::vector<std::string> unit_files(const Host& host, const std::string& unit) {
  const std::vector<std::string> folders{"/etc/systemd/system/", "/run/systemd/system/",
                                         "/usr/local/lib/systemd/system/", "/usr/lib/systemd/system/",
                                         "/lib/systemd/system/"};
  const auto main = std::find_if(folders.begin(), folders.end(), [&](const std::string& folder) {
    const auto info = host.info(folder + unit);
    return info && info->type != FileInfo::Type::directory;
  });
  if (main == folders.end()) return {};
  std::vector<std::pair<std::string, std::string>> drop_ins;  // by name; the first folder that has a name counts
  for (const std::string& folder : folders) {
    const auto names = host.list(folder + unit + ".d").value_or({});
    for (const std::string& name : names) {
      const bool seen = std::any_of(drop_ins.begin(), drop_ins.end(), [&](const auto& at) { return at.first == name; });
      if (name.ends_with(".conf") && !seen) drop_ins.emplace_back(name, folder + unit + ".d/" + name);
    }
  }
  std::sort(drop_ins.begin(), drop_ins.end());
  std::vector<std::string> files{*main + unit};
  for (const auto& drop_in : drop_ins) files.push_back(drop_in.second);
  return files;
}

}  // namespace

std::string Daemon::option(const std::vector<std::string>& names) const {
  for (std::size_t i = 0; i < arguments.size(); ++i)
    for (const std::string& name : names) {
      if (arguments[i] == name && i + 1 < arguments.size()) return arguments[i + 1];
      if (name.starts_with("--") && arguments[i].starts_with(name + "=")) return arguments[i].substr(name.size() + 1);
    }
  return {};
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
  // K3s is one program under many names; asked for its version it has to be called by the engine's.
  if (file_name(path) != program) path = folder_of(path) + "/" + program;
  words.erase(words.begin());
  return Daemon{path, words, unit_of(host, process)};
}

std::optional<Daemon> read_unit(const Host& host, const std::string& unit) {
  const auto files = unit_files(host, unit);
  if (files.empty()) return {};
  Daemon daemon{{}, {}, unit};
  for (const std::string& file : files) {
    std::string text = host.read(file).value_or("");
    for (auto at = text.find("\\\n"); at != std::string::npos; at = text.find("\\\n")) text.replace(at, 2, " ");
    for (const std::string& line : lines_of(text))
      if (line.starts_with("ExecStart=")) daemon = parse_command(line.substr(line.find('=') + 1), unit);
  }
  return daemon;
}

bool starts_later(const Host& host, const std::string& unit) {
  if (unit.empty()) return false;
  const auto state = host.run({"systemctl", "show", "--property=ActiveState,Job", unit}, kAskLimit);
  if (!state || state->exit_status != 0) return false;
  const auto lines = lines_of(state->output);
  const bool inactive = std::count(lines.begin(), lines.end(), "ActiveState=inactive") != 0;
  return inactive && std::any_of(lines.begin(), lines.end(), [](const std::string& line) {
           return line.starts_with("Job=") && line != "Job=" && line != "Job=0";
         });
}

std::string first_unit(const Host& host, const std::vector<std::string>& units) {
  for (const std::string& unit : units)
    if (!unit_files(host, unit).empty()) return unit;
  return units.front();
}

}  // namespace slipway::toolkit
