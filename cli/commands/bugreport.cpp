// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <set>

#include <fcntl.h>
#include <unistd.h>

#include <slipway/regular_file.hpp>
#include <slipway/text.hpp>

#include "app/report/redactor.hpp"
#include "app/report/tar.hpp"
#include "app/subcommand.hpp"
#include "base/write/new_file.hpp"
#include "cli/command.hpp"

namespace slipway::cli {
namespace {

constexpr std::size_t kLargestFile = std::size_t{8} << 20U;
constexpr std::chrono::seconds kToolLimit{20};
constexpr std::chrono::seconds kCommandLimit{120};
constexpr std::chrono::minutes kAllCommands{5};

/// The files of a report, up to a number of files and a total size: an image may have any number of large ones.
class Files {
 public:
  void add(const std::string& name, std::string text) {
    if (!has_room() || text.size() > left_) return leave_out(name);
    left_ -= text.size();
    texts_[name] = std::move(text);
  }
  void leave_out(const std::string& name) {
    if (left_out_.size() < kLongestList) left_out_ += name + "\n";
  }
  bool has_room() const { return left_ > 0 && texts_.size() < kMost; }
  /// Returns how many bytes of the next file may be read.
  std::size_t largest() const { return std::min(kLargestFile, left_); }
  /// Returns the files, with a list of those for which there was no room.
  std::map<std::string, std::string> take() {
    if (!left_out_.empty())
      texts_["slipway/left-out.txt"] = "these were left out, since the report was full:\n" + left_out_;
    return std::move(texts_);
  }

