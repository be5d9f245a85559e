// SPDX-License-Identifier: Apache-2.0
#include "driver/build/package_build.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <numeric>

#include <fmt/format.h>
#include <unistd.h>

#include <slipway/local_host.hpp>
#include <slipway/regular_file.hpp>
#include <slipway/text.hpp>

#include "base/digest/digest.hpp"
#include "base/write/new_file.hpp"
#include "driver/build/confined_deb.hpp"
#include "driver/build/description.hpp"
#include "driver/build/inputs.hpp"
#include "driver/build/package_folder.hpp"
#include "driver/build/supported_gpus_files.hpp"
#include "driver/detect/kernel_config.hpp"
#include "driver/detect/root_layout.hpp"
#include "driver/fits/fits.hpp"
#include "driver/module/module_info.hpp"
#include "driver/package/module_build.hpp"

namespace slipway::driver {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostOfFile = std::size_t{2} << 30U;  // a package or a module
constexpr std::size_t kMostOfList = std::size_t{4} << 20U;
constexpr std::string_view kDetectPackage = "nvidia-detect";  ///< Debian's, with a list of GPUs
constexpr std::size_t kMostOfSymvers = std::size_t{64} << 20U;
constexpr std::size_t kMostOfProgram = std::size_t{256} << 20U;  // gcc is a program of 1 MB

Error wrong_module(const std::string& name, const std::string& what) {
  return {ErrorCode::build_failed,
          fmt::format("the compiled {} {}", name, what),
          name,
          "check that headers and sources belong together",
          {}};
}

// A name from a package may contain line ends.
std::string on_one_line(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return c == '\n' || c == '\r'; }, '?');
  return text;
}

// Returns the compiler's own line from build.run's lines; else the whole sentence.
std::string first_error(const Error& error) {
  for (const auto& [label, text] : error.details) {
    for (const std::string& line : lines_of(text))
      if (line.find("error: ") != std::string::npos) return line;
  }
  return error.what;
}

}  // namespace

Status PackageBuild::lay_out(const Scratch& scratch) {
  const auto bytes = [](const std::vector<DebInfo>& debs) {
    return std::accumulate(debs.begin(), debs.end(), std::uint64_t{1},
                           [](std::uint64_t sum, const DebInfo& deb) { return sum + deb.installed_bytes; });
  };
  const std::uint64_t total = bytes(driver_.userspace) + bytes(driver_.firmware) + bytes(driver_.source);
  const char* const label = "unpacking the driver";
  io_.progress(label, 0, total);
  SLIPWAY_TRY(files, lay_out_userspace(driver_, scratch.at(std::string("package/") + kUserspaceLayer), left_out_));
  built_.files = files;
  io_.progress(label, bytes(driver_.userspace), total);
  built_.firmware = !driver_.firmware.empty();
  SLIPWAY_CHECK(lay_out_firmware(driver_, scratch.at(std::string("package/") + kFirmwareLayer)));
  io_.progress(label, total - bytes(driver_.source), total);
  SLIPWAY_TRY(source, lay_out_source(driver_, scratch.at(std::string("package/") + kSourceLayer)));
  source_ = source;
  if (options_.with_source) built_.source = source;
  io_.progress(label, total, total);
  return list_gpus(scratch);
}

// The driver's own list of supported devices: NVIDIA's file if it is named, else what Debian's packages have.
Status PackageBuild::list_gpus(const Scratch& scratch) {
  const std::string readme = fmt::format("{}/{}", scratch.at(std::string("package/") + kSourceLayer), kReadme);
  const std::string lists = scratch.at("lists");
  for (const auto& deb : debs_)
    if (deb.package == kDetectPackage && deb.upstream_version() == driver_.version)
      SLIPWAY_CHECK(unpack_deb_confined(deb.file, lists, [](const std::string& path) {
        return path == "usr/share/nvidia/nvidia-open.ids" ? std::string("open.ids") : std::string();
      }));
  const auto read = [&]() -> Result<Json> {
    if (!options_.supported_gpus.empty()) {
      SLIPWAY_TRY(text, read_regular(options_.supported_gpus, kMostOfList));
      SLIPWAY_TRY(list, gpus_of_nvidia_json(text, options_.supported_gpus));
      return to_json(list);
    }
    SupportedGpus list;
    if (const auto packed = read_regular(readme, kMostOfList))
      if (const auto text = decompress(*packed)) list = gpus_of_readme(*text);
    if (const auto ids = read_regular(lists + "/open.ids", kMostOfList)) list.add(gpus_of_ids(*ids));
    return to_json(list);
  };
  SLIPWAY_TRY(list, in_confined_process({}, read));
  SLIPWAY_TRY(gpus, supported_gpus_from_json(list));
  built_.gpus = std::move(gpus);
  std::error_code code;
  fs::remove(readme, code);
  if (code) return system_error("remove", readme, code.value());
  return {};
}

