// SPDX-License-Identifier: Apache-2.0
#include "core/engine/plugin_calls.hpp"

#include <algorithm>
#include <filesystem>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/engine/advice.hpp"
#include "core/engine/shown_build.hpp"
#include "core/engine/stop.hpp"
#include "core/loader/installation.hpp"
#include "core/spec/document.hpp"
#include "sandbox/sandbox.hpp"

#ifndef SLIPWAY_LIBEXEC_DIR
#error "the build names the folder of the helper programs"
#endif

namespace slipway::core {
namespace {

namespace fs = std::filesystem;

/// Returns /var/cache/slipway, or the user's cache folder.
std::string default_cache() {
  if (::geteuid() == 0) return "/var/cache/slipway";
  if (const std::string xdg = environment("XDG_CACHE_HOME"); !xdg.empty()) return xdg + "/slipway";
  return environment("HOME") + "/.cache/slipway";
}

/// A worker drops all access that its component or source does not need, for good: so each of these has its own worker.
std::string artifact_worker(const std::string& component, const std::string& op, const Json& request) {
  if (op == "stage" || op == "build") {
    const std::string into = request.value(op == "build" ? "output" : "into", "");
    return op + "/" + component + into.substr(0, into.rfind('/'));
  }
  const Json source = request.value("source", Json());
  const std::string login = source.is_object() ? source.value("auth", "") : "";
  return "artifact/" + component + " from " + source_address(source) + (login.empty() ? "" : " with " + login);
}

/// Messages of plugins have level debug unless they are warnings: the steps describe the rest.
Ui::Level level_of(const std::string& word) { return word == "warning" ? Ui::Level::warning : Ui::Level::debug; }

}  // namespace

std::string helper_path(const std::string& name) {
  std::error_code code;
  for (const char* folder : {"bin", "libexec/slipway"})
    if (const fs::path file = own_prefix() / folder / name; fs::exists(file, code)) return file.string();
  return std::string(SLIPWAY_LIBEXEC_DIR) + "/" + name;
}

RunPage::RunPage() : memory_(::memfd_create("slipway-run", MFD_CLOEXEC | MFD_ALLOW_SEALING)) {
  constexpr off_t kBytes = 4096;
  if (memory_ && ::ftruncate(memory_.get(), kBytes) != 0) memory_ = Fd();
  // A worker that shortened the page would end the other workers by SIGBUS. All workers write to the page, so it is not
  // sealed against writing.
  if (memory_ && ::fcntl(memory_.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) memory_ = Fd();
}

std::string RunPage::environment() const {
  const std::string file =
      memory_ ? "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(memory_.get()) : std::string();
  return "SLIPWAY_RUN_PAGE=" + file;
}

Status PluginCalls::open() {
  const SessionOptions& options = machine_.options();
  SLIPWAY_TRY(plugins, discover_plugins(plugin_folders(!options.own_environment)));
  plugins_ = std::move(plugins);
  for (const Error& problem : plugins_.problems)
    ui_.log(Ui::Level::warning, "",
            "plugin left out: " + problem.what + " (" + problem.where + ")" +
                (problem.next.empty() ? "" : "; to do: " + problem.next));
  cache_ = options.cache.empty() ? default_cache() : fs::absolute(options.cache).string();
  if (options.cache.empty() && machine_.host_config().root == "/" && !options.live.value_or(true)) {
    // No part of a cache may stay in the image.
    SLIPWAY_TRY(folder, base::ScratchFolder::make(fs::temp_directory_path().string(), "slipway-cache"));
    cache_ = folder.path();
    passing_cache_.emplace(std::move(folder));
  }
  return {};
}

WorkerEvents PluginCalls::events(const std::string& component, const std::string& op) {
  WorkerEvents events;
  events.log = [this, about = Subject(component, op)](const std::string& level, const std::string& text) {
    ui_.log(level_of(level), about, text);
  };
  events.progress = [this, component](const std::string& label, std::uint64_t done, std::uint64_t total) {
    ui_.progress(component, {label, done, total});
  };
  events.output = [this](const std::string& text) {
    if (tool_output) tool_output(text);
  };
  // This process answers with its own rights, and may write anywhere: so only tools may send requests, never a worker
  // that reads foreign archives.
  if (op == "tool")
    events.core = [this, component](const std::string& asked, const Json& request) {
      return core_call(component, asked, request);
    };
  return events;
}

Result<Worker*> PluginCalls::worker(const std::string& name, const std::string& plugin_path) {
  const std::scoped_lock lock(workers_mutex_);
  auto& slot = workers_[name];
  if (!slot) {
    WorkerOptions options;
    options.plugin_path = plugin_path;
    options.name = name;
    options.trust_environment = !machine_.options().own_environment;
    const Manifest* const manifest = plugins_.manifest(name);
    if (manifest != nullptr && manifest->unlimited_memory) options.memory_limit_bytes = 0;
    options.files_in_memory_count = manifest != nullptr;  // a package may be unpacked to a root in memory
    options.environment = machine_.worker_environment();
    if (manifest != nullptr) options.environment.push_back(page_.environment());
    options.reads_input = passes_input_on;
    SLIPWAY_TRY(started, start_worker(options));
    slot = std::move(started);
  }
  return slot.get();
}

Result<Json> PluginCalls::call(const std::string& component, const std::string& op, Json request,
                               std::chrono::milliseconds limit) {
  const auto path = plugins_.component_to_path.find(component);
  if (path == plugins_.component_to_path.end())
    return Error{ErrorCode::not_found,
                 "no plugin has the component " + component,
                 {},
                 "`slipway plugin list` lists the components",
                 {}};
  request["component"] = component;
  SLIPWAY_TRY(process, worker(component, path->second));
  if (machine_.simulated() != nullptr) machine_.simulated()->follow_root();
  auto reply = process->call(op, request, limit, events(component, op));
  if (!reply && (reply.error().code == ErrorCode::plugin_defect || reply.error().code == ErrorCode::timed_out)) {
    const std::scoped_lock lock(workers_mutex_);
    workers_.erase(component);  // the worker has ended or cannot be trusted any more; the next call starts a new one
  }
  if (!reply) return advised_by_plugin(std::move(reply).error(), machine_);
  return reply;
}

std::chrono::milliseconds PluginCalls::package_time(std::chrono::milliseconds limit) const {
  const std::chrono::milliseconds all = machine_.options().package_limit;
  if (all.count() == 0) return limit;
  const auto passed = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin_);
  return std::clamp(all - passed, std::chrono::milliseconds(0), limit);
}

Error PluginCalls::out_of_package_time(const std::string& unfinished) const {
  return {ErrorCode::unreachable,
          "a boot has " + std::to_string(machine_.options().package_limit.count()) +
              " s for all packages, and this time ran out while " + unfinished,
          {},
          "when the source answers again, run `systemctl restart slipway-boot.service`",
          {}};
}

Result<Json> PluginCalls::artifact(const std::string& component, const std::string& op, const Json& request) {
  const bool in_apply = op == "catalogue" || op == "fetch" || op == "stage";
  const std::string unfinished = op == "stage" ? "unpacking" : "waiting for the source of " + component;
  if (in_apply && package_time(kFetchLimit).count() == 0) return out_of_package_time(unfinished);
  SLIPWAY_TRY(process, worker(artifact_worker(component, op, request), helper_path("slipway-artifact.so")));
  WorkerEvents shown = events(component, op);
  if (op == "catalogue" || op == "fetch") shown.cancel = &stop_flag();  // these do not change the root
  SLIPWAY_TRY(confined, process->call("confine", {{"op", op}, {"request", request}}, kDetectLimit, shown));
  const auto lacks = [&confined](const char* name) {
    return confined.is_object() && confined.value(name, Json()) == Json(false);
  };
  if (lacks("landlock"))
    shown.log("debug", "this kernel has no Landlock, which would keep the worker for archives from writing elsewhere");
  if (lacks("filter"))
    shown.log("debug", "this kernel does not support the system call filter of the worker for archives");
  auto reply = process->call(op, request, in_apply ? package_time(kFetchLimit) : kTransferLimit, shown);
  if (!reply && in_apply && package_time(kFetchLimit).count() == 0) return out_of_package_time(unfinished);
  if (reply || shown.cancel == nullptr || reply.error().code != ErrorCode::timed_out) return reply;
  Error silent = std::move(reply).error();  // the source counts as missing now, and may answer later
  silent.code = ErrorCode::unreachable;
  return silent;
}

Result<Json> PluginCalls::core_call(const std::string& component, const std::string& op, const Json& request) {
  if (op == "pkg.build") return artifact(component, "build", request);
  if (op == "source.read" && read_source) return read_source(component, request);
  if (op == "build.check") {
    sandbox::Sandbox empty;
    empty.root = request.value("root", "/");
    empty.read_only = true;
    empty.prepare_only = true;
    empty.argv = {"true"};
    empty.environment = sandbox::sandbox_environment();
    SLIPWAY_CHECK(sandbox::run_in_sandbox(empty));
    return Json(nullptr);
  }
  if (op != "build.run")
    return Error{ErrorCode::unsupported,
                 "this slipway does not offer plugins the operation '" + op + "'",
                 {},
                 "update slipway",
                 {}};
  sandbox::BuildRequest build;
  build.build = request.value("build", Json::object());
  build.source = request.value("source", "");
  build.root = request.value("root", "/");
  build.headers = request.value("headers", "");
  build.into = request.value("into", "");
  build.log = request.value("log", build.into + ".log");
  SLIPWAY_CHECK(run_build_shown(build, ui_, component));
  return Json(nullptr);
}

}  // namespace slipway::core