 private:
  static constexpr std::size_t kMost = 512;
  static constexpr std::size_t kLongestList = std::size_t{64} << 10U;
  static constexpr std::size_t kMostBytes = std::size_t{32} << 20U;
  std::map<std::string, std::string> texts_;
  std::size_t left_ = kMostBytes;
  std::string left_out_;
};

/// Returns the options that select the host, as far as the other command accepts them.
std::vector<std::string> host_words(const std::string& command, const Options& options) {
  const auto found = std::ranges::find(commands(), command, &Command::name);
  std::vector<std::string> words;
  const auto taken = [&](const std::string& name) {
    return found != commands().end() && std::ranges::count(found->options, name) != 0;
  };
  const auto add = [&](const std::string& name, const std::string& value) {
    if (!value.empty() && taken(name)) words.insert(words.end(), {"--" + name, value});
  };
  add("root", options.session.root);
  add("file", options.spec);
  for (const std::string& kernel : options.session.kernels) add("kernel", kernel);
  add("sim", options.session.sim);
  add("cache", options.session.cache);
  add("lock", options.lock);
  if (options.session.live.value_or(false) && taken("live")) words.emplace_back("--live");
  if (options.image && taken("image")) words.emplace_back("--image");
  return words;
}

/// Adds the output of slipway's own commands. Each runs in its own process, so that a crash of one does not affect the
/// others.
void add_commands(const Options& options, Files& files) {
  const std::vector<std::vector<std::string>> asked{{"version"},
                                                    {"plugin", "list", "-v"},
                                                    {"status", "-o", "json"},
                                                    {"detect", "-o", "json"},
                                                    {"plan", "-o", "json"},
                                                    {"doctor", "-v"},
                                                    {"log", "-o", "json"}};
  const auto end = std::chrono::steady_clock::now() + kAllCommands;
  for (std::vector<std::string> words : asked) {
    const std::string name = "slipway/" + words.front();
    const bool is_json = words.back() == "json";
    const auto more = host_words(words.front(), options);
    words.insert(words.end(), more.begin(), more.end());
    const auto left = std::chrono::duration_cast<std::chrono::seconds>(end - std::chrono::steady_clock::now());
    if (left <= std::chrono::seconds::zero()) {
      files.add(name + ".err.txt", "skipped: the earlier commands took too long\n");
      continue;
    }
    const app::CommandOutput ran = app::run_own_program("slipway-engine", words, std::min(kCommandLimit, left));
    files.add(name + (is_json ? ".json" : ".txt"), ran.out);
    files.add(name + ".err.txt", ran.err + ran.ended + "\n");
  }
}

void add_file(const Host& host, const std::string& path, const std::string& name, Files& files) {
  const auto info = host.info(path);
  if (!info) return;
  if (!files.has_room() || info->size_bytes > files.largest()) return files.leave_out(name);
  if (auto text = host.read(path, files.largest())) files.add(name, std::move(*text));
}

/// Adds the files of a folder whose names have this ending.
void add_folder(const Host& host, const std::string& path, const std::string& ending, const std::string& name,
                Files& files) {
  const auto entries = host.list(path);
  if (!entries) return;
  for (const std::string& entry : *entries) {
    if (!entry.ends_with(ending)) continue;
    if (!files.has_room()) return files.add(name, "");  // and all after it
    const auto info = host.info(path + "/" + entry);
    if (info && info->type == FileInfo::Type::regular) add_file(host, path + "/" + entry, name + "/" + entry, files);
  }
}

std::string pci_text(const Host& host) {
  std::ostringstream text;
  for (const PciDevice& device : host.pci_devices({})) {
    char line[160];
    std::snprintf(line, sizeof line, "%s %06x %04x:%04x (%04x:%04x) %s\n", device.address.c_str(), device.device_class,
                  device.vendor, device.device, device.subsystem_vendor, device.subsystem_device,
                  device.driver.empty() ? "-" : device.driver.c_str());
    text << line;
  }
  return text.str();
}

void add_machine(const Host& host, Files& files) {
  add_file(host, "/etc/os-release", "machine/os-release.txt", files);
  for (const char* name : {"version", "cmdline", "modules", "meminfo"})
    add_file(host, std::string("/proc/") + name, std::string("machine/") + name + ".txt", files);
  add_file(host, "/proc/driver/nvidia/version", "machine/nvidia-version.txt", files);
  files.add("machine/pci.txt", pci_text(host));
  std::string kernels;
  for (const std::string& kernel : host.installed_kernels()) kernels += kernel + "\n";
  files.add("machine/kernels.txt", kernels);
}

/// Returns other packages' units that components work with: those that wait for slipway-boot.service, from the
/// manifests.
std::set<std::string> units_of_others(const core::Plugins& plugins) {
  std::set<std::string> units;
  for (const auto& [path, plugin] : plugins.files)
    for (const core::Manifest& component : plugin.components)
      units.insert(component.boot_before.begin(), component.boot_before.end());
  return units;
}

/// Adds units and their log messages; only when systemd is running.
void add_units(const Host& host, const core::Plugins& plugins, Files& files) {
  if (!host.live()) return;
  std::vector<std::string> show{"systemctl", "show", "--no-pager",
                                "--property=Id,ActiveState,SubState,Result,ExecMainStatus", "slipway-boot.service"};
  for (const std::string& unit : units_of_others(plugins)) show.push_back(unit);
  const std::map<std::string, std::vector<std::string>> tools{
      {"units/list.txt", {"systemctl", "list-units", "--all", "--no-pager", "--plain", "slipway-*"}},
      {"units/status.txt", {"systemctl", "status", "--no-pager", "--lines=0", "slipway-*"}},
      {"units/others.txt", show},
      {"units/journal.txt", {"journalctl", "--no-pager", "--lines=500", "--unit=slipway-*"}},
      {"units/kernel.txt", {"journalctl", "--no-pager", "--dmesg", "--lines=500", "--grep=nvidia|NVRM|Xid|nouveau"}}};
  for (const auto& [name, words] : tools) {
    const auto ran = host.run(words, kToolLimit);
    files.add(name, ran ? ran->output + ran->errors : to_text(ran.error()));
  }
}

/// Learns the secrets that this process may know: they must not be in the output of other programs.
void learn_environment(app::Redactor& redactor) {
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string word = *variable;
    const std::size_t sign = word.find('=');
    if (sign == std::string::npos) continue;
    if (is_secret_name(word.substr(0, sign)))
      redactor.learn_secret(word.substr(sign + 1));
    else
      redactor.learn(word.substr(sign + 1));
  }
  const auto folder = [](const char* name) {
    const char* const value = ::secure_getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  for (const std::string& file : {folder("HOME") + "/.docker/config.json", folder("DOCKER_CONFIG") + "/config.json",
                                  folder("REGISTRY_AUTH_FILE"), folder("XDG_RUNTIME_DIR") + "/containers/auth.json",
                                  "/run/containers/" + std::to_string(::getuid()) + "/auth.json"})
    redactor.learn(read_regular(file, kLargestFile).value_or(""));
}

std::string stamp(std::time_t now) {
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y%m%dT%H%M%SZ", &parts);
  return text;
}

/// Writes a new file that only its owner may read.
Status write_new(const std::string& path, const std::string& bytes) {
  const Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file) return system_error("make", path, errno);
  Status written = base::write_all(file.get(), bytes, path);
  if (!written) ::unlink(path.c_str());
  return written;
}

}  // namespace

