// SPDX-License-Identifier: Apache-2.0
#include "sandbox/tool.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <string_view>
#include <utility>

#include <sys/utsname.h>
#include <unistd.h>

#include <slipway/local_host.hpp>
#include <slipway/text.hpp>

#include "sandbox/host_program.hpp"
#include "sandbox/sandbox.hpp"

namespace slipway::sandbox {
namespace {

constexpr std::array kFolders{"/usr/sbin/", "/usr/bin/", "/sbin/", "/bin/"};
constexpr std::array kLocalFolders{"/usr/local/sbin/", "/usr/local/bin/"};  // in the PATH of a live machine's programs
constexpr std::chrono::seconds kProbeLimit{30};
constexpr std::size_t kKeptBytes = 256 << 10;
constexpr std::size_t kToolLines = 20;

std::string command_line(const std::vector<std::string>& argv) { return joined(argv, " "); }

bool has_in(const Host& host, const auto& folders, const std::string& name) {
  return std::any_of(folders.begin(), folders.end(),
                     [&](const char* folder) { return host.exists(std::string(folder) + name); });
}

void keep_newest(std::string& output, std::string_view text) {
  output += text;
  if (output.size() > kKeptBytes) output.erase(0, output.size() - kKeptBytes);
}

/// Returns "apt-get install kmod", for the root's package manager; empty when it has no known one.
std::string install_command(const Host& host, const std::string& package) {
  constexpr std::array kManagers{std::pair{"apt-get", "apt-get install "}, std::pair{"dnf", "dnf install "},
                                 std::pair{"zypper", "zypper install "}, std::pair{"pacman", "pacman -S "},
                                 std::pair{"apk", "apk add "}};
  for (const auto& [manager, command] : kManagers)
    if (root_has_tool(host, manager)) return command + package;
  return {};
}

/// Returns "install kmod on this machine: `apt-get install kmod`".
std::string install_words(const std::string& package, const std::string& place, const std::string& command) {
  return "install " + package + " " + place + (command.empty() ? "" : ": `" + command + "`");
}

/// True for an image that is "/", as for RUN in a Dockerfile: slipway itself is a program of that image.
bool is_where_we_are(const std::string& root) { return root == "/"; }

/// Runs it without namespaces, which the kernel refuses: as the builder of the image would run it by hand.
Result<ToolEnd> run_as_it_is(const Sandbox& request) {
  std::vector<std::string> argv{"env", "-i"};
  argv.insert(argv.end(), request.environment.begin(), request.environment.end());
  argv.insert(argv.end(), request.argv.begin(), request.argv.end());
  return run_here(argv, request.limit);
}

/// @param end  the part of the result that is already known
Result<ToolEnd> run_tool(Sandbox& request, ToolEnd end) {
  request.on_output = [&](std::string_view text) { keep_newest(end.output, text); };
  SLIPWAY_TRY(ended, run_in_sandbox(request));
  end.status = ended.exit_status;
  end.no_user_namespace = ended.no_user_namespace;
  end.no_network_namespace = ended.no_network_namespace;
  return end;
}

}  // namespace

bool root_has_tool(const Host& host, const std::string& name) {
  return has_in(host, kFolders, name) || (host.live() && has_in(host, kLocalFolders, name));
}

bool machine_has_tool(const std::string& name) {
  const auto here = open_host({.root = "/", .live = true});
  return here && root_has_tool(**here, name);
}

bool runs_here(const std::string& arch, const std::string& machine, const std::string& formats) {
  if (arch == machine || (arch == "i686" && machine == "x86_64")) return true;
  std::ifstream format(formats + "/qemu-" + arch);
  bool enabled = false;
  for (std::string line; std::getline(format, line);) {
    enabled = enabled || line == "enabled";
    // F: the emulator was opened when it was registered, so it works inside any root.
    if (enabled && line.starts_with("flags: ") && line.find('F') != std::string::npos) return true;
  }
  return false;
}

bool root_runs_here(const Host& host) {
  utsname names{};
  return ::uname(&names) == 0 && runs_here(host.arch(), names.machine, "/proc/sys/fs/binfmt_misc");
}

Error needs_the_processor(const Host& host, const std::string& tool) {
  return Error{ErrorCode::unsupported,
               "the root " + host.root_folder() + " is for " + host.arch() + ", and its own " + tool +
                   " would have to run, which this machine's processor cannot do",
               tool,
               "provision it on a machine with that processor, or let this machine's kernel run its programs by "
               "qemu-user (Debian: `apt-get install qemu-user-static binfmt-support` on this machine)",
               {}};
}

Result<ToolEnd> run_live(const Host& host, const std::vector<std::string>& argv, std::chrono::seconds limit) {
  SLIPWAY_TRY(end, host.run(argv, limit));
  return ToolEnd{end.exit_status, end.output + end.errors, command_line(argv), {}};
}

Result<ToolEnd> run_in_root(const core::RootFs& root, const std::vector<std::string>& argv,
                            std::chrono::seconds limit) {
  ToolEnd end;
  end.command = "chroot " + root.root().folder() + " " + command_line(argv);
  Sandbox request;
  request.root = root.root().folder();
  request.argv = argv;
  request.environment = sandbox_environment();
  request.environment.emplace_back("DRACUT_NO_MKNOD=1");  // no device nodes can be made inside
  if (const auto epoch = root.source_date_epoch())
    request.environment.push_back("SOURCE_DATE_EPOCH=" + std::to_string(*epoch));
  request.limit = limit;
  request.local_sockets = true;
  auto ended = run_tool(request, std::move(end));
  if (!ended && ended.error().code == ErrorCode::unsupported && is_where_we_are(request.root))
    return run_as_it_is(request);
  return ended;
}

Result<ToolEnd> run_beside(const core::RootFs& root, const std::vector<std::string>& argv,
                           const std::string& root_option, std::chrono::seconds limit) {
  const std::string folder = root.root().folder();
  std::vector<std::string> plain = argv;
  plain.insert(plain.begin() + 1, {root_option, folder});
  if (is_where_we_are(folder) || ::geteuid() != 0) return run_here(plain, limit);
  SLIPWAY_TRY(program, find_host_program(argv.front()));
  Sandbox request;
  request.root = folder;
  request.tools = std::move(program.files);
  // The root's preloads are only for its own programs: this machine's linker sees an empty ld.so.preload, or none.
  constexpr const char* kPreload = "/etc/ld.so.preload";
  if (root.root().resolve(kPreload)) request.binds.push_back({"/dev/null", kPreload, true});
  request.name = "this machine's " + argv.front();
  request.argv = std::move(program.start);
  request.argv.insert(request.argv.end(), argv.begin() + 1, argv.end());
  request.environment = sandbox_environment();
  request.limit = limit;
  ToolEnd end;
  end.command = command_line(plain);
  return run_tool(request, std::move(end));
}

Status check_beside(const Host& host, const std::string& program) {
  if (::geteuid() != 0 || is_where_we_are(host.root_folder())) return {};
  if (const auto found = find_host_program(program); !found) return found.error();
  return check_in_root(host);
}

Status check_in_root(const Host& host) {
  if (::access(host.root_folder().c_str(), W_OK) != 0 || is_where_we_are(host.root_folder())) return {};
  Sandbox request;
  request.root = host.root_folder();
  request.read_only = true;
  request.prepare_only = true;
  request.argv = {"nothing"};  // for messages
  request.environment = sandbox_environment();
  request.limit = kProbeLimit;
  const auto end = run_in_sandbox(request);
  return end || end.error().code != ErrorCode::unsupported ? Status{} : Status(end.error());
}

Result<ToolEnd> run_here(const std::vector<std::string>& argv, std::chrono::seconds limit) {
  SLIPWAY_TRY(here, open_host({.root = "/", .live = true}));
  return run_live(*here, argv, limit);
}

std::string command_in_root(std::string remedy, const std::string& root) {
  struct Program {
    std::string_view name;
    std::string instead;
  };
  const std::array programs{Program{"depmod", "depmod -b " + root},
                            Program{"ldconfig", "ldconfig -r " + root},
                            Program{"apt-get", "chroot " + root + " apt-get"},
                            Program{"apt", "chroot " + root + " apt"},
                            Program{"dnf", "chroot " + root + " dnf"},
                            Program{"zypper", "chroot " + root + " zypper"},
                            Program{"dkms", "chroot " + root + " dkms"},
                            Program{"dpkg", "chroot " + root + " dpkg"},
                            Program{"rpm", "chroot " + root + " rpm"},
                            Program{"dracut", "chroot " + root + " dracut"},
                            Program{"update-initramfs", "chroot " + root + " update-initramfs"}};
  const auto settle = [&](std::size_t at) {
    if (at != 0 && remedy.compare(at, 9, "/usr/bin/") == 0) remedy.insert(at, "chroot " + root + " ");
    const std::string name = remedy.substr(at, remedy.find_first_of(" `", at) - at);
    for (const Program& program : programs)
      if (program.name == name) remedy.replace(at, name.size(), program.instead);
  };
  settle(0);
  bool opens = true;
  for (std::size_t at = remedy.find('`'); at != std::string::npos; at = remedy.find('`', at + 1), opens = !opens)
    if (opens) settle(at + 1);
  return remedy;
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

Error tool_missing(const Host& host, const std::string& tool, const std::string& doing, const std::string& package) {
  const std::string root = host.root_folder();
  Error error{ErrorCode::not_found, {}, tool, {}, {}};
  if (host.live()) {
    const bool outside = root != "/";  // in a container that works on its machine
    error.what = "cannot " + doing + ": " + (outside ? "the machine at " + root : "this machine") + " has no " + tool;
    error.next = install_words(package, outside ? "on the machine at " + root : "on this machine",
                               install_command(host, package));
    return error;
  }
  error.what = "cannot " + doing + ": neither the root " + root + " nor this machine has " + tool;
  const auto here = open_host({.root = "/", .live = true});
  error.next = install_words(package, "on this machine", here ? install_command(**here, package) : "");
  const std::string inside = root_runs_here(host) ? install_command(host, package) : "";
  if (!inside.empty()) error.next += ", or in the root: `chroot " + root + " " + inside + "`";
  return error;
}

std::string command_text(const ToolEnd& end) {
  std::string text = end.command;
  if (!end.no_user_namespace.empty()) text += "; without a user namespace: " + end.no_user_namespace;
  if (!end.no_network_namespace.empty()) text += "; without sockets: " + end.no_network_namespace;
  return text;
}

Error tool_failed(const ToolEnd& end, const std::string& doing, const std::string& next) {
  Error error{ErrorCode::io,
              doing + " failed: `" + end.command + "` ended with status " + std::to_string(end.status),
              {},
              next,
              {}};
  if (end.output.find("No space left on device") != std::string::npos) error.code = ErrorCode::no_space;
  if (!end.no_user_namespace.empty())
    error.details.emplace_back("sandbox", "without a user namespace: " + end.no_user_namespace);
  if (!end.no_network_namespace.empty())
    error.details.emplace_back("sandbox", "without sockets: " + end.no_network_namespace);
  if (std::string tail = last_lines(end.output, kToolLines); !tail.empty()) error.details.emplace_back("output", tail);
  return error;
}

}  // namespace slipway::sandbox
