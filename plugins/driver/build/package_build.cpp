// SPDX-License-Identifier: Apache-2.0
#include "driver/build/package_build.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include <slipway/local_host.hpp>

#include "driver/build/description.hpp"
#include "driver/build/package_folder.hpp"
#include "driver/detect/kernel_config.hpp"
#include "driver/detect/module_info.hpp"
#include "driver/detect/root_layout.hpp"
#include "driver/package/module_build.hpp"

namespace slipway::driver {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kSteps = 4;

Result<std::string> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) return Error{ErrorCode::io, "the compiled module cannot be read", path, {}, {}};
  return text.str();
}

Error wrong_module(const std::string& name, const std::string& what) {
  return {ErrorCode::build_failed,
          fmt::format("the compiled {} {}", name, what),
          name,
          "check that headers and sources belong together",
          {}};
}

// The compiler's own line, out of the lines around it that build.run shows; else the whole sentence.
std::string first_error(const Error& error) {
  for (const auto& [label, text] : error.details) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
      if (line.find("error: ") != std::string::npos) return line;
  }
  return error.what;
}

}  // namespace

Status PackageBuild::lay_out(const Scratch& scratch) {
  io_.progress("unpacking the driver", 0, kSteps);
  SLIPWAY_TRY(files, lay_out_userspace(driver_, scratch.at(std::string("package/") + kUserspaceLayer)));
  built_.files = files;
  io_.progress("unpacking the driver", 1, kSteps);
  built_.firmware = !driver_.firmware.empty();
  SLIPWAY_CHECK(lay_out_firmware(driver_, scratch.at(std::string("package/") + kFirmwareLayer)));
  io_.progress("unpacking the driver", 2, kSteps);
  SLIPWAY_TRY(source, lay_out_source(driver_, scratch.at(std::string("package/") + kSourceLayer)));
  source_ = source;
  if (options_.with_source) built_.source = source;
  io_.progress("unpacking the driver", kSteps, kSteps);
  return {};
}

Result<std::string> PackageBuild::prepare_headers(const Scratch& scratch) {
  if (!options_.headers.empty()) return options_.headers;
  SLIPWAY_TRY(debs, choose_header_debs(debs_, options_.kernel));
  SLIPWAY_CHECK(lay_out_headers(debs, scratch.at("headers")));
  return scratch.at("headers");
}

Result<Json> PackageBuild::plan_build(const std::string& headers, const SourceTree& source) {
  SLIPWAY_TRY(tree, open_host({.root = headers}));
  SLIPWAY_TRY(root, open_host({.root = options_.root}));
  const auto found = read_kernel_headers(*tree, options_.kernel);
  if (!found)
    return Error{ErrorCode::not_found,
                 fmt::format("there are no headers of kernel {}", options_.kernel),
                 fmt::format("{}/lib/modules/{}/build", headers, options_.kernel),
                 "name a tree that has them: --headers DIR, or put their .deb files into --debs",
                 {}};
  if (found->preempt_rt)
    return Error{ErrorCode::unsupported,
                 "NVIDIA's driver does not support real-time kernels (PREEMPT_RT)",
                 options_.kernel,
                 "choose another kernel",
                 {}};
  ModuleBuild build;
  build.version = driver_.version;
  build.flavour = nvidia::to_string(options_.flavour);
  build.kernel_release = options_.kernel;
  build.source = source;
  build.compression = *options_.compress;
  build.sign_key = options_.sign_key;
  build.sign_certificate = options_.sign_cert;
  const std::string program = compiler_program(found->compiler);
  build.compiler = find_program(*root, program);
  if (build.compiler.empty()) build.compiler = "/usr/bin/" + program;  // build.run says that it is missing
  build.hint = fmt::format("install make and {} in {}", program, options_.root);
  build.identity = found->identity;
  return action::to_json(make_build(build));
}

Status PackageBuild::check_modules(const std::string& folder) {
  for (const auto& name : built_.modules) {
    SLIPWAY_TRY(bytes, read_file(folder + "/kernel/" + name));
    SLIPWAY_TRY(elf, decompress(bytes));
    SLIPWAY_TRY(info, read_module_info(elf));
    const auto value = [&](const char* key) { return info.contains(key) ? info.find(key)->second : std::string{}; };
    built_.vermagic = value("vermagic");
    if (const auto release = vermagic_release(built_.vermagic); release != options_.kernel)
      return wrong_module(name, fmt::format("is for kernel '{}', not {}", release, options_.kernel));
    if (value("version") != driver_.version)
      return wrong_module(name, fmt::format("is of driver '{}', not {}", value("version"), driver_.version));
    if (!options_.sign_key.empty() && !is_signed_module(elf)) return wrong_module(name, "has no signature");
  }
  if (!fs::exists(folder + "/Module.symvers"))
    return wrong_module("Module.symvers", "is missing, and companion modules need it");
  return {};
}

