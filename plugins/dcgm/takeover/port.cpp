// SPDX-License-Identifier: Apache-2.0
// The owner of a port: the kernel's table of sockets gives the socket, and the open files of the processes give its
// owner.
#include <algorithm>
#include <array>
#include <charconv>

#include <arpa/inet.h>

#include <slipway/text.hpp>

#include "dcgm/takeover/other_exporters.hpp"
#include "nvidia/process/process.hpp"

namespace slipway::dcgm {
namespace {

constexpr std::size_t kMaxTableBytes = std::size_t{16} << 20U;
constexpr std::size_t kMostFiles = 16384;
constexpr std::size_t kMostLinks = 50000;    // reading them takes a fraction of a second
constexpr std::string_view kListens = "0A";  // TCP_LISTEN
constexpr std::size_t kWordDigits = 8;

template <class Number>
std::optional<Number> number_of(std::string_view text, int base) {
  Number value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  return problem == std::errc{} && end == text.data() + text.size() && !text.empty() ? std::optional(value)
                                                                                     : std::nullopt;
}

/// Decodes "0100007F": words of 32 bits, each in this machine's byte order.
std::optional<std::string> address_of(std::string_view digits) {
  std::array<std::uint32_t, 4> words{};
  if (digits.size() != kWordDigits && digits.size() != 4 * kWordDigits) return std::nullopt;
  for (std::size_t i = 0; i * kWordDigits < digits.size(); ++i) {
    const auto word = number_of<std::uint32_t>(digits.substr(i * kWordDigits, kWordDigits), 16);
    if (!word) return std::nullopt;
    words[i] = *word;
  }
  std::array<char, INET6_ADDRSTRLEN> text{};
  const int family = digits.size() == kWordDigits ? AF_INET : AF_INET6;
  return inet_ntop(family, words.data(), text.data(), text.size()) == nullptr ? std::nullopt
                                                                              : std::optional<std::string>(text.data());
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words = split<std::string_view>(line, ' ');
  std::erase_if(words, [](std::string_view word) { return word.empty(); });
  return words;
}

bool is_everywhere(const std::string& address) { return address == "::" || address == "0.0.0.0"; }

/// @param left  how many more links may be read, over all processes: a user may have very many open files
bool has_socket(const Host& host, unsigned pid, const std::string& socket, std::size_t& left) {
  const std::string folder = "/proc/" + std::to_string(pid) + "/fd";
  const auto files = host.list(folder);
  if (!files) return false;
  for (std::size_t i = 0; i < std::min(files->size(), kMostFiles) && left > 0; ++i, --left)
    if (host.read_link(folder + "/" + (*files)[i]).value_or("") == socket) return true;
  return false;
}

std::optional<OtherProcess> owner_of(const Host& host, std::uint64_t inode) {
  const std::string socket = "socket:[" + std::to_string(inode) + "]";
  std::size_t left = kMostLinks;
  for (const unsigned pid : process_numbers(host)) {
    if (left == 0) break;
    if (has_socket(host, pid, socket, left)) return read_other(host, pid);
  }
  return std::nullopt;
}

/// A socket that systemd created is systemd's until the service runs.
bool belongs_to_slipway(const OtherProcess& other, const Host& host) {
  const std::string& unit = other.process.owner.unit;
  return unit == "slipway-dcgm.service" || nvidia::OwnProcesses(host).contains(other.process.pid);
}

}  // namespace

std::vector<Listener> listeners(std::string_view table, std::uint16_t port) {
  constexpr std::size_t kLocal = 1, kState = 3, kUid = 7, kInode = 9;  // proc(5), /proc/net/tcp
  std::vector<Listener> found;
  for (const std::string_view line : lines_of<std::string_view>(table)) {
    const auto words = words_of(line);
    if (words.size() <= kInode || words[kState] != kListens) continue;
    const auto colon = words[kLocal].find(':');
    if (colon == std::string_view::npos || number_of<std::uint16_t>(words[kLocal].substr(colon + 1), 16) != port)
      continue;
    const auto address = address_of(words[kLocal].substr(0, colon));
    const auto uid = number_of<std::uint32_t>(words[kUid], 10);
    const auto inode = number_of<std::uint64_t>(words[kInode], 10);
    if (address && uid && inode) found.push_back({*address, *uid, *inode});
  }
  return found;
}

std::string to_text(const PortHolder& holder) {
  if (holder.process) return to_text(*holder.process);
  return "a program of user " + std::to_string(holder.listener.uid) + " at " + holder.listener.address +
         ", which cannot be seen from here (" + (holder.suspect.empty() ? "" : holder.suspect + " is active; ") +
         "`slipway doctor` names it)";
}

std::optional<PortHolder> port_holder(const Host& host, const std::string& address, std::uint16_t port) {
  for (const char* table : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    const auto text = host.read(table, kMaxTableBytes);
    if (!text) continue;
    for (const Listener& listener : listeners(*text, port)) {
      if (listener.address != address && !is_everywhere(address) && !is_everywhere(listener.address)) continue;
      PortHolder holder{.listener = listener, .process = owner_of(host, listener.inode)};
      if (!holder.process) holder.suspect = unit_at_work(host, Role::exporter);
      holder.own = holder.process && belongs_to_slipway(*holder.process, host);
      return holder;
    }
  }
  return std::nullopt;
}

}  // namespace slipway::dcgm
