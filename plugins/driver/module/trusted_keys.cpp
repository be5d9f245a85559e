// SPDX-License-Identifier: Apache-2.0
#include "driver/module/trusted_keys.hpp"

#include <algorithm>
#include <sstream>

#include <fmt/format.h>

#include <slipway/text.hpp>

namespace slipway::driver {
namespace {

constexpr std::size_t kKeysLimit = 4U << 20;
constexpr std::size_t kMokLimit = 1U << 20;
constexpr std::size_t kMostListed = 4096;
constexpr std::size_t kBootFileLimit = 1U << 20;
constexpr std::size_t kMostEntries = 256;

// The kernel shows the list since Linux 5.10 without the four bytes of attributes of an EFI variable.
constexpr const char* kMokFile = "/sys/firmware/efi/mok-variables/MokListRT";
constexpr const char* kMokVariable = "/sys/firmware/efi/efivars/MokListRT-605dab50-e046-4300-abb6-3dd810dd8b23";

/// Returns the word of a kernel's command line that makes it enforce signatures; empty if it has no such word.
std::string enforcing_word(std::string_view command_line) {
  std::string text(command_line);
  std::ranges::replace_if(
      text, [](char c) { return c == '"' || c == '\''; }, ' ');
  std::istringstream words(text);
  for (std::string word; words >> word;)
    for (const auto* enforcing : {"module.sig_enforce", "module.sig_enforce=1", "module.sig_enforce=y",
                                  "module.sig_enforce=Y", "lockdown=integrity", "lockdown=confidentiality"})
      if (word == enforcing) return word;
  return {};
}

/// Returns the text of the lines that set a kernel's command line.
std::string command_line_in(const std::string& path, const std::string& text) {
  if (path == "/etc/kernel/cmdline") return text;
  std::string lines;
  for (const std::string& line : lines_of(text)) {
    if (line.starts_with("GRUB_CMDLINE_LINUX"))
      lines += line.substr(std::min(line.find('=') + 1, line.size())) + "\n";
    else if (line.starts_with("options "))
      lines += line + "\n";
  }
  return lines;
}

std::string boot_entries_enforce(const Host& host, const std::string& release) {
  const auto names = host.list("/boot/loader/entries");
  if (!names) return {};
  std::size_t left = kMostEntries;
  for (const auto& name : *names) {
    if (!name.ends_with(".conf") || left-- == 0) continue;
    const std::string path = "/boot/loader/entries/" + name;
    const auto text = host.read(path, kBootFileLimit);
    if (!text || text->find(release) == std::string::npos) continue;
    if (const auto word = enforcing_word(command_line_in(path, *text)); !word.empty())
      return fmt::format("{} in {}", word, path);
  }
  return {};
}

}  // namespace

std::string running_kernel_enforces(const Host& host) {
  if (!host.has_kernel_view()) return {};
  if (host.attribute("/sys/module/module/parameters/sig_enforce") == "Y") return "module.sig_enforce is on";
  const std::string lockdown = host.attribute("/sys/kernel/security/lockdown");
  if (lockdown.empty() || lockdown.find("[none]") != std::string::npos) return {};
  const std::size_t begin = lockdown.find('[');
  const std::size_t end = lockdown.find(']');
  if (begin == std::string::npos || end == std::string::npos || end < begin) return "lockdown is on";
  return "lockdown is " + lockdown.substr(begin + 1, end - begin - 1);
}

std::string kernel_enforces(const Host& host, const std::string& release) {
  for (const auto& path : {fmt::format("/boot/config-{}", release), fmt::format("/lib/modules/{}/config", release),
                           fmt::format("/lib/modules/{}/build/.config", release)}) {
    const auto config = host.read(path, 4U << 20);
    if (!config) continue;
    for (const auto* name : {"CONFIG_MODULE_SIG_FORCE", "CONFIG_LOCK_DOWN_KERNEL_FORCE_INTEGRITY",
                             "CONFIG_LOCK_DOWN_KERNEL_FORCE_CONFIDENTIALITY"})
      if (("\n" + *config).find(fmt::format("\n{}=y\n", name)) != std::string::npos)
        return fmt::format("{}=y in {}", name, path);
    break;
  }
  for (const auto* path : {"/etc/kernel/cmdline", "/etc/default/grub"}) {
    const auto text = host.read(path, kBootFileLimit);
    if (!text) continue;
    if (const auto word = enforcing_word(command_line_in(path, *text)); !word.empty())
      return fmt::format("{} in {}", word, path);
  }
  return boot_entries_enforce(host, release);
}

std::vector<KeyId> keys_in_proc(std::string_view proc_keys) {
  constexpr std::string_view kKind = "asymmetri";  // the kernel shows nine characters of a key's kind
  std::vector<KeyId> keys;
  for (const std::string& line : lines_of(proc_keys)) {
    // ID FLAGS USES TIMEOUT PERMISSIONS UID GID KIND NAME: HEX: X509.ALGORITHM …
    std::istringstream words(line);
    std::string word;
    for (int i = 0; i < 8; ++i) words >> word;
    std::string description;
    std::getline(words >> std::ws, description);
    const std::size_t kind = description.rfind(": X509.");
    if (word != kKind || kind == std::string::npos) continue;
    description.resize(kind);
    const std::size_t colon = description.rfind(": ");
    if (colon == std::string::npos || keys.size() == kMostListed) continue;
    keys.push_back({description.substr(0, colon), "", "", description.substr(colon + 2)});
  }
  return keys;
}

TrustedKeys read_trusted_keys(const Host& host, TrustedKeys keys) {
  if (!host.has_kernel_view()) return keys;
  if (const auto text = host.read("/proc/keys", kKeysLimit)) {
    keys.kernel = keys_in_proc(*text);
    keys.listed = !keys.kernel.empty();
  }
  if (const auto list = host.read(kMokFile, kMokLimit))
    keys.machine_owner = keys_of_signature_lists(*list);
  else if (const auto variable = host.read(kMokVariable, kMokLimit); variable && variable->size() > 4)
    keys.machine_owner = keys_of_signature_lists(std::string_view(*variable).substr(4));
  return keys;
}

Trust trust_of(const KeyId& signer, const std::optional<KeyId>& own, const TrustedKeys& keys) {
  if (own && is_same_key(signer, *own)) return Trust::yes;
  const auto among = [&](const std::vector<KeyId>& list) {
    return std::ranges::find_if(list, [&](const KeyId& key) { return is_same_key(signer, key); });
  };
  // A certificate of the same key tells the key's id, by which the kernel lists it.
  std::string id = signer.key;
  const bool in_spec = among(keys.spec) != keys.spec.end();
  const bool in_machine = among(keys.machine_owner) != keys.machine_owner.end();
  if (id.empty() && in_spec) id = among(keys.spec)->key;
  if (id.empty() && in_machine) id = among(keys.machine_owner)->key;
  // Kernels that are built each with its own key, where all these keys have one name.
  const bool other_build = own && !own->serial.empty() && !signer.serial.empty() && own->issuer == signer.issuer;
  if (other_build && !in_spec && !in_machine) return Trust::no;
  if (keys.listed) {
    // A certificate without a key id is listed by its serial number.
    const auto is_listed = [&](const KeyId& key) {
      return !key.key.empty() && (key.key == id || key.key == signer.serial);
    };
    if (std::ranges::any_of(keys.kernel, is_listed)) return Trust::yes;
    if (!id.empty()) return Trust::no;
  } else if (in_spec || in_machine) {
    return Trust::yes;
  }
  return keys.spec_is_complete && !keys.listed ? Trust::no : Trust::unknown;
}

}  // namespace slipway::driver
