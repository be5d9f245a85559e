// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <filesystem>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <slipway/root_dir.hpp>
#include <slipway/text.hpp>

#include "base/modinfo/module_info.hpp"
#include "core/host/files.hpp"
#include "sandbox/build_room.hpp"
#include "sandbox/module_signature.hpp"
#include "sandbox/tool.hpp"

namespace slipway::sandbox {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostOfConfig = std::size_t{4} << 20U;

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
  Collector(const BuildRequest& request, const BuildRoom& room, const RootDir& source)
      : request_(request),
        room_(room),
        source_(source),
        directory_(request.build.value("directory", "")),
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
    for (const Wanted& wanted : all) SLIPWAY_CHECK(take(wanted));
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

  /// Refuses anything except a regular file: the foreign source could have made a FIFO, or a link that leads out.
  Result<Fd> open_made(const Wanted& wanted) const { return open_regular(source_, directory_ + "/" + wanted.from); }

  Status check_file(const Wanted& wanted) const {
    if (wanted.to.empty() || wanted.to.front() == '/' || ("/" + wanted.to + "/").find("/../") != std::string::npos)
      return Error{ErrorCode::invalid, "'" + wanted.to + "' is not a path for a file of a layer", {}, {}, {}};
    const auto file = open_made(wanted);
    if (!file) return bad_result("the compiler reported no error, but there is no " + wanted.from);
    if (release_.empty() || !wanted.from.ends_with(".ko")) return {};
    const auto fields = base::module_info_of_file(file->get());
    if (!fields) return bad_result(wanted.from + " is not a kernel module: " + fields.error().what);
    const auto found = fields->find("vermagic");
    const std::string vermagic = found == fields->end() ? "" : found->second;
    if (vermagic == release_ || vermagic.starts_with(release_ + " ")) return {};
    return bad_result(wanted.from + " was built for kernel '" + vermagic.substr(0, vermagic.find(' ')) + "', not for " +
                      release_);
  }

  /// Runs the root's own tool, where the build ran; its output goes to the log. Stripping would also remove an appended
  /// signature: modules are signed after this.
  Status strip(const std::vector<std::string>& files) const {
    Sandbox sandbox = room_.sandbox();
    sandbox.argv = {"strip", "--strip-debug", "--"};
    sandbox.argv.insert(sandbox.argv.end(), files.begin(), files.end());
    std::string output;
    sandbox.on_output = [&](std::string_view text) { output += text; };
    SLIPWAY_TRY(end, run_in_sandbox(sandbox));
    const Fd log(::open(request_.log.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
    if (log) SLIPWAY_CHECK(base::write_all(log.get(), output, request_.log));
    if (end.exit_status == 0) return {};
    Error error = tool_failed({end.exit_status, output, sandbox.argv.front(), end.no_user_namespace},
                              "removing the debug information from " + name_, "see " + request_.log);
    if (end.exit_status == 126 || end.exit_status == 127) error.code = ErrorCode::not_found;
    return error;
  }

  /// Returns CONFIG_MODULE_SIG_HASH of the kernel, from its headers.
  Result<std::string> signing_digest() const {
    constexpr std::string_view kOption = "CONFIG_MODULE_SIG_HASH=\"";
    const std::string path = "/lib/modules/" + release_ + "/build/.config";
    for (const std::string& folder : {request_.headers, request_.root}) {
      if (folder.empty()) continue;
      SLIPWAY_TRY(tree, RootDir::open(folder));
      const auto text = read_regular(tree, path, kMostOfConfig);
      if (!text && text.error().code != ErrorCode::not_found) return text.error();
      if (!text) continue;
      for (const std::string& line : lines_of(*text))
        if (line.starts_with(kOption)) return line.substr(kOption.size(), line.rfind('"') - kOption.size());
    }
    return std::string("sha256");
  }

  /// Returns a signed copy of the module, an open file without a name. slipway signs it itself, since programs of the
  /// root must not see the key.
  Result<Fd> signed_copy(const Wanted& wanted, int module, const std::string& beside) const {
    SLIPWAY_TRY(signer, ModuleSigner::open(wanted.sign_key, wanted.sign_cert));
    SLIPWAY_TRY(digest, signing_digest());
    const std::string name = beside + base::kNewSuffix;
    Fd copy(::open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!copy) return system_error("create", name, errno);
    ::unlink(name.c_str());
    SLIPWAY_CHECK(core::copy_all(module, copy.get(), name));
    ::lseek(copy.get(), 0, SEEK_SET);
    SLIPWAY_TRY(signature, signer.signature_of(copy.get(), digest, wanted.from));
    SLIPWAY_CHECK(base::write_all(copy.get(), signature, name));
    ::lseek(copy.get(), 0, SEEK_SET);
    return copy;
  }

  Status take(const Wanted& wanted) const {
    const fs::path to = fs::path(request_.into) / wanted.to;
    std::error_code code;
    fs::create_directories(to.parent_path(), code);
    if (code) return system_error("make the folder", to.parent_path().string(), code.value());
    SLIPWAY_TRY(from, open_made(wanted));
    if (!wanted.sign_key.empty()) {
      SLIPWAY_TRY(copy, signed_copy(wanted, from.get(), to.string()));
      from = std::move(copy);
    }
    const Fd file(::open(to.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
    if (!file) return system_error("create", to.string(), errno);
    ::fchmod(file.get(), 0644);
    if (wanted.compress.empty()) return core::copy_all(from.get(), file.get(), to.string());
    return compress_file(wanted.compress, from.get(), file.get(), to.string());
  }

  /// Sets the same modes and, with an epoch, the same times in every copy.
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
  const RootDir& source_;
  std::string directory_;
  std::string name_;
  std::string release_;
};

}  // namespace

Status collect_results(const BuildRequest& request, const BuildRoom& room) {
  SLIPWAY_TRY(source, RootDir::open(room.source_folder()));
  return Collector(request, room, source).collect();
}

}  // namespace slipway::sandbox