// Headers come first: they are small, and show whether the driver can be compiled for the kernel at all.
Status PackageBuild::prepare_headers(const Scratch& scratch, const Host& root) {
  headers_ = options_.headers;
  if (headers_.empty()) {
    headers_ = scratch.at("headers");
    SLIPWAY_CHECK(lay_out_headers(header_debs_, headers_));
  }
  SLIPWAY_TRY(tree, open_host({.root = headers_}));
  kernel_ = read_kernel_headers(*tree, options_.kernel);
  if (!kernel_)
    return Error{ErrorCode::not_found,
                 fmt::format("there are no headers of kernel {}", options_.kernel),
                 fmt::format("{}/lib/modules/{}/build", headers_, options_.kernel),
                 "name a tree that has them: --headers DIR, or put their .deb files into --debs",
                 {}};
  if (kernel_->preempt_rt)
    return Error{ErrorCode::unsupported,
                 "NVIDIA's driver does not support real-time kernels (PREEMPT_RT)",
                 options_.kernel,
                 "choose another kernel",
                 {}};
  return check_compiler(root, options_.root, *kernel_);
}

Json PackageBuild::plan_build(const Host& root) const {
  ModuleBuild build;
  build.version = driver_.version;
  build.flavour = nvidia::to_string(options_.flavour);
  build.kernel_release = options_.kernel;
  build.source = source_;
  build.compression = *options_.compress;
  build.sign_key = options_.sign_key;
  build.sign_certificate = options_.sign_cert;
  const std::string program = compiler_program(kernel_->compiler);
  build.compiler = find_program(root, program);
  build.hint = fmt::format("install make and {} in {}", program, options_.root);
  build.identity = kernel_->identity;
  return action::to_json(make_build(build));
}

// Identifies everything that the modules depend on: the result of an earlier run is packed only if everything is the
// same.
Result<Json> PackageBuild::identity_of(const Json& build) const {
  const char* const epoch = std::getenv("SOURCE_DATE_EPOCH");
  Json identity{{"build", build}, {"root", options_.root}, {"epoch", epoch == nullptr ? "" : epoch}};
  // The root is not trusted: its compiler may be a pipe, a device, or a link to a file of this machine.
  SLIPWAY_TRY(root, RootDir::open(options_.root));
  SLIPWAY_TRY(compiler, read_regular(root, build["needs"].back().get<std::string>(), kMostOfProgram));
  identity["compiler"] = base::digest_hex(base::digest_of(compiler));
  std::vector<std::string> files{driver_.source.front().file};
  for (const auto& deb : header_debs_) files.push_back(deb.file);
  for (const auto& file : {options_.sign_key, options_.sign_cert})
    if (!file.empty()) files.push_back(file);
  for (const auto& file : files) {
    SLIPWAY_TRY(bytes, read_regular(file, kMostOfFile));
    identity["files"].push_back(base::digest_hex(base::digest_of(bytes)));
  }
  return identity;
}

/// Records which build of the kernel the module is for, and compares that with the headers' Module.symvers: a module
/// that was compiled with other headers is not packed.
Status PackageBuild::record_fit(const std::string& name, const std::string& elf) {
  SLIPWAY_TRY(record, module_record(name, elf));
  base::SymbolVersions watched;
  for (const auto& [symbol, checksum] : record.versions)
    if (is_watched(symbol)) watched.emplace(symbol, checksum);
  built_.symbols[name] = symbol_versions_to_json(watched);
  if (record.signer) {
    KeyId signer = *record.signer;
    // A certificate also tells the key's id, by which a running kernel lists its keys.
    if (!options_.sign_cert.empty()) {
      SLIPWAY_TRY(key, key_of_certificate_file(options_.sign_cert));
      signer.name = key.name;
      signer.key = key.key;
    }
    built_.signer_key = signer;
  }
  SLIPWAY_TRY(tree, open_host({.root = headers_}));
  const std::string symvers = fmt::format("/lib/modules/{}/build/Module.symvers", options_.kernel);
  const auto text = tree->read(symvers, kMostOfSymvers);
  if (!text) return {};
  const auto wanted = [&](std::string_view symbol) {
    return symbol == kModuleLayout || record.versions.contains(symbol);
  };
  KernelDemands kernel{.release = options_.kernel};
  kernel.symbols = {true, true, {{headers_ + symvers, base::symbol_versions_in(*text, wanted)}}, {}};
  const base::SymbolVersions& versions = kernel.symbols.sources.front().versions;
  const auto layout = versions.find(kModuleLayout);
  if (layout == versions.end() || layout->second == 0) return {};  // a kernel without CONFIG_MODVERSIONS
  Fit fit;
  check_symbols({record}, kernel, {}, fit);
  if (fit.faults.empty()) return {};
  Error error = fit.faults.front();
  error.code = ErrorCode::build_failed;
  error.where = name;
  error.next = "check that headers and sources belong together";
  return error;
}

