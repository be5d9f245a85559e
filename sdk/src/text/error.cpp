// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>

#include <unistd.h>

#include <slipway/result.hpp>

namespace slipway {
namespace {

constexpr std::array kCodeNames{
    "invalid",     "usage",           "not_found",    "unsupported", "denied",        "io",       "no_space",
    "read_only",   "timed_out",       "busy",         "locked",      "offline",       "conflict", "corrupt",
    "unreachable", "needs_catalogue", "build_failed", "cancelled",   "plugin_defect", "internal"};
static_assert(kCodeNames.size() == static_cast<std::size_t>(ErrorCode::internal) + 1);

ErrorCode code_from_name(std::string_view name) {
  for (std::size_t i = 0; i < kCodeNames.size(); ++i)
    if (name == kCodeNames[i]) return static_cast<ErrorCode>(i);
  return ErrorCode::internal;
}

ErrorCode code_from_errno(int number) {
  switch (number) {
    case ENOENT:
    case ENOTDIR:
    case ENODEV:
    case ENXIO:
      return ErrorCode::not_found;
    case EACCES:
    case EPERM:
      return ErrorCode::denied;
    case ENOSPC:
    case EDQUOT:
      return ErrorCode::no_space;
    case EROFS:
      return ErrorCode::read_only;
    case EBUSY:
    case ETXTBSY:
      return ErrorCode::busy;
    case ETIMEDOUT:
      return ErrorCode::timed_out;
    case ENOSYS:
    case EOPNOTSUPP:
      return ErrorCode::unsupported;
    default:
      return ErrorCode::io;
  }
}

std::string advice_for(ErrorCode code) {
  switch (code) {
    case ErrorCode::no_space:
      return "free some space or inodes on that filesystem (`df -h` and `df -i` show them), then run the same command "
             "again";
    case ErrorCode::read_only:
      return "remount the filesystem read-write, or name a root that can be written with --root";
    case ErrorCode::denied:
      if (::geteuid() == 0)
        return "root may not override modes of files here (a service's unit, or a sandbox): give the path to root "
               "(chown root)";
      return "run it as root (sudo), or as the owner of that path";
    default:
      return {};
  }
}

void append_line(std::string& text, std::string_view label, std::string_view line) {
  if (line.empty()) return;
  constexpr std::size_t kLabelWidth = 7;  // "held:  ", the width of the longest usual label
  std::string head = "  " + std::string(label) + ":";
  head.resize(std::max(head.size() + 1, 2 + kLabelWidth), ' ');
  const std::string indent(head.size(), ' ');
  std::size_t begin = 0;
  for (bool first = true; begin <= line.size(); first = false) {
    const std::size_t end = std::min(line.find('\n', begin), line.size());
    text += (first ? head : indent);
    text += line.substr(begin, end - begin);
    text += '\n';
    begin = end + 1;
  }
}

}  // namespace

std::string_view to_string(ErrorCode code) { return kCodeNames.at(static_cast<std::size_t>(code)); }

Json to_json(const Error& error) {
  Json value{{"code", to_string(error.code)}, {"what", error.what}};
  if (!error.where.empty()) value["where"] = error.where;
  if (!error.next.empty()) value["next"] = error.next;
  for (const auto& [label, text] : error.details) value["details"].push_back({{"label", label}, {"text", text}});
  return value;
}

Error error_from_json(const Json& value) {
  if (!value.is_object() || !value.contains("what"))
    return Error{
        ErrorCode::internal, "a reply that is not an error object: " + canonical(value).substr(0, 200), {}, {}, {}};
  Error error;
  error.code = code_from_name(value.value("code", "internal"));
  error.what = value.value("what", "");
  error.where = value.value("where", "");
  error.next = value.value("next", "");
  for (const Json& detail : value.value("details", Json::array()))
    error.details.emplace_back(detail.value("label", ""), detail.value("text", ""));
  return error;
}

std::string to_text(const Error& error) {
  std::string text = "error: " + error.what + "\n";
  append_line(text, "at", error.where);
  for (const auto& [label, line] : error.details) append_line(text, label, line);
  append_line(text, "do", error.next);
  return text;
}

Error system_error(std::string_view doing, std::string_view thing, int number) {
  const ErrorCode code = code_from_errno(number);
  return Error{code,
               "cannot " + std::string(doing) + " " + std::string(thing) + ": " + std::strerror(number),
               std::string(thing),
               advice_for(code),
               {}};
}

void throw_unhandled_error(const Error& error) {
  std::string message = to_text(error);
  while (message.ends_with('\n')) message.pop_back();
  throw std::logic_error("the value of a failed call was read; the call failed with: " + message);
}

}  // namespace slipway