// The modules' own licence travels with them; their source, where it lies, may not be packed.
Status PackageBuild::add_licence(const std::string& source, const std::string& into) const {
  const std::string from = fmt::format("{}/usr/share/doc/{}/copyright", source, driver_.source.front().package);
  std::error_code code;
  if (!fs::exists(from, code))
    return Error{ErrorCode::corrupt,
                 "the source package holds no licence text",
                 driver_.source.front().file,
                 "use Debian's DKMS package",
                 {}};
  fs::copy_file(from, into + "/copyright", fs::copy_options::overwrite_existing, code);
  if (code) return system_error("copy the licence to", into, code.value());
  return {};
}

Status PackageBuild::remember_failure(const Error& error) {
  built_.fails[options_.kernel] = first_error(error);
  io_.log(fmt::format("{} does not compile for {}: {}", driver_.version, options_.kernel, first_error(error)));
  return {};
}

Status PackageBuild::build_modules(const Scratch& scratch) {
  SLIPWAY_TRY(headers, prepare_headers(scratch));
  SLIPWAY_TRY(build, plan_build(headers, source_));
  const std::string into = scratch.at(std::string("package/") + kModulesLayer);
  const std::string log = fmt::format("{}/slipway-driver-{}-{}.log", Scratch::parent(options_.scratch), driver_.version,
                                      options_.kernel);  // stays when it fails: the error names it
  const Json request{
      {"build", build},        {"log", log},         {"source", scratch.at(std::string("package/") + kSourceLayer)},
      {"root", options_.root}, {"headers", headers}, {"into", into}};
  io_.log(fmt::format("compiling {} for {}; this takes a few minutes", driver_.version, options_.kernel));
  const auto done = io_.core("build.run", request);
  if (!done && done.error().code == ErrorCode::build_failed && options_.record_failure)
    return remember_failure(done.error());
  if (!done) return done.error();
  std::error_code ignored;
  fs::remove(log, ignored);
  built_.kernel_release = options_.kernel;
  built_.modules = module_file_names(source_, *options_.compress);
  if (!options_.sign_cert.empty()) {
    SLIPWAY_TRY(subject, certificate_subject(options_.sign_cert));
    built_.signer = subject;
  }
  SLIPWAY_CHECK(check_modules(into));
  return add_licence(scratch.at(std::string("package/") + kSourceLayer), into);
}

Status PackageBuild::pack(const Scratch& scratch) {
  const std::string description = scratch.at("package/package.yaml");
  std::ofstream file(description, std::ios::binary);
  file << pretty(describe(built_));
  file.close();
  if (!file) return Error{ErrorCode::io, "the package's description cannot be written", description, {}, {}};
  const Json request{{"directory", scratch.at("package")}, {"output", options_.output}, {"tags", Json::array()}};
  SLIPWAY_TRY(packed, io_.core("pkg.build", request));
  io_.print(fmt::format("{}: {} {} for {}\n", options_.output, built_.version, nvidia::to_string(built_.flavour),
                        built_.modules.empty() ? "no kernel, source only" : built_.kernel_release));
  for (const auto& tag : packed.value("tags", Json::array())) io_.print(fmt::format("  {}\n", tag.get<std::string>()));
  return {};
}

// The root's own compiler makes the modules, for the processor that it is for.
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

Status PackageBuild::run() {
  SLIPWAY_TRY(debs, list_debs(options_.debs));
  debs_ = std::move(debs);
  SLIPWAY_TRY(driver, choose_driver_debs(debs_, options_.flavour));
  driver_ = std::move(driver);
  SLIPWAY_TRY(root, open_host({.root = options_.root}));
  built_.version = driver_.version;
  built_.flavour = options_.flavour;
  built_.default_flavour = options_.default_flavour;
  built_.os = options_.os.empty() ? os_tag(*root) : options_.os;
  if (!options_.compress) options_.compress = default_compression(built_.os);
  built_.arch = machine_of(driver_.architecture);
  SLIPWAY_CHECK(check_compiler_root(*root));
  built_.fails = recorded_failures(options_.output, built_);
  built_.fails.erase(options_.kernel);
  SLIPWAY_TRY(scratch, Scratch::make(options_.scratch));
  SLIPWAY_CHECK(lay_out(scratch));
  if (!options_.kernel.empty()) SLIPWAY_CHECK(build_modules(scratch));
  return pack(scratch);
}

}  // namespace slipway::driver