Status PackageBuild::check_modules(const std::string& folder) {
  for (const auto& name : built_.modules) {
    SLIPWAY_TRY(bytes, read_regular(folder + "/kernel/" + name, kMostOfFile));
    SLIPWAY_TRY(elf, decompress(bytes));
    SLIPWAY_TRY(info, read_module_info(elf));
    const auto value = [&](const char* key) { return info.contains(key) ? info.find(key)->second : std::string{}; };
    built_.vermagic = value("vermagic");
    if (const auto release = vermagic_release(built_.vermagic); release != options_.kernel)
      return wrong_module(name, fmt::format("is for kernel '{}', not {}", release, options_.kernel));
    if (value("version") != driver_.version)
      return wrong_module(name, fmt::format("is of driver '{}', not {}", value("version"), driver_.version));
    if (!options_.sign_key.empty() && !is_signed_module(elf)) return wrong_module(name, "has no signature");
    SLIPWAY_CHECK(record_fit(name, elf));
  }
  if (!fs::exists(folder + "/Module.symvers"))
    return wrong_module("Module.symvers", "is missing, and companion modules need it");
  return {};
}

// Packs the modules' own licence; the source folder where it lies must not be packed. A link in the package can only
// lead to the package's own files.
Status PackageBuild::add_licence(const std::string& source, const std::string& into) const {
  const std::string path = fmt::format("/usr/share/doc/{}/copyright", driver_.source.front().package);
  SLIPWAY_TRY(tree, open_host({.root = source}));
  const auto text = tree->read(path);
  if (!text)
    return Error{ErrorCode::corrupt,
                 fmt::format("the source package holds no licence text that can be read: {}", text.error().what),
                 driver_.source.front().file,
                 "use Debian's DKMS package",
                 {}};
  return base::put_file(into + "/copyright", *text);
}

Status PackageBuild::remember_failure(const Error& error) {
  built_.fails[options_.kernel] = first_error(error);
  io_.log(fmt::format("{} does not compile for {}: {}", driver_.version, options_.kernel, first_error(error)));
  return {};
}

Result<KeptBuild> PackageBuild::keep() const {
  // In a folder that all users share, each user has a kept build of their own.
  const std::string user = ::geteuid() == 0 ? "" : fmt::format("-user{}", ::geteuid());
  return KeptBuild::open(Scratch::parent(options_.scratch),
                         fmt::format("slipway-driver-{}-{}-{}{}", driver_.version, options_.kernel,
                                     nvidia::to_string(options_.flavour), user));
}

Status PackageBuild::compile(const Scratch& scratch, const KeptBuild& kept, const Json& build) {
  SLIPWAY_TRY(identity, identity_of(build));
  if (kept.holds(identity)) {
    io_.warn(fmt::format("using the modules that an earlier run compiled: {}", kept.modules()));
    return {};
  }
  kept.discard();
  const Json request{
      {"build", build},        {"log", kept.log()},   {"source", scratch.at(std::string("package/") + kSourceLayer)},
      {"root", options_.root}, {"headers", headers_}, {"into", kept.modules()}};
  io_.log(fmt::format("compiling {} for {}; this takes a few minutes", driver_.version, options_.kernel));
  if (const auto done = io_.core("build.run", request); !done) return done.error();
  return kept.complete(identity);
}

Status PackageBuild::build_modules(const Scratch& scratch, const KeptBuild& kept) {
  SLIPWAY_TRY(root, open_host({.root = options_.root}));
  const Status compiled = compile(scratch, kept, plan_build(*root));
  if (!compiled && compiled.error().code == ErrorCode::build_failed && options_.record_failure)
    return remember_failure(compiled.error());
  SLIPWAY_CHECK(compiled);
  built_.kernel_release = options_.kernel;
  built_.modules = module_file_names(source_, *options_.compress);
  if (!options_.sign_cert.empty()) {
    SLIPWAY_TRY(subject, certificate_subject(options_.sign_cert));
    built_.signer = subject;
  }
  if (Status sound = check_modules(kept.modules()); !sound) {
    kept.discard();
    return sound;
  }
  const std::string into = scratch.at(std::string("package/") + kModulesLayer);
  std::error_code code;
  fs::copy(kept.modules(), into, fs::copy_options::recursive, code);
  if (code) return system_error("copy the modules to", into, code.value());
  return add_licence(scratch.at(std::string("package/") + kSourceLayer), into);
}

