// SPDX-License-Identifier: Apache-2.0
#include "toolkit/requests/report.hpp"

#include <array>

#include <fcntl.h>
#include <unistd.h>

#include <slipway/root_dir.hpp>

namespace slipway::shim {
namespace {

constexpr std::size_t kMaxForeignBytes = 200;

const char* name_of(Level level) {
  switch (level) {
    case Level::error:
      return "error";
    case Level::warning:
      return "warning";
    case Level::debug:
      return "debug";
    case Level::info:
      break;
  }
  return "info";
}

std::string utc(std::time_t now) {
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  const std::size_t size = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return {text.data(), size};
}

}  // namespace

std::string shortened(std::string_view foreign) {
  if (foreign.size() <= kMaxForeignBytes) return std::string(foreign);
  std::size_t end = kMaxForeignBytes;
  while (end > 0 && (static_cast<unsigned char>(foreign[end]) & 0xC0U) == 0x80U) --end;  // inside a UTF-8 character
  return std::string(foreign.substr(0, end)) + "…";
}

std::string one_line(const std::string& program, const Error& error) {
  std::string text = program + ": " + error.what;
  if (!error.where.empty() && error.what.find(error.where) == std::string::npos) text += " (" + error.where + ")";
  if (!error.next.empty()) text += "; " + error.next;
  for (const auto& [label, detail] : error.details) text.append("; ").append(label).append(": ").append(detail);
  for (char& c : text)
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  return text;
}

std::string log_line(Level level, const std::string& message, bool json, std::time_t now) {
  if (json) return canonical(Json{{"level", name_of(level)}, {"msg", message}, {"time", utc(now)}}) + "\n";
  return "time=\"" + utc(now) + "\" level=" + name_of(level) + " msg=" + canonical(message) + "\n";
}

void append_log(const std::string& path, const std::string& line) {
  if (path.empty()) return;
  const Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0644));
  if (!file) return;
  [[maybe_unused]] const ssize_t written = ::write(file.get(), line.data(), line.size());
}

}  // namespace slipway::shim
