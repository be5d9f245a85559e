// SPDX-License-Identifier: Apache-2.0
#include "driver/build/options.hpp"

#include <charconv>
#include <filesystem>
#include <functional>
#include <map>

#include <fmt/format.h>

#include <slipway/text.hpp>

namespace slipway::driver {
namespace {

constexpr const char* kHelpCommand = "`slipway driver build --help` lists the options";

Error usage_error(std::string what) { return {ErrorCode::usage, std::move(what), "command line", kHelpCommand, {}}; }

/// An option: what it does with its value. A flag has no value.
struct Option {
  bool flag = false;
  std::function<Status(const std::string& value)> take;
};

Option text(std::string& into) {
  return {false, [&into](const std::string& value) -> Status {
            into = value;
            return {};
          }};
}

Option flag(bool& into) {
  return {true, [&into](const std::string&) -> Status {
            into = true;
            return {};
          }};
}

template <class T>
Option flavour(T& into) {
  return {false, [&into](const std::string& value) -> Status {
            const auto parsed = nvidia::parse_flavour(value);
            if (!parsed) return usage_error(fmt::format("'{}' is no flavour: write open or proprietary", value));
            into = *parsed;
            return {};
          }};
}

Option compression(std::optional<std::string>& into) {
  return {false, [&into](const std::string& value) -> Status {
            if (value != "xz" && value != "zstd" && value != "none")
              return usage_error(fmt::format("--compress takes xz, zstd or none, not '{}'", value));
            into = value == "none" ? "" : value;
            return {};
          }};
}

std::map<std::string, Option> known_options(BuildOptions& options) {
  return {{"--debs", text(options.debs)},
          {"--kernel", text(options.kernel)},
          {"--output", text(options.output)},
          {"--headers", text(options.headers)},
          {"--root", text(options.root)},
          {"--os", text(options.os)},
          {"--sign-key", text(options.sign_key)},
          {"--sign-cert", text(options.sign_cert)},
          {"--scratch", text(options.scratch)},
          {"--flavour", flavour(options.flavour)},
          {"--default-flavour", flavour(options.default_flavour)},
          {"--compress", compression(options.compress)},
          {"--with-source", flag(options.with_source)},
          {"--record-failure", flag(options.record_failure)}};
}

Error unknown_option(const std::string& name, const std::map<std::string, Option>& known) {
  std::vector<std::string> names;
  for (const auto& [option, unused] : known) names.push_back(option);
  const auto near = nearest_word(name, names);
  Error error = usage_error(fmt::format("unknown option '{}'", name));
  if (!near.empty()) error.next = fmt::format("did you mean {}?", near);
  return error;
}

Status check(const BuildOptions& options) {
  if (options.debs.empty()) return usage_error("--debs DIR is missing: where the driver's Debian packages are");
  if (options.output.empty()) return usage_error("--output LAYOUT is missing: the OCI layout folder to write");
  if (options.kernel.empty() && !options.with_source)
    return usage_error("--kernel RELEASE is missing (or --with-source, for a source package alone)");
  if (options.sign_key.empty() != options.sign_cert.empty())
    return usage_error("--sign-key and --sign-cert belong together");
  if (options.record_failure && !options.with_source)
    return usage_error("--record-failure needs --with-source: the failure stands with the source package");
  return {};
}

// What a relative path means depends on the working folder, and not everybody who gets one of these works in the
// caller's.
void make_absolute(BuildOptions& options) {
  for (std::string* path : {&options.debs, &options.output, &options.headers, &options.root, &options.sign_key,
                            &options.sign_cert, &options.scratch}) {
    if (path->empty()) continue;
    *path = std::filesystem::absolute(*path).lexically_normal().string();
    if (path->size() > 1 && path->back() == '/') path->pop_back();
  }
}

}  // namespace

Result<BuildOptions> parse_build_options(const std::vector<std::string>& arguments) {
  BuildOptions options;
  const auto known = known_options(options);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const auto equals = arguments[i].find('=');
    const std::string name = arguments[i].substr(0, equals);
    const auto option = known.find(name);
    if (option == known.end()) return unknown_option(name, known);
    if (option->second.flag) {
      if (equals != std::string::npos) return usage_error(fmt::format("{} takes no value", name));
      SLIPWAY_CHECK(option->second.take(""));
      continue;
    }
    if (equals == std::string::npos && i + 1 == arguments.size())
      return usage_error(fmt::format("{} needs a value", name));
    SLIPWAY_CHECK(option->second.take(equals == std::string::npos ? arguments[++i] : arguments[i].substr(equals + 1)));
  }
  SLIPWAY_CHECK(check(options));
  make_absolute(options);
  return options;
}

std::string default_compression(std::string_view os) {
  constexpr std::pair<std::string_view, int> kReaders[] = {{"debian", 12}, {"ubuntu", 22}, {"fedora", 34}};
  for (const auto& [name, first] : kReaders) {
    if (!os.starts_with(name)) continue;
    int version = 0;
    std::from_chars(os.data() + name.size(), os.data() + os.size(), version);
    return version >= first ? "zstd" : "xz";
  }
  return "xz";
}

std::string build_usage() {
  return "usage: slipway driver build --debs DIR --kernel RELEASE --output LAYOUT [options]\n"
         "\n"
         "Makes a driver package from Debian's files: user space, firmware, and the modules compiled for one kernel.\n"
         "A layout that is there already gets the new kernel beside the others; equal layers are stored once.\n"
         "\n"
         "  --debs DIR              folder with the .deb files of one driver version, and of the kernel's headers\n"
         "  --kernel RELEASE        kernel release to compile for, as `uname -r` prints it\n"
         "  --output LAYOUT         OCI layout folder to write or to add to\n"
         "  --flavour FLAVOUR       open (nvidia-open-kernel-dkms, the default) or proprietary (nvidia-kernel-dkms)\n"
         "  --with-source           also packs the source, so that other kernels can be compiled at installation\n"
         "  --record-failure        when it does not compile, says so in the package instead of failing\n"
         "  --headers DIR           tree with usr/src and lib/modules of the kernel's headers, instead of .deb files\n"
         "  --root DIR              root filesystem whose make and compiler are used (default: /)\n"
         "  --os NAME               system that the package is for, ID and VERSION_ID of os-release (default: the "
         "root's)\n"
         "  --compress METHOD       of the modules: xz, zstd or none (default: what that system's kmod surely reads)\n"
         "  --sign-key FILE         private key (PEM) that signs the modules, with\n"
         "  --sign-cert FILE        its certificate (PEM or DER)\n"
         "  --default-flavour F     what `modules: auto` takes in images when no GPU decides\n"
         "  --scratch DIR           folder for temporary files, 1 to 2 GB (default: $TMPDIR, or /var/tmp)\n"
         "\n"
         "Modules that were compiled, or the compiler's whole output where that failed, are kept in the folder for\n"
         "temporary files until they are packed; the same command takes them up. With -v (before or after the other\n"
         "options) the compiler's output is shown.\n"
         "\n"
         "With SOURCE_DATE_EPOCH set, the same files give the same digests.\n";
}

}  // namespace slipway::driver