void PackageBuild::print_summary(const Json& packed) const {
  io_.print(fmt::format("{}: {} {} for {}\n", options_.output, built_.version, nvidia::to_string(built_.flavour),
                        built_.modules.empty() ? "no kernel, source only" : built_.kernel_release));
  for (const auto& tag : packed.value("tags", Json::array())) io_.print(fmt::format("  {}\n", tag.get<std::string>()));
  for (const auto& path : left_out_) io_.print(fmt::format("  left out: {}\n", on_one_line(path)));
  const auto has = [&](const char* stem) {
    return std::ranges::any_of(built_.files.libraries, [&](const auto& name) { return name.starts_with(stem); });
  };
  if (has("libnvidia-opencl.so") && built_.files.icds.empty())
    io_.warn(
        "OpenCL will not find the driver: its list of drivers is in another package; put it there with `apt-get "
        "download nvidia-opencl-common`, and run the same command again");
}

Status PackageBuild::pack(const Scratch& scratch) {
  const std::string description = scratch.at("package/package.yaml");
  SLIPWAY_CHECK(base::put_file(description, pretty(describe(built_))));
  const Json request{{"directory", scratch.at("package")}, {"output", options_.output}, {"tags", Json::array()}};
  SLIPWAY_TRY(packed, io_.core("pkg.build", request));
  print_summary(packed);
  return {};
}

// The root's own compiler builds the modules, for its own processor type.
Status PackageBuild::check_compiler_root(const Host& root) const {
  if (options_.kernel.empty() || root.arch() == built_.arch) return {};
  return Error{
      ErrorCode::unsupported,
      fmt::format("the packages are for {}, and the root whose compiler would make the modules is for {}", built_.arch,
                  root.arch()),
      options_.root,
      fmt::format("name a root for {} with --root DIR, or leave --kernel out for a package of sources", built_.arch),
      {}};
}

Status PackageBuild::choose_inputs() {
  SLIPWAY_TRY(debs, list_debs(options_.debs));
  debs_ = std::move(debs);
  SLIPWAY_TRY(driver, choose_driver_debs(debs_, options_.flavour));
  driver_ = std::move(driver);
  if (options_.kernel.empty() || !options_.headers.empty()) return {};
  SLIPWAY_TRY(headers, choose_header_debs(debs_, options_.kernel));
  header_debs_ = std::move(headers);
  return {};
}

Status PackageBuild::check_inputs(const Host& root) {
  const std::string scratch = Scratch::parent(options_.scratch);
  SLIPWAY_CHECK(check_compiler_root(root));
  SLIPWAY_CHECK(check_headers(driver_, header_debs_));
  SLIPWAY_CHECK(check_output(options_.output));
  SLIPWAY_CHECK(check_scratch(scratch));
  SLIPWAY_CHECK(check_signing(options_.sign_key, options_.sign_cert));
  if (!options_.kernel.empty())
    if (const auto allowed = io_.core("build.check", {{"root", options_.root}}); !allowed) return allowed.error();
  return check_room(scratch, options_.output, room_for(driver_, header_debs_, !options_.kernel.empty()));
}

Status PackageBuild::run() {
  SLIPWAY_CHECK(choose_inputs());
  SLIPWAY_TRY(root, open_host({.root = options_.root}));
  built_.version = driver_.version;
  built_.flavour = options_.flavour;
  built_.default_flavour = options_.default_flavour;
  built_.os = options_.os.empty() ? os_tag(*root) : options_.os;
  if (!options_.compress) options_.compress = default_compression(built_.os);
  built_.arch = machine_of(driver_.architecture);
  SLIPWAY_CHECK(check_inputs(*root));
  built_.fails = recorded_failures(options_.output, built_);
  built_.fails.erase(options_.kernel);
  SLIPWAY_TRY(scratch, Scratch::make(options_.scratch));
  if (options_.kernel.empty()) {
    SLIPWAY_CHECK(lay_out(scratch));
    return pack(scratch);
  }
  SLIPWAY_CHECK(prepare_headers(scratch, *root));
  SLIPWAY_TRY(kept, keep());
  SLIPWAY_CHECK(lay_out(scratch));
  SLIPWAY_CHECK(build_modules(scratch, kept));
  if (Status packed = pack(scratch); !packed) {
    Error error = std::move(packed).error();
    error.details.emplace_back("kept", kept.folder());
    error.next += fmt::format("{}then run the same command again: it uses the compiled modules, which are kept",
                              error.next.empty() ? "" : "; ");
    return error;
  }
  kept.remove();
  return {};
}

Result<int> run_build(const CommandWords& words, const Host&, ToolIo& io) {
  SLIPWAY_TRY(options, build_options(words));
  SLIPWAY_CHECK(PackageBuild(options, io).run());
  return 0;
}

}  // namespace slipway::driver
