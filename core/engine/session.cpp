// SPDX-License-Identifier: Apache-2.0
#include "core/engine/session.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>

#include <sys/stat.h>
#include <unistd.h>

#include "core/engine/apply/layers.hpp"
#include "core/engine/plan/sources.hpp"
#include "core/engine/verify/advice.hpp"
#include "core/loader/installation.hpp"
#include "sandbox/sandbox.hpp"

#ifndef SLIPWAY_LIBEXEC_DIR
#error "the build names the folder of the helper programs"
#endif

namespace slipway::core {
namespace {

namespace fs = std::filesystem;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string{} : std::string(value);
}

/// /var/cache/slipway, or the user's cache folder.
std::string default_cache() {
  if (::geteuid() == 0) return "/var/cache/slipway";
  if (const std::string xdg = environment("XDG_CACHE_HOME"); !xdg.empty()) return xdg + "/slipway";
  return environment("HOME") + "/.cache/slipway";
}

Result<std::string> absolute_folder(const std::string& path) {
  std::error_code code;
  const fs::path absolute = fs::canonical(path, code);
  if (code)
    return Error{ErrorCode::not_found,
                 "the root " + path + " cannot be opened: " + code.message(),
                 path,
                 "make the folder first (an empty one will do), or name another with --root",
                 {}};
  return absolute.string();
}

/// What a hermetic component is asked only once: not `verify`, which tries things, and what acts.
bool is_kept(const std::string& op) { return op == "detect" || op == "check" || op == "plan"; }

/// A worker gives up, once and for good, all that its place or source does not need: so each of those has its own.
std::string artifact_worker(const std::string& component, const std::string& op, const Json& request) {
  if (op == "stage" || op == "build") {
    const std::string into = request.value(op == "build" ? "output" : "into", "");
    return op + "/" + component + into.substr(0, into.rfind('/'));
  }
  const Json source = request.value("source", Json());
  const std::string login = source.is_object() ? source.value("auth", "") : "";
  return "artifact/" + component + " from " + source_address(source) + (login.empty() ? "" : " with " + login);
}

/// What plugins say while a command is at work is for who asks for it, unless it is a warning: the steps tell the rest.
Ui::Level level_of(const std::string& word) { return word == "warning" ? Ui::Level::warning : Ui::Level::debug; }

}  // namespace

std::string helper_path(const std::string& name) {
  std::error_code code;
  for (const char* folder : {"bin", "libexec/slipway"})
    if (const fs::path file = own_prefix() / folder / name; fs::exists(file, code)) return file.string();
  return std::string(SLIPWAY_LIBEXEC_DIR) + "/" + name;
}

Result<std::optional<std::int64_t>> source_date_epoch() {
  const std::string text = environment("SOURCE_DATE_EPOCH");
  if (text.empty()) return std::optional<std::int64_t>{};
  std::int64_t seconds = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (problem != std::errc{} || end != text.data() + text.size() || seconds < 0)
    return Error{ErrorCode::usage,
                 "SOURCE_DATE_EPOCH is '" + text + "', not a number of seconds since 1970",
                 "environment",
                 "unset it, or set it to a whole number",
                 {}};
  return std::optional<std::int64_t>{seconds};
}

Result<std::unique_ptr<Session>> Session::open(const SessionOptions& options, Ui& ui) {
  std::unique_ptr<Session> session(new Session(options, ui));
  SLIPWAY_CHECK(session->open_host_and_root());
  SLIPWAY_TRY(plugins, discover_plugins(plugin_folders(!options.own_environment)));
  session->plugins_ = std::move(plugins);
  for (const Error& problem : session->plugins_.problems)
    ui.log(Ui::Level::warning, "",
           "plugin left out: " + problem.what + " (" + problem.where + ")" +
               (problem.next.empty() ? "" : "; to do: " + problem.next));
  session->cache_ = options.cache.empty() ? default_cache() : fs::absolute(options.cache).string();
  if (options.cache.empty() && session->host_config_.root == "/" && !options.live.value_or(true)) {
    // Nothing of a cache is left in the image.
    SLIPWAY_TRY(folder, ScratchFolder::make(fs::temp_directory_path().string(), "slipway-cache"));
    session->cache_ = folder.path();
    session->passing_cache_.emplace(std::move(folder));
  }
  session->answers_ = std::make_unique<Answers>(session->cache_ + "/answers", session->host_config_,
                                                session->simulated_ ? session->simulated_->folder() : "");
  return session;
}

