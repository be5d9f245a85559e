// SPDX-License-Identifier: Apache-2.0
#include "driver/enroll/enroll_tool.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <memory>
#include <optional>

#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/crypto.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include <slipway/local_host.hpp>
#include <slipway/regular_file.hpp>
#include <slipway/root_dir.hpp>
#include <slipway/text.hpp>
#include <slipway/trusted_owner.hpp>

#include "base/write/new_file.hpp"
#include "driver/build/description.hpp"
#include "driver/detect/kernel_config.hpp"
#include "driver/enroll/password_hash.hpp"
#include "driver/enroll/signing_key.hpp"
#include "driver/module/trusted_keys.hpp"

namespace slipway::driver {
namespace {

constexpr const char* kDefaultKey = "/etc/slipway/mok.key";
constexpr const char* kDefaultCertificate = "/etc/slipway/mok.der";
constexpr const char* kMokNew = "/sys/firmware/efi/efivars/MokNew-605dab50-e046-4300-abb6-3dd810dd8b23";
constexpr const char* kEfiFolder = "/sys/firmware/efi";
constexpr std::size_t kEfiAttributes = 4;  // bytes before the value of an EFI variable
constexpr std::size_t kMostOfCertificateFile = std::size_t{1} << 20U;
constexpr std::size_t kLongestPasswordLine = 1024;
constexpr std::chrono::seconds kImportLimit{60};

enum class EnrollState { enrolled, waiting, prepared };

std::string_view to_string(EnrollState state) {
  if (state == EnrollState::enrolled) return "enrolled";
  return state == EnrollState::waiting ? "waiting" : "prepared";
}

/// One run of the tool. Paths are inside the root.
class Enrollment {
 public:
  Enrollment(const Host& host, ToolIo& io, const CommandWords& words)
      : host_(host),
        io_(io),
        key_(words.text("key", kDefaultKey)),
        certificate_(words.text("certificate", kDefaultCertificate)),
        password_file_(words.text("password-file")) {}

  Result<int> run(bool as_json);

 private:
  Status prepare_pair();
  Status make_pair(const RootDir& root);
  Status check_pair(const RootDir& root) const;
  Status put(const RootDir& root, const std::string& path, std::string_view content, unsigned mode) const;
  EnrollState state() const;
  Result<std::optional<std::string>> password() const;
  Result<std::string> password_of_terminal() const;
  Status import(const std::string& password);
  std::vector<std::string> next_steps() const;
  std::string text() const;
  Json json() const;

  const Host& host_;
  ToolIo& io_;
  std::string key_;
  std::string certificate_;  ///< DER or PEM
  std::string der_;          ///< the certificate in the form that mokutil reads
  std::string password_file_;
  KeyId id_;
  bool made_ = false;
  bool has_mokutil_ = false;
  EnrollState state_ = EnrollState::prepared;
};

Error both_or_none(const std::string& present, const std::string& missing) {
  return {ErrorCode::conflict,
          fmt::format("{} exists, and {} does not", present, missing),
          missing,
          "name the other half with --key and --certificate, or move the file away to make a new pair",
          {}};
}

Status Enrollment::put(const RootDir& root, const std::string& path, std::string_view content, unsigned mode) const {
  const auto folder = path.substr(0, path.rfind('/'));
  if (!folder.empty() && !root.resolve(folder)) {
    SLIPWAY_TRY(above, root.parent_of(folder));
    if (::mkdirat(above.first.get(), above.second.c_str(), 0755) != 0 && errno != EEXIST)
      return system_error("create the folder", folder, errno);
  }
  SLIPWAY_TRY(parent, root.parent_of(path));
  return base::write_and_rename(parent.first.get(), parent.second + base::kNewSuffix, parent.second, path,
                                base::NewFile::ours(mode), [&](int fd) { return base::write_all(fd, content, path); });
}

Status Enrollment::make_pair(const RootDir& root) {
  const std::string machine(trimmed(host_.read("/etc/hostname").value_or("")));
  SLIPWAY_TRY(pair, make_signing_key("slipway kernel modules" + (machine.empty() ? "" : ", " + machine.substr(0, 32))));
  Status written = put(root, key_, pair.key, 0600);
  OPENSSL_cleanse(pair.key.data(), pair.key.size());
  SLIPWAY_CHECK(written);
  made_ = true;
  return put(root, certificate_, pair.certificate, 0644);
}

Status Enrollment::check_pair(const RootDir& root) const {
  SLIPWAY_CHECK(check_private(host_, key_));
  // Another user who can write it could have another certificate enrolled.
  SLIPWAY_CHECK(check_only_ours(host_, certificate_));
  SLIPWAY_TRY(key, root.resolve(key_));
  SLIPWAY_TRY(certificate, root.resolve(certificate_));
  const std::string top = root.folder() == "/" ? "" : root.folder();
  return check_key_pair(top + key, top + certificate);
}

// The pair that `signing` of the spec names is taken, or one is made in its place.
Status Enrollment::prepare_pair() {
  SLIPWAY_TRY(root, RootDir::open(host_.root_folder()));
  const bool has_key = root.resolve(key_).ok();
  const bool has_certificate = root.resolve(certificate_).ok();
  if (has_key != has_certificate) return has_key ? both_or_none(key_, certificate_) : both_or_none(certificate_, key_);
  SLIPWAY_CHECK(has_key ? check_pair(root) : make_pair(root));
  SLIPWAY_TRY(text, read_regular(root, certificate_, kMostOfCertificateFile));
  SLIPWAY_TRY(id, key_of_certificate(text));
  id_ = std::move(id);
  SLIPWAY_TRY(der, certificate_as_der(text));
  der_ = certificate_;
  if (der == text) return {};
  der_ += ".der";
  return put(root, der_, der, 0644);
}

EnrollState Enrollment::state() const {
  if (!host_.has_kernel_view()) return EnrollState::prepared;
  const auto has = [&](const std::vector<KeyId>& keys) {
    return std::ranges::any_of(keys, [&](const KeyId& key) {
      return is_same_key(id_, key) || (!key.key.empty() && (key.key == id_.key || key.key == id_.serial));
    });
  };
  const TrustedKeys trusted = read_trusted_keys(host_, {});
  if (has(trusted.machine_owner) || has(trusted.kernel)) return EnrollState::enrolled;
  const auto asked = host_.read(kMokNew, kMostOfCertificateFile);
  if (asked && asked->size() > kEfiAttributes &&
      has(keys_of_signature_lists(std::string_view(*asked).substr(kEfiAttributes))))
    return EnrollState::waiting;
  return EnrollState::prepared;
}

/// Turns off a terminal's echo while it lives.
class WithoutEcho {
 public:
  WithoutEcho() : is_terminal_(::tcgetattr(STDIN_FILENO, &before_) == 0) {
    if (!is_terminal_) return;
    termios quiet = before_;
    quiet.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &quiet);
  }
  ~WithoutEcho() {
    if (is_terminal_) ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &before_);
  }
  WithoutEcho(const WithoutEcho&) = delete;
  WithoutEcho& operator=(const WithoutEcho&) = delete;

