// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "driver/detect/root_layout.hpp"
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

Status check_build_tools(const HostFacts& facts, const std::string& kernel, const std::string& hint) {
  const std::string why = fmt::format("the driver's modules must be compiled for kernel {}, ", kernel);
  const std::string next = hint + "; or put a package for this kernel into the source: `slipway driver build`";
  if (!facts.headers)
    return cannot_compile(why + "and its headers are not installed", fmt::format("/lib/modules/{}/build", kernel),
                          next);
  if (facts.headers->preempt_rt)
    return Error{ErrorCode::unsupported,
                 why + "and NVIDIA's driver does not support real-time kernels (PREEMPT_RT)",
                 facts.headers->path,
                 "use a kernel without PREEMPT_RT",
                 {}};
  if (!facts.has_make) return cannot_compile(why + "and there is no make", "/usr/bin/make", next);
  if (facts.compiler.empty())
    return cannot_compile(
        why + fmt::format("and its compiler {} is not there", compiler_program(facts.headers->compiler)), "/usr/bin",
        next);
  return {};
}

Result<Json> plan_build(const Settings& settings, const HostFacts& facts, const Package& package,
                        const std::string& kernel, Receipt& receipt) {
  auto source = source_tree_from_json(layer_note(package.source, annotation::kSource));
  if (!source) return in_package(std::move(source).error(), package);
  ModuleBuild build;
  build.version = package.version;
  build.flavour = nvidia::to_string(package.flavour);
  build.kernel_release = kernel;
  build.source = *source;
  build.compression = facts.module_compression == "gz" ? "" : facts.module_compression;
  build.sign_key = settings.sign_key;
  build.sign_certificate = settings.sign_certificate;
  const std::string program = compiler_program(facts.headers ? facts.headers->compiler : "");
  build.hint = headers_hint(facts.os_family, kernel, program);
  SLIPWAY_CHECK(check_build_tools(facts, kernel, build.hint));
  build.compiler = facts.compiler;
  build.identity = facts.headers->identity;
  receipt.modules = module_file_names(*source, build.compression);
  return action::to_json(make_build(build));
}

std::string libdir_of(const Settings& settings, const HostFacts& facts, const PackageFiles& files) {
  if (settings.libdir == "none") return {};
  if (settings.libdir.starts_with('/')) return settings.libdir;
  return facts.public_libdir.empty() ? "/" + files.libdir : facts.public_libdir;
}

}  // namespace

Result<Installation> plan_installation(const Settings& settings, const HostFacts& facts, const Choice& choice,
                                       const std::string& kernel_release) {
  const Package& package = *choice.package;
  auto files = package_files_from_json(layer_note(package.userspace, annotation::kFiles));
  if (!files) return in_package(std::move(files).error(), package);
  Installation installation;
  installation.package = &package;
  Receipt& receipt = installation.receipt;
  receipt.version = package.version;
  receipt.flavour = nvidia::to_string(package.flavour);
  receipt.kernel_release = kernel_release;
  receipt.compiled = choice.compile;
  receipt.manifest = package.digest;
  receipt.files = *files;
  receipt.firmware = !package.firmware.is_null();
  receipt.libdir = libdir_of(settings, facts, *files);
  if (choice.compile) {
    SLIPWAY_TRY(build, plan_build(settings, facts, package, kernel_release, receipt));
    installation.build = build;
    return installation;
  }
  const Json names = layer_note(package.modules, annotation::kModules);
  for (const auto& name : names.is_array() ? names : Json::array())
    if (name.is_string()) receipt.modules.push_back(name);
  if (receipt.modules.empty())
    return in_package({ErrorCode::corrupt,
                       fmt::format("the modules layer does not list its modules ({})", annotation::kModules),
                       {},
                       {},
                       {}},
                      package);
  return installation;
}

}  // namespace slipway::driver