Session::~Session() {
  workers_.clear();
  answers_.reset();  // writes into the cache
}

Status Session::open_host_and_root() {
  SLIPWAY_TRY(folder, absolute_folder(options_.root));
  host_config_.root = folder;
  host_config_.live = options_.live.value_or(folder == "/" && options_.sim.empty());
  name_kernels();
  if (host_config_.live) host_config_.kernel_view = "/";
  if (!options_.sim.empty()) {
    SLIPWAY_TRY(simulated, SimulatedMachine::enter(options_.sim, folder, ui_));
    simulated_ = std::move(simulated);
    host_config_.kernel_view = simulated_->kernel_view();
  }
  SLIPWAY_TRY(epoch, source_date_epoch());
  SLIPWAY_TRY(root, RootDir::open(folder));
  root_ = std::make_unique<RootFs>(std::move(root), epoch);
  state_ = std::make_unique<StateDir>(*root_);
  set_hardware(options_.hardware);
  return open_host_of_root();
}

Status Session::open_host_of_root() {
  SLIPWAY_TRY(host, open_host(host_config_));
  host_ = std::move(host);
  // An empty root of a simulated machine gets that machine's kernel.
  if (host_config_.kernel.empty() && simulated_ && host_->installed_kernels().empty()) {
    host_config_.kernel = simulated_->kernel_release();
    SLIPWAY_TRY(again, open_host(host_config_));
    host_ = std::move(again);
  }
  return {};
}

void Session::name_kernels() {
  const std::vector<std::string>& asked = options_.kernels;
  host_config_.kernel = asked.empty() ? "" : asked.front();
  host_config_.further_kernels.assign(asked.empty() ? asked.end() : asked.begin() + 1, asked.end());
}

Status Session::set_kernels(const std::vector<std::string>& releases) {
  options_.kernels = releases;
  name_kernels();
  return open_host_of_root();
}

void Session::set_hardware(const std::string& word) {
  assumes_hardware_ = word == "assume";
  const bool visible = host_config_.live || !host_config_.kernel_view.empty();
  host_config_.hardware = !word.empty() ? word : visible ? "detect" : "assume";
}

WorkerEvents Session::events(const std::string& component, const std::string& op) {
  WorkerEvents events;
  events.log = [this, about = Subject(component, op)](const std::string& level, const std::string& text) {
    ui_.log(level_of(level), about, text);
  };
  events.progress = [this, component](const std::string& label, std::uint64_t done, std::uint64_t total) {
    ui_.progress(component, label, done, total);
  };
  events.output = [this](const std::string& text) {
    if (tool_output) tool_output(text);
  };
  // Whoever answers could write anywhere as this process: so tools alone ask, and never what reads foreign archives.
  if (op == "tool")
    events.core = [this, component](const std::string& asked, const Json& request) {
      return core_call(component, asked, request);
    };
  return events;
}

Result<Worker*> Session::worker(const std::string& name, const std::string& plugin_path) {
  const std::scoped_lock lock(workers_mutex_);
  auto& slot = workers_[name];
  if (!slot) {
    WorkerOptions options;
    options.plugin_path = plugin_path;
    options.name = name;
    options.trust_environment = !options_.own_environment;
    const Manifest* const manifest = plugins_.manifest(name);
    if (manifest != nullptr && manifest->unlimited_memory) options.memory_limit_bytes = 0;
    options.files_in_memory_count = manifest != nullptr;  // a package may be unpacked to a root in memory
    options.environment = worker_environment();
    SLIPWAY_TRY(started, start_worker(options));
    slot = std::move(started);
  }
  return slot.get();
}

