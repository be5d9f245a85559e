// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <filesystem>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <slipway/root_dir.hpp>

#include "core/host/files.hpp"
#include "core/host/module_info.hpp"
#include "sandbox/build_room.hpp"
#include "sandbox/tool.hpp"

namespace slipway::core {
namespace {

namespace fs = std::filesystem;

/// strip must come before sign: it would take the signature, which is appended, away.
constexpr const char* kSignScript = R"sh(
hash=$(sed -n 's/^CONFIG_MODULE_SIG_HASH="\(.*\)"$/\1/p' "/lib/modules/$1/build/.config" 2>/dev/null)
for tool in "/lib/modules/$1/build/scripts/sign-file" "/usr/src/linux-headers-$1/scripts/sign-file" \
            /usr/lib/linux-kbuild-*/scripts/sign-file /usr/src/linux-kbuild-*/scripts/sign-file;
do
  [ -x "$tool" ] || continue
  exec "$tool" "${hash:-sha256}" "$2" "$3" "$4"
done
echo "the kernel's sign-file is neither below /lib/modules/$1/build/scripts nor in linux-kbuild"
exit 126)sh";

struct Wanted {
  std::string from;
  std::string to;
  bool strip = false;
  std::string sign_key;
  std::string sign_cert;
  std::string compress;

  explicit Wanted(const Json& value)
      : from(value.value("from", "")),
        to(value.value("to", "")),
        strip(value.value("strip", false)),
        sign_key(value.value("sign_key", "")),
        sign_cert(value.value("sign_cert", "")),
        compress(value.value("compress", "")) {}
};

std::string release_of(const Json& build) {
  const Json identity = build.value("identity", Json::object());
  if (!identity.is_object()) return {};
  return identity.value("kernel_release", identity.value("kernel", ""));
}

class Collector {
 public:
  Collector(const BuildRequest& request, const BuildRoom& room, const RootDir& made)
      : request_(request),
        room_(room),
        made_(made),
        name_(request.build.value("name", "the build")),
        release_(release_of(request.build)) {}

  Status collect() {
    std::vector<std::string> stripped;
    std::vector<Wanted> all;
    for (const Json& value : request_.build.value("collect", Json::array())) all.emplace_back(value);
    for (const Wanted& wanted : all) {
      SLIPWAY_CHECK(check_file(wanted));
      if (wanted.strip) stripped.push_back(wanted.from);
    }
    if (!stripped.empty()) SLIPWAY_CHECK(strip(stripped));
    std::error_code code;
    fs::create_directories(request_.into, code);
    if (code) return system_error("make the folder", request_.into, code.value());
    for (const Wanted& wanted : all) {
      if (!wanted.sign_key.empty()) SLIPWAY_CHECK(sign(wanted));
      SLIPWAY_CHECK(take(wanted));
    }
    return settle();
  }

 private:
  Error bad_result(const std::string& why) const {
    return Error{ErrorCode::build_failed,
                 name_ + ": " + why,
                 {},
                 "see the whole output in " + request_.log,
                 {{"log", request_.log}}};
  }

  Status check_file(const Wanted& wanted) const {
    if (wanted.to.empty() || wanted.to.front() == '/' || ("/" + wanted.to + "/").find("/../") != std::string::npos)
      return Error{ErrorCode::invalid, "'" + wanted.to + "' is no path for a file of a layer", {}, {}, {}};
    const auto file = open_regular(made_, wanted.from);  // foreign sources could make a FIFO of that name
    if (!file) return bad_result("the compiler reported no error, but there is no " + wanted.from);
    if (release_.empty() || !wanted.from.ends_with(".ko")) return {};
    const auto fields = read_module_info(file->get(), wanted.from);
    if (!fields) return bad_result(fields.error().what);
    const auto found = fields->find("vermagic");
    const std::string vermagic = found == fields->end() ? "" : found->second;
    if (vermagic == release_ || vermagic.starts_with(release_ + " ")) return {};
    return bad_result(wanted.from + " was built for kernel '" + vermagic.substr(0, vermagic.find(' ')) + "', not for " +
                      release_);
  }

