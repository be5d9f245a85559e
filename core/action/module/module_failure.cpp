// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <cstring>

#include <slipway/text.hpp>

#include "core/action/module/module_users.hpp"

namespace slipway::core {
namespace {

struct Reason {
  ErrorCode code;
  std::string why;
  std::string next;
};

bool has_message(const std::vector<std::string>& messages, const char* words) {
  return std::any_of(messages.begin(), messages.end(),
                     [&](const std::string& line) { return line.find(words) != std::string::npos; });
}

/// The kernel compares whole names in its own spelling, with "_".
bool is_blacklisted(std::string module, const std::string& command_line) {
  std::replace(module.begin(), module.end(), '-', '_');
  constexpr std::string_view kParameter = "module_blacklist=";
  for (const auto& word : split_list(command_line, ' ')) {
    if (!word.starts_with(kParameter)) continue;
    const auto names = split_list(word.substr(kParameter.size()));
    if (std::ranges::find(names, module) != names.end()) return true;
  }
  return false;
}

void add_messages(const std::vector<std::string>& messages, Error& error) {
  if (!messages.empty()) error.details.emplace_back("kernel", joined(messages, "\n"));
}

Reason reason_of(const std::string& release, int number, const std::vector<std::string>& messages, bool blacklisted) {
  if (number == EPERM && (blacklisted || has_message(messages, " is blacklisted")))
    return {ErrorCode::denied,
            std::string("module_blacklist= on the kernel's command line names it") +
                (blacklisted ? "" : ", or a module that it needs"),
            "remove the name from module_blacklist= in the boot loader's configuration, then reboot"};
  if (number == EKEYREJECTED || number == ENOKEY || has_message(messages, "unsigned module is rejected") ||
      has_message(messages, "unavailable key is rejected"))
    return {
        ErrorCode::denied,
        "this kernel only takes modules that are signed with a key it trusts (Secure Boot), and this one is not",
        "sign the modules with a key of yours and enrol it (mokutil --import), use a package whose key is enrolled, "
        "or switch Secure Boot off"};
  if (has_message(messages, "version magic"))
    return {ErrorCode::conflict, "it was built for another kernel than the running " + release,
            "use modules that were built for " + release + ", or boot the kernel that they were built for"};
  if (has_message(messages, "Unknown symbol") || has_message(messages, "disagrees about version of symbol"))
    return {ErrorCode::conflict,
            "it uses symbols that the running kernel or the modules it needs do not have in that form",
            "use modules that were built against exactly this kernel and these modules; the kernel's log names the "
            "symbols"};
  if (has_message(messages, "Lockdown") || has_message(messages, "lockdown"))
    return {ErrorCode::denied, "the kernel is locked down", "sign the modules, or switch the lockdown off"};
  switch (number) {
    case ENODEV:
    case ENXIO:
      return {ErrorCode::not_found, "its driver found no device that it can serve",
              "check that the hardware is there (lspci) and is not bound to another driver"};
    case ENOENT:
      return {ErrorCode::not_found, "it or a module that it needs is not installed for kernel " + release,
              "check /lib/modules/" + release + " and run `depmod " + release + "`"};
    case EPERM:
    case EACCES:
      return {ErrorCode::denied, "loading modules is not allowed here",
              "run as root, in a container with CAP_SYS_MODULE, and check /proc/sys/kernel/modules_disabled"};
    case EINVAL:
      return {ErrorCode::invalid, "it refused to start, or refused one of its parameters",
              "check the options in /etc/modprobe.d and what the kernel's log says"};
    default:
      return {ErrorCode::io, "it failed to start", "see the kernel's log (dmesg)"};
  }
}

}  // namespace

Error load_failure(const std::string& module, const std::string& kernel_release, int number,
                   const std::vector<std::string>& messages, const std::string& command_line) {
  const Reason reason = reason_of(kernel_release, number, messages, is_blacklisted(module, command_line));
  Error error{reason.code,
              "the kernel module " + module + " cannot be loaded: " + reason.why + " (" + std::strerror(number) + ")",
              module,
              reason.next,
              {}};
  add_messages(messages, error);
  return error;
}

Error prevented_load(const std::string& module, const std::string& line, const std::vector<std::string>& messages) {
  Error error{ErrorCode::conflict,
              "the kernel module " + module + " was not loaded: modprobe.d has the line `" + line + "`",
              module,
              "find that line and delete it: `grep -rnE '^(install|alias)' /etc/modprobe.d /run/modprobe.d "
              "/usr/local/lib/modprobe.d /usr/lib/modprobe.d`",
              {}};
  add_messages(messages, error);
  return error;
}

Error unload_failure(const std::string& module, int number, const Host& host) {
  std::string name = module;
  std::replace(name.begin(), name.end(), '-', '_');
  const auto holders = host.list("/sys/module/" + name + "/holders").value_or({});
  const std::string users = host.attribute("/sys/module/" + name + "/refcnt");
  const bool used = number == EAGAIN || number == EBUSY;
  Error error{used ? ErrorCode::busy : ErrorCode::io,
              "the kernel module " + module +
                  " cannot be unloaded: " + (used ? "it is in use" : std::string(std::strerror(number))),
              module,
              used ? "stop the processes that use it (`slipway doctor`, `fuser -v` on its device nodes), then run the "
                     "same command again"
                   : "look at the kernel's log (dmesg)",
              {}};
  if (!holders.empty()) error.details.emplace_back("held", "by the modules " + joined(holders));
  if (!users.empty()) error.details.emplace_back("users", users + " in all, as the kernel counts them");
  return error;
}

}  // namespace slipway::core