Result<int> run_bugreport(const Options& given, TerminalUi& ui) {
  Options options = given;
  Files found;
  if (const auto doubts = doubts_about_machine(given); !doubts.empty()) {
    options.session.live = true;  // this command changes nothing, and rarely runs inside of an image
    const std::string note =
        "slipway reports about a running machine, although / looks like an image that is being built (" +
        joined(doubts) + "); for an image, run `slipway bugreport --image`";
    ui.log(core::Ui::Level::warning, "", note);
    found.add("slipway/taken-as-live.txt", note + "\n");
  }
  SLIPWAY_TRY(session, open_session(options, ui));
  const Host& host = session->host();
  add_commands(options, found);
  add_machine(host, found);
  add_units(host, session->plugins(), found);
  const std::string state(core::kStateDir);
  // Not the journal and the originals: they contain the contents of files.
  for (const char* name : {"format", "origin.json", "products.json", "failing.json", "unproven.json"})
    add_file(host, state + "/" + name, std::string("state/") + name, found);
  add_folder(host, state + "/components", ".json", "state/components", found);
  add_folder(host, state + "/generations", ".json", "state/generations", found);
  // Only files of these names: keys and passwords that a spec refers to may be in the same folder.
  for (const char* name : {"host.yaml", "slipway.lock"})
    add_file(host, std::string("/etc/slipway/") + name, std::string("spec/") + name, found);
  add_folder(host, "/etc/slipway/host.d", ".yaml", "spec/host.d", found);
  add_folder(host, "/etc/slipway/services", ".json", "spec/services", found);
  if (!options.spec.empty()) found.add("spec/given.yaml", read_regular(options.spec, kLargestFile).value_or(""));
  std::map<std::string, std::string> files = found.take();

  app::Redactor redactor;
  learn_environment(redactor);
  for (const auto& [name, text] : files) name.ends_with(".yaml") ? redactor.learn_yaml(text) : redactor.learn(text);
  for (auto& [name, text] : files) text = name.ends_with(".yaml") ? redactor.redact_yaml(text) : redactor.redact(text);
  const std::time_t now = std::time(nullptr);
  const std::string folder = "slipway-bugreport-" + stamp(now);
  SLIPWAY_TRY(bytes, app::tar_of(folder, files, now));
  const std::string path = options.destination.empty() ? folder + ".tar" : options.destination;
  SLIPWAY_CHECK(write_new(path, bytes));
  if (options.output == "text") {
    print("Wrote " + path + ": " + std::to_string(files.size()) +
          " files. slipway has redacted the passwords and tokens that it recognised; look through the files before you "
          "share them.\n");
  } else {
    std::vector<std::string> names;
    for (const auto& [name, text] : files) names.push_back(name);
    print(json_text(envelope("BugReport", {{"file", path}, {"files", names}}), options.output));
  }
  return core::kExitDone;
}

}  // namespace slipway::cli