  /// Runs a tool of the root where the build ran, its output going to the log.
  Status run(const std::vector<std::string>& argv, const std::vector<SandboxBind>& binds,
             const std::string& doing) const {
    Sandbox sandbox = room_.sandbox();
    sandbox.argv = argv;
    sandbox.binds.insert(sandbox.binds.end(), binds.begin(), binds.end());
    std::string output;
    sandbox.on_output = [&](std::string_view text) { output += text; };
    SLIPWAY_TRY(end, run_in_sandbox(sandbox));
    const Fd log(::open(request_.log.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
    if (log) SLIPWAY_CHECK(write_all(log.get(), output, request_.log));
    if (end.exit_status == 0) return {};
    Error error =
        tool_failed({end.exit_status, output, argv.front(), end.no_user_namespace}, doing, "see " + request_.log);
    if (end.exit_status == 126 || end.exit_status == 127) error.code = ErrorCode::not_found;
    return error;
  }

  Status strip(const std::vector<std::string>& files) const {
    std::vector<std::string> argv{"strip", "--strip-debug", "--"};
    argv.insert(argv.end(), files.begin(), files.end());
    return run(argv, {}, "taking the debug information out of " + name_);
  }

  Status sign(const Wanted& wanted) const {
    if (wanted.sign_key.find(':') != std::string::npos)
      return Error{ErrorCode::unsupported,
                   "the signing key " + wanted.sign_key + " is no file; keys in tokens cannot be used",
                   wanted.sign_key,
                   "give the path of a PEM file",
                   {}};
    for (const std::string& file : {wanted.sign_key, wanted.sign_cert})
      if (::access(file.c_str(), R_OK) != 0) return system_error("read the signing key or certificate", file, errno);
    return run({"sh", "-c", kSignScript, "sign", release_, kKeyFile, kCertificateFile, wanted.from},
               {{wanted.sign_key, kKeyFile, true}, {wanted.sign_cert, kCertificateFile, true}},
               "signing " + wanted.from + " with " + wanted.sign_key);
  }

  Status take(const Wanted& wanted) const {
    const fs::path to = fs::path(request_.into) / wanted.to;
    std::error_code code;
    fs::create_directories(to.parent_path(), code);
    if (code) return system_error("make the folder", to.parent_path().string(), code.value());
    SLIPWAY_TRY(from, open_regular(made_, wanted.from));
    const Fd file(::open(to.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
    if (!file) return system_error("create", to.string(), errno);
    ::fchmod(file.get(), 0644);
    if (wanted.compress.empty()) return copy_all(from.get(), file.get(), to.string());
    return compress_file(wanted.compress, from.get(), file.get(), to.string());
  }

  /// The same modes and, where there is an epoch, times in every copy.
  Status settle() const {
    std::vector<fs::path> paths{request_.into};
    for (const auto& entry : fs::recursive_directory_iterator(request_.into)) paths.push_back(entry.path());
    for (auto path = paths.rbegin(); path != paths.rend(); ++path) {
      if (fs::is_directory(*path)) ::chmod(path->c_str(), 0755);
      if (!request_.source_date_epoch) continue;
      const timespec time{*request_.source_date_epoch, 0};
      const timespec both[] = {time, time};
      if (::utimensat(AT_FDCWD, path->c_str(), both, 0) != 0)
        return system_error("set the time of", path->string(), errno);
    }
    return {};
  }

  const BuildRequest& request_;
  const BuildRoom& room_;
  const RootDir& made_;
  std::string name_;
  std::string release_;
};

}  // namespace

Status collect_results(const BuildRequest& request, const BuildRoom& room) {
  SLIPWAY_TRY(made, RootDir::open(room.work_folder()));
  return Collector(request, room, made).collect();
}

}  // namespace slipway::core