 private:
  termios before_{};
  bool is_terminal_;
};

std::string line_of_input() {
  std::string line;
  for (char c = 0; line.size() < kLongestPasswordLine && ::read(STDIN_FILENO, &c, 1) == 1 && c != '\n';) line += c;
  return line;
}

Result<std::string> Enrollment::password_of_terminal() const {
  const WithoutEcho quiet;
  io_.warn("one-time password, which the machine asks for at its next boot:");
  std::string first = line_of_input();
  io_.warn("the same again:");
  if (line_of_input() != first)
    return Error{ErrorCode::invalid, "the two passwords differ", "standard input", "run the command again", {}};
  return first;
}

/// Returns the one-time password; nothing when no file was named and standard input is not a terminal.
Result<std::optional<std::string>> Enrollment::password() const {
  std::string word;
  if (password_file_ == "-") {
    word = line_of_input();
  } else if (!password_file_.empty()) {
    SLIPWAY_TRY(text, read_named(password_file_, kLongestPasswordLine));
    word = lines_of(text).empty() ? std::string() : lines_of(text).front();
  } else if (::isatty(STDIN_FILENO) == 1) {
    SLIPWAY_TRY(typed, password_of_terminal());
    word = std::move(typed);
  } else {
    return std::optional<std::string>();
  }
  SLIPWAY_CHECK(
      check_password(word, password_file_.empty() || password_file_ == "-" ? "standard input" : password_file_));
  return std::optional(std::move(word));
}

// The password goes to mokutil as a hash in a file: a command line can be read by every user.
Status Enrollment::import(const std::string& password) {
  SLIPWAY_TRY(hash, hash_of_password(password));
  SLIPWAY_TRY(root, RootDir::open(host_.root_folder()));
  const std::string file = der_ + ".hash";
  SLIPWAY_CHECK(put(root, file, hash, 0600));
  const auto imported = host_.run({"mokutil", "--import", der_, "--hash-file", file}, kImportLimit);
  SLIPWAY_TRY(parent, root.parent_of(file));
  if (::unlinkat(parent.first.get(), parent.second.c_str(), 0) != 0) return system_error("remove", file, errno);
  if (!imported) return imported.error();
  if (imported->exit_status == 0) {
    state_ = EnrollState::waiting;
    return {};
  }
  const std::string messages(trimmed(imported->errors.empty() ? imported->output : imported->errors));
  return Error{ErrorCode::io,
               fmt::format("mokutil could not register the certificate (exit status {})", imported->exit_status),
               der_,
               "see what mokutil says, then run the command again",
               {{"mokutil", messages.empty() ? "(nothing)" : messages}}};
}

