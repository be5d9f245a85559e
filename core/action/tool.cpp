// SPDX-License-Identifier: Apache-2.0
#include "core/action/tool.hpp"

#include <algorithm>
#include <array>
#include <fstream>

#include <sys/utsname.h>

#include <slipway/local_host.hpp>

#include "core/action/sandbox.hpp"

namespace slipway::core {
namespace {

constexpr std::array kFolders{"/usr/sbin/", "/usr/bin/", "/sbin/", "/bin/"};
constexpr std::size_t kKeptBytes = 256 << 10;
constexpr std::size_t kShownLines = 20;

std::string command_line(const std::vector<std::string>& argv) {
  std::string line;
  for (const std::string& word : argv) line += (line.empty() ? "" : " ") + word;
  return line;
}

}  // namespace

bool root_has_tool(const Host& host, const std::string& name) {
  return std::any_of(kFolders.begin(), kFolders.end(),
                     [&](const char* folder) { return host.exists(std::string(folder) + name); });
}

bool runs_here(const std::string& arch, const std::string& machine, const std::string& formats) {
  if (arch == machine || (arch == "i686" && machine == "x86_64")) return true;
  std::ifstream format(formats + "/qemu-" + arch);
  bool enabled = false;
  for (std::string line; std::getline(format, line);) {
    enabled = enabled || line == "enabled";
    // F: the emulator was opened when it was registered, so it is found from inside any root.
    if (enabled && line.starts_with("flags: ") && line.find('F') != std::string::npos) return true;
  }
  return false;
}

bool root_runs_here(const Host& host) {
  utsname names{};
  return ::uname(&names) == 0 && runs_here(host.arch(), names.machine, "/proc/sys/fs/binfmt_misc");
}

Result<ToolEnd> run_live(const Host& host, const std::vector<std::string>& argv, std::chrono::seconds limit) {
  SLIPWAY_TRY(end, host.run(argv, limit));
  return ToolEnd{end.exit_status, end.output + end.errors, command_line(argv)};
}

Result<ToolEnd> run_in_root(ActionContext& context, const std::vector<std::string>& argv, std::chrono::seconds limit) {
  ToolEnd end;
  end.command = "chroot " + context.root.root().folder() + " " + command_line(argv);
  Sandbox request;
  request.root = context.root.root().folder();
  request.argv = argv;
  request.environment = sandbox_environment();
  if (const auto epoch = context.root.source_date_epoch())
    request.environment.push_back("SOURCE_DATE_EPOCH=" + std::to_string(*epoch));
  request.limit = limit;
  request.on_output = [&](std::string_view text) {
    end.output += text;
    if (end.output.size() > kKeptBytes) end.output.erase(0, end.output.size() - kKeptBytes);
  };
  SLIPWAY_TRY(ended, run_in_sandbox(request));
  end.status = ended.exit_status;
  return end;
}

Result<ToolEnd> run_here(const std::vector<std::string>& argv, std::chrono::seconds limit) {
  SLIPWAY_TRY(here, open_host({.root = "/", .live = true}));
  return run_live(*here, argv, limit);
}

std::string last_lines(const std::string& text, std::size_t count) {
  std::size_t begin = text.size();
  while (begin > 0 && (text[begin - 1] == '\n' || text[begin - 1] == ' ')) --begin;
  const std::size_t end = begin;
  for (std::size_t i = 0; i < count && begin > 0; ++i) {
    const std::size_t newline = text.rfind('\n', begin - 1);
    begin = newline == std::string::npos ? 0 : newline;
  }
  if (begin < end && text[begin] == '\n') ++begin;
  return text.substr(begin, end - begin);
}

Error tool_failed(const ToolEnd& end, const std::string& doing, const std::string& next) {
  Error error{ErrorCode::io,
              doing + " failed: `" + end.command + "` ended with status " + std::to_string(end.status),
              {},
              next,
              {}};
  if (end.output.find("No space left on device") != std::string::npos) error.code = ErrorCode::no_space;
  if (std::string tail = last_lines(end.output, kShownLines); !tail.empty()) error.details.emplace_back("said", tail);
  return error;
}

}  // namespace slipway::core
