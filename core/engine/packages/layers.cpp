// SPDX-License-Identifier: Apache-2.0
#include "core/engine/packages/layers.hpp"

#include <chrono>
#include <filesystem>
#include <utility>

#include <slipway/regular_file.hpp>
#include <slipway/root_dir.hpp>

#include "base/write/new_file.hpp"
#include "base/write/tree.hpp"
#include "core/action/store/store.hpp"
#include "core/engine/packages/compiled_cache.hpp"
#include "core/engine/packages/compiled_key.hpp"
#include "core/engine/shown_build.hpp"

namespace slipway::core {
namespace {

namespace fs = std::filesystem;

/// The folder for compiling in the cache; removed with all its contents at the end.
class SourceFolder {
 public:
  explicit SourceFolder(fs::path path) : path_(std::move(path)) {
    std::error_code code;
    (void)base::remove_tree(path_.string()).ok();
    fs::create_directories(path_.parent_path(), code);
  }
  SourceFolder(const SourceFolder&) = delete;
  SourceFolder& operator=(const SourceFolder&) = delete;
  ~SourceFolder() { (void)base::remove_tree(path_.string()).ok(); }
  std::string path() const { return path_.string(); }

 private:
  fs::path path_;
};

}  // namespace

Result<Json> ComponentLayers::source_of(const Json& layer) const {
  const std::string key = layer.value("source", "");
  const auto found = sources_.find(key);
  if (found == sources_.end())
    return Error{ErrorCode::plugin_defect,
                 "the plan of " + component_ + " unpacks from the source '" + key + "', which its spec does not name",
                 {},
                 "report it to the plugin's authors",
                 {}};
  Json source = found->second;
  // The plan was made from this manifest, which the lock or the spec's digest pins; `trust: unsigned` stays as it is.
  if (layer.contains("pinned") && layer["pinned"].get<bool>()) source["digest"] = layer.value("manifest", "");
  return source;
}

Status ComponentLayers::fetch(const Json& layers) {
  std::map<std::string, Json> wanted;  // by source, so that each source is asked once
  for (const Json& layer : layers) {
    SLIPWAY_TRY(source, source_of(layer));
    Json& request = wanted[canonical(source)];
    request["source"] = source;
    request["layers"].push_back(layer.value("descriptor", Json::object()));
  }
  for (auto& [text, request] : wanted) {
    request["cache"] = session_.cache();
    SLIPWAY_CHECK(session_.artifact(component_, "fetch", request));
  }
  return {};
}

Status ComponentLayers::unpack(const Json& layer, const std::string& into) {
  SLIPWAY_TRY(source, source_of(layer));
  const Json request{{"source", source},
                     {"cache", session_.cache()},
                     {"layer", layer.value("descriptor", Json::object())},
                     {"into", into}};
  SLIPWAY_CHECK(session_.artifact(component_, "stage", request));
  return {};
}

Status ComponentLayers::stage(const Json& layer, const std::string& into) {
  return layer.value("build", Json{}).is_null() ? unpack(layer, into) : compile(layer, into);
}

Status ComponentLayers::compile(const Json& layer, const std::string& into) {
  const std::string name = layer["build"].value("name", component_);
  const auto& key = key_of(layer);
  if (key && take_compiled(*key, name, into)) return {};
  SLIPWAY_CHECK(run_compiler(layer, into));
  if (!key) return {};
  const Status kept = CompiledCache(session_.cache()).keep(*key, name, into);
  if (!kept) session_.ui().log(Ui::Level::warning, component_, name + " is not kept for later: " + kept.error().what);
  return {};
}

/// Compiling is always possible instead, so an unusable entry is only a warning.
bool ComponentLayers::take_compiled(const Json& key, const std::string& name, const std::string& into) {
  const CompiledCache cache(session_.cache());
  if (cache.has(key))
    session_.ui().step({component_, "stage"}, "taking " + name + " from the cache: it is compiled already");
  const auto taken = cache.take(key, into);
  if (!taken) session_.ui().log(Ui::Level::warning, component_, name + " is compiled again: " + taken.error().what);
  return taken && *taken;
}

Status ComponentLayers::run_compiler(const Json& layer, const std::string& into) {
  const Json& build = layer["build"];
  const SourceFolder source(build_file(layer, ".source"));
  SLIPWAY_CHECK(unpack(layer, source.path()));
  sandbox::BuildRequest request;
  request.build = build;
  request.source = source.path();
  request.root = session_.host_config().root;
  request.into = into;
  request.log = build_file(layer, ".log");
  request.limit = std::chrono::duration_cast<std::chrono::seconds>(session_.package_time(request.limit));
  if (request.limit.count() == 0) return session_.out_of_package_time("compiling");
  session_.ui().step({component_, "stage"}, "compiling " + build.value("name", component_));
  const Status built = run_build_shown(request, session_.ui(), {component_, "stage"});
  if (!built && built.error().code == ErrorCode::timed_out && session_.package_time(request.limit).count() == 0)
    return session_.out_of_package_time("compiling");
  if (!built && built.error().code == ErrorCode::build_failed) remember_failure(layer, built.error());
  return built;
}

const std::optional<Json>& ComponentLayers::key_of(const Json& layer) const {
  const auto [found, is_new] = keys_.try_emplace(layer_key(layer));
  if (!is_new) return found->second;
  const HostConfig& config = session_.host_config();
  const auto root = RootDir::open(config.root);
  auto key = root ? compiled_key(layer, *root, config.live) : Result<Json>(root.error());
  if (key)
    found->second = std::move(*key);
  else
    session_.ui().log(Ui::Level::debug, component_, "what is compiled is not kept for later: " + key.error().what);
  return found->second;
}

bool ComponentLayers::is_compiled(const Json& layer) const {
  if (layer.value("build", Json{}).is_null()) return false;
  const CompiledCache cache(session_.cache());
  if (cache.absent()) return false;
  const auto& key = key_of(layer);
  return key && cache.has(*key);
}

std::string ComponentLayers::build_file(const Json& layer, const std::string& ending) const {
  std::string key = layer_key(layer);
  if (const auto colon = key.find(':'); colon != std::string::npos) key = key.substr(colon + 1);
  return session_.cache() + "/builds/" + key + ending;
}

void ComponentLayers::remember_failure(const Json& layer, const Error& error) const {
  const std::string file = build_file(layer, ".json");
  if (!base::put_file(file, pretty(to_json(error))))
    session_.ui().log(Ui::Level::warning, component_, "cannot record the failed build in " + file);
}

std::optional<Error> ComponentLayers::known_failure(const Json& layer) const {
  const std::string file = build_file(layer, ".json");
  const auto text = read_regular(file, std::size_t{1} << 24U);
  const Json value = text ? parse_foreign(*text) : Json(Json::value_t::discarded);
  if (value.is_discarded()) return std::nullopt;
  Error error = error_from_json(value);
  error.what = "an earlier build failed, and nothing that it depends on has changed since: " + error.what;
  error.details.emplace_back("record", file + " (remove this file to try again)");
  return error;
}

}  // namespace slipway::core