std::vector<std::string> Enrollment::next_steps() const {
  if (state_ == EnrollState::enrolled) return {};
  std::vector<std::string> steps;
  if (state_ == EnrollState::prepared) {
    if (!has_mokutil_ && host_.live())
      steps.emplace_back("install mokutil (Debian, Ubuntu, Fedora: the package mokutil)");
    steps.push_back(
        fmt::format("on the machine, as root: `mokutil --import {}`, and choose a one-time password", der_));
  }
  steps.emplace_back("reboot, and watch the console: MokManager (Shim UEFI key management) waits 10 seconds for a key");
  steps.emplace_back("choose Enroll MOK, Continue, Yes, type the one-time password, and choose Reboot");
  steps.emplace_back("without an answer it boots without the key: run this command again");
  return steps;
}

std::string Enrollment::text() const {
  std::string text;
  text += made_ ? fmt::format("Made a key pair: {} (secret) and {}.\n", key_, certificate_)
                : fmt::format(
                      "Took the key pair that was there: {} and {}. The owner of that key can sign what "
                      "this machine will trust: go on only if that is you.\n",
                      key_, certificate_);
  const std::string name = fmt::format("{} ({})", id_.name, certificate_);
  if (state_ == EnrollState::enrolled)
    text += fmt::format("{} is enrolled: this machine trusts modules signed by it.\n", name);
  if (state_ == EnrollState::waiting)
    text += fmt::format("{} is registered, and will be enrolled at the next boot.\n", name);
  if (state_ == EnrollState::prepared) text += fmt::format("{} is not enrolled yet.\n", name);
  if (host_.live() && !host_.exists(kEfiFolder)) text += "This machine did not boot by EFI: it has no Secure Boot.\n";
  const auto steps = next_steps();
  if (!steps.empty()) text += "What you have to do:\n";
  for (std::size_t i = 0; i < steps.size(); ++i) text += fmt::format("  {}. {}\n", i + 1, steps[i]);
  return text + fmt::format("In the spec of the component driver:\n  signing: {{key: {{file: {}}}, certificate: {}}}\n",
                            key_, certificate_);
}

Json Enrollment::json() const {
  const auto secure = host_.has_kernel_view() ? secure_boot(host_) : std::optional<bool>();
  return {{"apiVersion", "slipway.dev/v1"},
          {"kind", "DriverEnrollment"},
          {"state", to_string(state_)},
          {"made", made_},
          {"key", key_},
          {"certificate", certificate_},
          {"name", id_.name},
          {"secureBoot", secure ? Json(*secure) : Json()},
          {"next", next_steps()}};
}

Result<int> Enrollment::run(bool as_json) {
  SLIPWAY_CHECK(prepare_pair());
  state_ = state();
  has_mokutil_ = host_.live() && (host_.exists("/usr/bin/mokutil") || host_.exists("/bin/mokutil"));
  if (state_ == EnrollState::prepared && has_mokutil_ && host_.exists(kEfiFolder)) {
    SLIPWAY_TRY(word, password());
    if (word) {
      const Status imported = import(*word);
      OPENSSL_cleanse(word->data(), word->size());
      SLIPWAY_CHECK(imported);
    }
  }
  io_.print(as_json ? pretty(json()) : text());
  return 0;
}

}  // namespace

CommandTable enroll_line() {
  return {
      .call = "slipway driver enroll",
      .usage = "[--password-file FILE] [options]",
      .about =
          "Prepares a machine with Secure Boot for modules that are compiled and signed on it: takes the key pair, or "
          "makes one, and registers its certificate with mokutil, so that MokManager enrolls it at the next boot. "
          "What a person has to do then is printed. A certificate that is enrolled or registered stays as it is.",
      .notes =
          "The one-time password is asked for on the terminal, or read from a file; it is never an argument of a "
          "program. Without either, and where mokutil is missing, the files are prepared and the commands are "
          "printed. With --root nothing else is done.",
      .options = {{"key", "FILE", "private key (PEM), made if both are missing (default: /etc/slipway/mok.key)"},
                  {"certificate", "FILE", "its certificate (DER or PEM) (default: /etc/slipway/mok.der)"},
                  {"password-file", "FILE", "file with the one-time password in its first line; -: standard input"},
                  {"root", "DIR", "root filesystem to prepare (default: this machine)"},
                  {"output", "text|json", "format of the answer (default: text)", 'o'}},
      .examples = {"slipway driver enroll", "slipway driver enroll --password-file /root/once -o json",
                   "slipway driver enroll --root ./root"}};
}

Result<int> run_enroll(const CommandWords& words, const Host& host, ToolIo& io) {
  std::unique_ptr<Host> other;
  if (const std::string root = words.text("root", "/"); root != "/") {
    if (root.empty()) return enroll_line().wrong("--root is empty");
    SLIPWAY_TRY(opened, open_host({.root = root}));
    other = std::move(opened);
  }
  for (const char* option : {"key", "certificate"})
    if (words.given(option) && !words.text(option).starts_with('/'))
      return enroll_line().wrong(fmt::format("--{} is not an absolute path", option));
  return Enrollment(other ? *other : host, io, words).run(words.text("output") == "json");
}

}  // namespace slipway::driver
