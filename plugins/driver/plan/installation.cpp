// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <slipway/text.hpp>

#include "driver/detect/kernel_config.hpp"
#include "driver/detect/root_layout.hpp"
#include "driver/module/module_info.hpp"
#include "driver/package/annotations.hpp"
#include "driver/package/module_build.hpp"
#include "driver/plan/plan.hpp"

namespace slipway::driver {
namespace {

Json layer_note(const Json& layer, const char* name) {
  const auto notes = layer.find("annotations");
  if (notes == layer.end() || !notes->is_object()) return nullptr;
  const auto text = notes->find(name);
  if (text == notes->end() || !text->is_string()) return nullptr;
  return Json::parse(text->get<std::string>(), nullptr, false);
}

Error in_package(Error error, const Package& package) {
  error.where = package.tag.empty() ? package.digest : package.tag;
  error.next = "build the package again with `slipway driver build`";
  return error;
}

Error cannot_compile(const std::string& what, const std::string& where, const std::string& next) {
  return {ErrorCode::not_found, what, where, next, {}};
}

Status check_build_tools(const HostFacts& facts, const KernelFacts& of, const std::string& hint) {
  const std::string& kernel = of.release;
  const std::string why = fmt::format("the driver's modules must be compiled for kernel {}, ", kernel);
  const std::string next = hint + "; or put a package for this kernel into the source: `slipway driver build`";
  if (!of.headers)
    return cannot_compile(why + "and its headers are not installed", fmt::format("/lib/modules/{}/build", kernel),
                          next);
  if (of.headers->preempt_rt)
    return Error{ErrorCode::unsupported,
                 why + "and NVIDIA's driver does not support real-time kernels (PREEMPT_RT)",
                 of.headers->path,
                 "use a kernel without PREEMPT_RT",
                 {}};
  if (!facts.has_make) return cannot_compile(why + "and there is no make", "/usr/bin/make", next);
  if (of.compiler.empty())
    return cannot_compile(why + fmt::format("and its compiler {} is missing", compiler_program(of.headers->compiler)),
                          "/usr/bin", next);
  return {};
}

Result<Json> plan_build(const Settings& settings, const HostFacts& facts, const KernelFacts& kernel,
                        const Package& package, InstalledKernel& installed) {
  auto source = source_tree_from_json(layer_note(package.source, annotation::kSource));
  if (!source) return in_package(std::move(source).error(), package);
  ModuleBuild build;
  build.version = package.version;
  build.flavour = nvidia::to_string(package.flavour);
  build.kernel_release = kernel.release;
  build.source = *source;
  build.compression = kernel.module_compression == "gz" ? "" : kernel.module_compression;
  build.sign_key = settings.sign_key;
  build.sign_certificate = settings.sign_certificate;
  const std::string program = compiler_program(kernel.headers ? kernel.headers->compiler : "");
  build.hint = headers_hint(facts.os_family, kernel.release, program);
  SLIPWAY_CHECK(check_build_tools(facts, kernel, build.hint));
  build.compiler = kernel.compiler;
  build.identity = kernel.headers->identity;
  installed.modules = module_file_names(*source, build.compression);
  return action::to_json(make_build(build));
}

/// Returns the vermagic of a package's modules, from its description; empty: not recorded.
std::string vermagic_of(const Package& package) {
  const Json notes = package.modules.value("annotations", Json::object());
  return notes.is_object() && notes.contains(annotation::kVermagic) && notes[annotation::kVermagic].is_string()
             ? std::string(trimmed(notes[annotation::kVermagic].get_ref<const std::string&>()))
             : std::string{};
}

/// The kernel would refuse modules with another vermagic ("version magic … should be …"): fail before anything is
/// installed.
Status check_vermagic(const KernelFacts& of, const Package& package) {
  const std::string& kernel = of.release;
  const std::string made_for = vermagic_of(package);
  const bool of_kernel = made_for.empty() || vermagic_release(made_for) == kernel;
  if (of_kernel && (made_for.empty() || of.vermagic.empty() || made_for == of.vermagic)) return {};
  return Error{
      ErrorCode::invalid,
      fmt::format(
          "the modules of this package do not fit kernel {}: they were made for '{}', and the kernel takes '{}'",
          kernel, made_for, of.vermagic.empty() ? kernel : of.vermagic),
      package.tag.empty() ? package.digest : package.tag,
      fmt::format("build the package again with the headers of this kernel: `slipway driver build --kernel {}`",
                  kernel),
      {}};
}

std::string libdir_of(const Settings& settings, const HostFacts& facts, const PackageFiles& files) {
  if (settings.libdir == "none") return {};
  if (settings.libdir.starts_with('/')) return settings.libdir;
  return facts.public_libdir.empty() ? "/" + files.libdir : facts.public_libdir;
}

}  // namespace

std::vector<KernelModules> Installation::modules() const {
  std::vector<KernelModules> all{{receipt.kernels().front(), package, build, notes}};
  all.insert(all.end(), further.begin(), further.end());
  return all;
}

Result<KernelModules> plan_modules(const Settings& settings, const HostFacts& facts, const KernelFacts& kernel,
                                   const Choice& choice) {
  const Package& package = *choice.package;
  KernelModules modules{{kernel.release, choice.compile, package.digest, {}}, &package, nullptr, {}};
  if (choice.compile) {
    SLIPWAY_TRY(build, plan_build(settings, facts, kernel, package, modules.kernel));
    modules.build = build;
    return modules;
  }
  SLIPWAY_CHECK(check_vermagic(kernel, package));
  SLIPWAY_CHECK(check_package_fits(facts, kernel, package, modules.notes));
  const Json names = layer_note(package.modules, annotation::kModules);
  for (const auto& name : names.is_array() ? names : Json::array())
    if (name.is_string()) modules.kernel.modules.push_back(name);
  if (modules.kernel.modules.empty())
    return in_package({ErrorCode::corrupt,
                       fmt::format("the modules layer does not list its modules ({})", annotation::kModules),
                       {},
                       {},
                       {}},
                      package);
  return modules;
}

Result<Installation> plan_installation(const Settings& settings, const HostFacts& facts, const Choice& choice,
                                       const std::string& kernel_release) {
  const Package& package = *choice.package;
  auto files = package_files_from_json(layer_note(package.userspace, annotation::kFiles));
  if (!files) return in_package(std::move(files).error(), package);
  Installation installation;
  installation.package = &package;
  KernelFacts kernel = facts.kernel;
  kernel.release = kernel_release;
  SLIPWAY_TRY(modules, plan_modules(settings, facts, kernel, choice));
  installation.build = modules.build;
  installation.notes = modules.notes;
  Receipt& receipt = installation.receipt;
  receipt.version = package.version;
  receipt.flavour = nvidia::to_string(package.flavour);
  receipt.kernel_release = kernel_release;
  receipt.compiled = choice.compile;
  receipt.manifest = package.digest;
  receipt.files = *files;
  receipt.firmware = !package.firmware.is_null();
  receipt.libdir = libdir_of(settings, facts, *files);
  receipt.modules = modules.kernel.modules;
  return installation;
}

}  // namespace slipway::driver