Result<Json> Session::call(const std::string& component, const std::string& op, Json request,
                           std::chrono::milliseconds limit) {
  const auto path = plugins_.component_to_path.find(component);
  if (path == plugins_.component_to_path.end())
    return Error{ErrorCode::not_found,
                 "no plugin has the component " + component,
                 {},
                 "`slipway plugin list` shows the components that there are",
                 {}};
  request["component"] = component;
  const auto ask = [&](const Json& wanted) { return ask_plugin(component, path->second, op, wanted, limit); };
  const Manifest* const manifest = plugins_.manifest(component);
  if (manifest == nullptr || !manifest->hermetic || !is_kept(op)) return ask(request);
  const Json& action = request.value("action", Json::object());
  return answers_->get({.component = component,
                        .slot = op + " " + action.value("target", ""),
                        .request = std::move(request),
                        .asked_of = file_identity(path->second) + "\n" + environment_text(worker_environment()),
                        .looks_at_host = op != "plan"},
                       ask);
}

Result<std::string> Session::plugin_digest(const PluginFile& plugin) {
  const auto hash = [&](const Json&) -> Result<Json> {
    SLIPWAY_TRY(digest, plugin.digest.get());
    return Json(std::move(digest));
  };
  SLIPWAY_TRY(digest, answers_->get({.component = "plugin.digests",  // a component's name has no full stop
                                     .slot = plugin.path,
                                     .request = {},
                                     .asked_of = file_identity(plugin.path)},
                                    hash));
  return digest.get<std::string>();
}

Result<Json> Session::ask_plugin(const std::string& component, const std::string& path, const std::string& op,
                                 const Json& request, std::chrono::milliseconds limit) {
  SLIPWAY_TRY(process, worker(component, path));
  if (simulated_) simulated_->follow_root();
  auto reply = process->call(op, request, limit, events(component, op));
  if (!reply && (reply.error().code == ErrorCode::plugin_defect || reply.error().code == ErrorCode::timed_out)) {
    const std::scoped_lock lock(workers_mutex_);
    workers_.erase(component);  // it is dead or not to be trusted any more; the next call starts afresh
  }
  if (!reply) return advised_by_plugin(std::move(reply).error(), *this);
  return reply;
}

Result<Json> Session::artifact(const std::string& component, const std::string& op, const Json& request) {
  SLIPWAY_TRY(process, worker(artifact_worker(component, op, request), helper_path("slipway-artifact.so")));
  const WorkerEvents shown = events(component, op);
  SLIPWAY_TRY(confined, process->call("confine", {{"op", op}, {"request", request}}, kDetectLimit, shown));
  if (confined == Json{{"landlock", false}})
    shown.log("debug", "this kernel has no Landlock that keeps the worker for archives from writing elsewhere");
  const bool in_apply = op == "catalogue" || op == "fetch" || op == "stage";
  return process->call(op, request, in_apply ? kFetchLimit : kTransferLimit, shown);
}

Result<Json> Session::core_call(const std::string& component, const std::string& op, const Json& request) {
  if (op == "pkg.build") return artifact(component, "build", request);
  if (op == "build.check") {
    Sandbox empty;
    empty.root = request.value("root", "/");
    empty.read_only = true;
    empty.prepare_only = true;
    empty.argv = {"true"};
    empty.environment = sandbox_environment();
    SLIPWAY_CHECK(run_in_sandbox(empty));
    return Json(nullptr);
  }
  if (op != "build.run")
    return Error{ErrorCode::unsupported, "this slipway offers plugins no '" + op + "'", {}, "update slipway", {}};
  BuildRequest build;
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
