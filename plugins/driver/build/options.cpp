// SPDX-License-Identifier: Apache-2.0
#include "driver/build/options.hpp"

#include <charconv>
#include <filesystem>

namespace slipway::driver {
namespace {

Error usage_error(std::string what) { return build_line().wrong(std::move(what)); }

std::optional<nvidia::Flavour> flavour(const CommandWords& words, const char* name) {
  return nvidia::parse_flavour(words.text(name));
}

Status check(const BuildOptions& options) {
  if (options.debs.empty()) return usage_error("--debs DIR is missing: where the driver's Debian packages are");
  if (options.output.empty()) return usage_error("--output LAYOUT is missing: the OCI layout folder to write");
  if (options.kernel.empty() && !options.with_source)
    return usage_error("--kernel RELEASE is missing (or --with-source, for a source package only)");
  if (options.sign_key.empty() != options.sign_cert.empty())
    return usage_error("--sign-key and --sign-cert belong together");
  if (options.record_failure && !options.with_source)
    return usage_error("--record-failure needs --with-source: the failure is recorded with the source package");
  return {};
}

// Makes paths absolute, because some functions that use them do not run in the caller's working folder.
void make_absolute(BuildOptions& options) {
  for (std::string* path : {&options.debs, &options.output, &options.headers, &options.root, &options.sign_key,
                            &options.sign_cert, &options.supported_gpus, &options.scratch}) {
    if (path->empty()) continue;
    *path = std::filesystem::absolute(*path).lexically_normal().string();
    if (path->size() > 1 && path->back() == '/') path->pop_back();
  }
}

}  // namespace

Result<BuildOptions> build_options(const CommandWords& words) {
  BuildOptions options{.debs = words.text("debs"),
                       .kernel = words.text("kernel"),
                       .output = words.text("output"),
                       .headers = words.text("headers"),
                       .root = words.text("root", "/"),
                       .flavour = flavour(words, "flavour").value_or(nvidia::Flavour::open),
                       .default_flavour = flavour(words, "default-flavour"),
                       .os = words.text("os"),
                       .compress = {},
                       .sign_key = words.text("sign-key"),
                       .sign_cert = words.text("sign-cert"),
                       .supported_gpus = words.text("supported-gpus"),
                       .scratch = words.text("scratch"),
                       .with_source = words.flag("with-source"),
                       .record_failure = words.flag("record-failure")};
  if (words.given("compress")) options.compress = words.text("compress") == "none" ? "" : words.text("compress");
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

CommandTable build_line() {
  return {
      .call = "slipway driver build",
      .usage = "--debs DIR --kernel RELEASE --output LAYOUT [options]",
      .about =
          "Makes a driver package from Debian's files: user space, firmware, and the modules compiled for one kernel. "
          "An existing layout keeps its kernels and gets the new one; equal layers are stored once.",
      .notes =
          "Modules that were compiled, or the compiler's whole output where that failed, are kept in the folder for "
          "temporary files until they are packed; the same command uses them. With -v the compiler's output is "
          "shown.\n\nWith SOURCE_DATE_EPOCH set, the same files give the same digests.",
      .options = {{"debs", "DIR", "folder with the .deb files of one driver version, and of the kernel's headers"},
                  {"kernel", "RELEASE", "kernel release to compile for, as `uname -r` prints it"},
                  {"output", "LAYOUT", "OCI layout folder to write or to add to"},
                  {"flavour", "open|proprietary",
                   "open (nvidia-open-kernel-dkms, the default) or proprietary (nvidia-kernel-dkms)"},
                  {"with-source", "", "also packs the source, so that other kernels can be compiled at installation"},
                  {"record-failure", "",
                   "when the driver does not compile, records the failure in the package instead of failing"},
                  {"headers", "DIR",
                   "tree with usr/src and lib/modules of the kernel's headers, instead of .deb files"},
                  {"root", "DIR", "root filesystem whose make and compiler are used (default: /)"},
                  {"os", "NAME",
                   "system that the package is for, ID and VERSION_ID of os-release (default: the root's)"},
                  {"compress", "xz|zstd|none",
                   "compression of the modules (default: a compression that the system's kmod can certainly read)"},
                  {"sign-key", "FILE", "private key (PEM) that signs the modules, with"},
                  {"sign-cert", "FILE", "its certificate (PEM or DER)"},
                  {"default-flavour", "open|proprietary",
                   "the kind of modules that `modules: auto` selects in images, where no GPU decides it"},
                  {"supported-gpus", "FILE",
                   "NVIDIA's list of the GPUs that this driver version supports, supported-gpus.json of its .run file "
                   "(default: the lists in Debian's packages)"},
                  {"scratch", "DIR", "folder for temporary files, 1 to 2 GB (default: $TMPDIR, or /var/tmp)"}},
      .examples = {"slipway driver build --debs ./debs --kernel 6.1.0-50-amd64 --output ./layout",
                   "slipway driver build --debs ./debs --with-source --output ./layout"}};
}

}  // namespace slipway::driver
