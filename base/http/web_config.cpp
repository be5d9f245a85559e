// SPDX-License-Identifier: Apache-2.0
#include "base/http/web_config.hpp"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <set>

#include <sys/stat.h>

#include <slipway/regular_file.hpp>
#include <slipway/text.hpp>
#include <slipway/trusted_owner.hpp>

#include "base/yaml/load.hpp"

namespace slipway::base {
namespace {

constexpr std::size_t kMostBytes = 256 << 10;
constexpr std::size_t kMostUsers = 256;
constexpr yaml::Limits kLimits{.bytes = kMostBytes, .values = 2048, .scalars = kMostBytes, .depth = 8};
constexpr int kFewestRounds = 4;  // bcrypt requires at least this many
constexpr int kMostRounds = 12;   // an attempt takes a quarter of a second, during which no other client is answered

std::int64_t nanoseconds(const timespec& time) { return time.tv_sec * std::int64_t{1'000'000'000} + time.tv_nsec; }

/// @param folder  used as "/" for `path`
FileState state_of(const std::string& folder, const std::string& path) {
  struct stat info {};
  const auto root = RootDir::open(folder);
  const auto file = root ? open_regular(*root, path) : Result<Fd>(root.error());
  if (!file || ::fstat(file->get(), &info) != 0) return {.root = folder, .path = path};
  return {.root = folder,
          .path = path,
          .present = true,
          .inode = info.st_ino,
          .size = info.st_size,
          .modified_ns = nanoseconds(info.st_mtim),
          .changed_ns = nanoseconds(info.st_ctim)};
}

using ReadFile = std::function<Result<std::string>(const std::string& path, bool has_secret)>;

class Reader {
 public:
  Reader(const std::string& path, const ReadFile& read) : path_(path), read_file_(read) {}

  Result<WebConfig> read() {
    SLIPWAY_TRY(text, read_file_(path_, false));
    try {
      const YAML::Node document = yaml::load(text, kLimits);
      if (!document.IsNull())
        SLIPWAY_CHECK(each(document, "", {"tls_server_config", "http_server_config", "basic_auth_users"},
                           [this](const std::string& key, const YAML::Node& value) {
                             if (key == "http_server_config") return take_http(value);
                             return key == "basic_auth_users" ? take_users(value) : take_tls(value);
                           }));
    } catch (const YAML::Exception& problem) {
      return wrong(problem.mark, "", "the web-config file " + yaml::problem_text(problem), "write it as YAML");
    }
    // An emptied or truncated file must not open what the complete file protects.
    if (config_.certificate.empty() && config_.users.empty())
      return Error{ErrorCode::invalid,
                   "the web-config file asks for neither TLS nor passwords",
                   path_,
                   "write tls_server_config or basic_auth_users, or leave the file out of the spec",
                   {}};
    return config_;
  }

 private:
  Error wrong(const YAML::Mark& mark, const std::string& key, const std::string& what, const std::string& next) const {
    return Error{ErrorCode::invalid, what, yaml::place(path_, mark) + (key.empty() ? "" : "  " + key), next, {}};
  }

  /// @param known  the known keys; empty: any
  Status each(const YAML::Node& map, const std::string& above, const std::vector<std::string>& known,
              const std::function<Status(const std::string&, const YAML::Node&)>& take) const {
    if (!map.IsMap()) return wrong(map.Mark(), above, "expected a map", "write `key: value` lines");
    std::set<std::string> seen;
    for (const auto& entry : map) {
      const auto key = entry.first.IsScalar() ? entry.first.Scalar() : std::string();
      const std::string whole = above.empty() ? key : above + "." + key;
      if (!seen.insert(key).second) return wrong(entry.first.Mark(), whole, "the key is given twice", "take one out");
      if (!known.empty() && std::ranges::find(known, key) == known.end())
        return wrong(entry.first.Mark(), whole, "unknown key '" + key + "'", "it knows " + joined(known));
      SLIPWAY_CHECK(take(key, entry.second));
    }
    return {};
  }

  Status take_tls(const YAML::Node& section) {
    constexpr const char* kSection = "tls_server_config";
    SLIPWAY_CHECK(each(
        section, kSection,
        {"cert_file", "key_file", "cert", "key", "min_version", "max_version", "client_auth_type", "client_ca_file"},
        [&](const std::string& key, const YAML::Node& value) -> Status {
          const std::string whole = std::string(kSection) + "." + key;
          if (!value.IsScalar() || value.Scalar().empty())
            return wrong(value.Mark(), whole, "expected a string", "name a file, or a version");
          return take_tls_key(key, whole, value);
        }));
    if (config_.certificate.empty() || config_.key.empty())
      return wrong(section.Mark(), kSection, "TLS needs both cert_file and key_file", "name both, in PEM");
    if (config_.only_tls12 && config_.only_tls13)
      return wrong(section.Mark(), kSection, "max_version is below min_version", "leave one of them out");
    if (config_.client_ca.empty() != (config_.client_auth == ClientAuth::none))
      return wrong(section.Mark(), kSection, "client_ca_file and client_auth_type go together",
                   "give both, or neither; client_auth_type is RequireAndVerifyClientCert or VerifyClientCertIfGiven");
    if (has_key_inside_) SLIPWAY_CHECK(read_file_(path_, true));
    return {};
  }

  Status take_tls_key(const std::string& key, const std::string& whole, const YAML::Node& value) {
    if (key == "min_version") return take_version(value, whole, config_.only_tls13, "TLS13", "TLS12");
    if (key == "max_version") return take_version(value, whole, config_.only_tls12, "TLS12", "TLS13");
    if (key == "client_auth_type") return take_client_auth(value, whole);
    if (key == "client_ca_file") return take_file(value.Scalar(), false, config_.client_ca);
    const bool is_private = !key.starts_with("cert");
    std::string& text = is_private ? config_.key : config_.certificate;
    if (!text.empty())
      return wrong(value.Mark(), whole, "this value is given twice: in a file and here", "leave one of them out");
    if (key.ends_with("_file")) return take_file(value.Scalar(), is_private, text);
    has_key_inside_ = has_key_inside_ || is_private;
    text = value.Scalar();
    return {};
  }

  /// @param narrows  the version to which this key limits TLS
  Status take_version(const YAML::Node& value, const std::string& key, bool& only, const char* narrows,
                      const char* other) const {
    only = value.Scalar() == narrows;
    if (only || value.Scalar() == other) return {};
    return wrong(value.Mark(), key, "'" + value.Scalar() + "' is not a supported version", "write TLS12 or TLS13");
  }

  Status take_client_auth(const YAML::Node& value, const std::string& key) {
    const std::string& word = value.Scalar();
    if (word == "VerifyClientCertIfGiven") config_.client_auth = ClientAuth::if_given;
    if (word == "RequireAndVerifyClientCert") config_.client_auth = ClientAuth::required;
    if (config_.client_auth != ClientAuth::none || word == "NoClientCert") return {};
    return wrong(value.Mark(), key,
                 "'" + word + "' is not supported: slipway verifies each certificate that it asks for",
                 "write NoClientCert, VerifyClientCertIfGiven or RequireAndVerifyClientCert");
  }

  Status take_http(const YAML::Node& section) {
    constexpr const char* kSection = "http_server_config";
    return each(section, kSection, {"http2", "headers"},
                [&](const std::string& key, const YAML::Node& value) -> Status {
                  const std::string whole = std::string(kSection) + "." + key;
                  if (key == "headers") return take_headers(value, whole);
                  if (value.IsScalar() && value.Scalar() == "false") return {};
                  return wrong(value.Mark(), whole, "HTTP/2 is not supported",
                               "write false, or leave it out: clients use HTTP/1.1");
                });
  }

  /// Accepts the headers that exporter-toolkit knows.
  Status take_headers(const YAML::Node& section, const std::string& above) {
    return each(section, above,
                {"Content-Security-Policy", "Strict-Transport-Security", "X-Content-Type-Options", "X-Frame-Options",
                 "X-XSS-Protection"},
                [&](const std::string& key, const YAML::Node& value) -> Status {
                  const std::string text = value.IsScalar() ? value.Scalar() : "";
                  const auto controls = [](unsigned char c) { return c < 0x20 || c == 0x7f; };
                  if (text.empty() || std::ranges::any_of(text, controls))
                    return wrong(value.Mark(), above + "." + key, "expected a string of one line",
                                 "write the header's value");
                  config_.headers[key] = text;
                  return {};
                });
  }

  Status take_file(const std::string& name, bool is_private, std::string& text) {
    const auto file = (std::filesystem::path(path_).parent_path() / name).string();  // an absolute path stays
    SLIPWAY_TRY(read, read_file_(file, is_private));
    text = std::move(read);
    return {};
  }

  Status take_users(const YAML::Node& section) {
    constexpr const char* kSection = "basic_auth_users";
    SLIPWAY_CHECK(each(section, kSection, {}, [&](const std::string& user, const YAML::Node& value) -> Status {
      const std::string key = std::string(kSection) + "." + user;
      const std::string hash = value.IsScalar() ? value.Scalar() : "";
      const bool named = !user.empty() && user.find(':') == std::string::npos;
      // The hash itself must not be in a log.
      if (!named || !is_bcrypt(hash))
        return wrong(value.Mark(), key, "expected a user's name and the bcrypt hash of a password",
                     "`htpasswd -nBC 10 USER` makes both");
      if (bcrypt_rounds(hash) > kMostRounds)
        return wrong(value.Mark(), key, "the hash costs too much to check, more than 2^12 rounds",
                     "make it with a cost of 10 to 12");
      config_.users[user] = hash;
      return {};
    }));
    if (config_.users.empty() || config_.users.size() > kMostUsers)
      return wrong(section.Mark(), kSection, "expected 1 to 256 users", "leave the key out to ask for no password");
    return {};
  }

  /// True for "$2b$10$" and 53 letters.
  static bool is_bcrypt(const std::string& hash) {
    constexpr std::string_view kLetters = "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    const auto digit = [](char c) { return c >= '0' && c <= '9'; };
    return hash.size() == 60 && hash.starts_with("$2") && (hash[2] == 'a' || hash[2] == 'b' || hash[2] == 'y') &&
           hash[3] == '$' && digit(hash[4]) && digit(hash[5]) && hash[6] == '$' &&
           hash.find_first_not_of(kLetters, 7) == std::string::npos && bcrypt_rounds(hash) >= kFewestRounds;
  }
  static int bcrypt_rounds(const std::string& hash) { return std::stoi(hash.substr(4, 2)); }

  const std::string& path_;
  const ReadFile& read_file_;
  bool has_key_inside_ = false;
  WebConfig config_;
};

}  // namespace

bool WebConfig::changed() const {
  return std::ranges::any_of(files, [](const FileState& read) { return state_of(read.root, read.path) != read; });
}

Result<WebConfig> read_web_config(const std::string& path, const std::string& root) {
  std::vector<FileState> files;
  auto config = read_web_config(path, [&](const std::string& file, bool has_secret) -> Result<std::string> {
    files.push_back(state_of(root, file));  // before reading, so that a change during reading is noticed
    SLIPWAY_TRY(folder, RootDir::open(root));
    return has_secret ? read_private(folder, file, kMostBytes) : read_trusted(folder, file, kMostBytes);
  });
  if (config) config->files = std::move(files);
  return config;
}

Result<WebConfig> read_web_config(const std::string& path, const ReadFile& read) { return Reader(path, read).read(); }

}  // namespace slipway::base
