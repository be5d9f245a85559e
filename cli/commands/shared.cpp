// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <slipway/write/standard_output.hpp>

#include "cli/command.hpp"
#include "cli/recorded_apply.hpp"
#include "cli/render/text.hpp"
#include "core/service/service_ui.hpp"

namespace slipway::core {
namespace {

constexpr const char* kDefaultSpec = "/etc/slipway/host.yaml";
constexpr const char* kLockBesideSpec = "slipway.lock";

bool readable(const std::string& file) { return ::access(file.c_str(), R_OK) == 0; }

std::string beside(const std::string& file, const std::string& name) {
  const std::size_t slash = file.rfind('/');
  return slash == std::string::npos ? name : file.substr(0, slash + 1) + name;
}

/// --lock, else slipway.lock beside the spec, else what the generation in force pins.
Result<Lock> load_lock(Session& session, const Options& options, const std::string& spec_file) {
  if (!options.lock.empty())
    return readable(options.lock) || options.locked ? Lock::read(options.lock) : Result<Lock>(Lock{});
  const std::string near = beside(spec_file, kLockBesideSpec);
  if (readable(near)) return Lock::read(near);
  SLIPWAY_TRY(current, session.state().current());
  if (!current) return Lock{};
  return Lock::from_json(current->lock, "generation " + std::to_string(current->number));
}

Result<SpecAndLock> from_generation(Session& session) {
  SLIPWAY_CHECK(session.state().check_format());
  SLIPWAY_TRY(current, session.state().current());
  if (!current)
    return Error{ErrorCode::not_found,
                 "there is no host spec",
                 kDefaultSpec,
                 "write a first one with `slipway init > host.yaml`, or name yours with -f",
                 {}};
  SpecAndLock loaded;
  loaded.from_generation = true;
  SLIPWAY_TRY(spec, host_spec_from_json(current->spec, current->spec_file, session.plugins()));
  SLIPWAY_TRY(lock, Lock::from_json(current->lock, "generation " + std::to_string(current->number)));
  loaded.spec = std::move(spec);
  loaded.lock = std::move(lock);
  return loaded;
}

}  // namespace

Result<SpecAndLock> load_spec(Session& session, const Options& options) {
  const std::string& root = session.host_config().root;
  const std::string standard = (root == "/" ? "" : root) + kDefaultSpec;
  SpecAndLock loaded;
  if (options.boot || (options.spec.empty() && !readable(standard))) {
    SLIPWAY_TRY(generation, from_generation(session));
    loaded = std::move(generation);
  } else {
    const std::string file = options.spec.empty() ? standard : options.spec;
    SLIPWAY_TRY(spec, read_host_spec(file, session.plugins()));
    SLIPWAY_TRY(lock, load_lock(session, options, file));
    loaded.spec = std::move(spec);
    loaded.lock = std::move(lock);
  }
  if (options.update) loaded.lock = Lock{};
  session.set_hardware(loaded.spec.hardware);
  return loaded;
}

Result<std::unique_ptr<Session>> open_session(const Options& options, TerminalUi& ui) {
  SessionOptions wanted = options.session;
  wanted.shipped_unit = options.boot;
  wanted.spec = options.spec;
  auto session = Session::open(wanted, ui);
  if (session) ui.set_generation(generation_in_force((*session)->root().root()));
  return session;
}

void print(const std::string& text) { write_standard_output(text); }

void print_wrapped(const std::string& text) { print(wrapped(text, columns_of(STDOUT_FILENO))); }

Result<int> finish_apply(const Options& options, const ApplyResult& result, TerminalUi& ui) {
  if (result.generation != 0) ui.set_generation(result.generation);
  if (!options.lock.empty() && !options.locked && !result.run.failed())
    SLIPWAY_CHECK(result.run.lock.write(options.lock));
  if (options.output == "text")
    print_wrapped(apply_text(result, options.session.root));
  else
    print(json_text(apply_json(result), options.output));
  for (const PlannedComponent& component : result.run.components)
    if (component.error)
      ui.failed(component.name, *component.error, error_text(*component.error, component.name, &result.run.spec));
  if (result.error) ui.failed({}, *result.error, to_text(*result.error));
  return apply_exit_code(result);
}

}  // namespace slipway::core
