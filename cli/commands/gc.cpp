// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <sstream>
#include <string>
#include <vector>

#include "app/garbage.hpp"
#include "base/log/lines.hpp"
#include "cli/command.hpp"
#include "cli/render/text.hpp"

namespace slipway::cli {
namespace {

std::vector<std::string> compiled_paths(const core::Session& session, const app::Garbage& garbage) {
  std::vector<std::string> paths;
  for (const core::CompiledEntry& entry : garbage.compiled)
    paths.push_back(core::CompiledCache(session.cache()).path_of(entry));
  return paths;
}

std::string garbage_text(const app::Garbage& garbage, const std::vector<std::string>& compiled, bool dry_run) {
  std::ostringstream text;
  for (const int number : garbage.generations) text << "  generation " << number << '\n';
  for (const std::string& path : garbage.paths) text << "  " << base::printable(path) << '\n';
  for (const std::string& file : garbage.cache) text << "  " << file << '\n';
  for (std::size_t i = 0; i < compiled.size(); ++i) {
    const std::string& name = garbage.compiled[i].name;
    text << "  " << compiled[i] << " (" << (name.empty() ? "damaged or not complete" : base::printable(name)) << ")\n";
  }
  if (garbage.generations.empty() && garbage.paths.empty() && garbage.cache.empty() && compiled.empty())
    return "Nothing to delete.\n";
  text << (dry_run ? "Would delete " : "Deleted ") << garbage.generations.size() << " generations and "
       << (dry_run ? "free " : "freed ") << mebibytes(garbage.bytes) << ".\n";
  return text.str();
}

}  // namespace

Result<int> run_gc(const Options& options, TerminalUi& ui) {
  SLIPWAY_TRY(session, open_session(options, ui));
  SLIPWAY_TRY(lock, core::RootLock::take(session->host_config().root, session->host_config().live));
  SLIPWAY_TRY(garbage, app::find_garbage(*session));
  if (!options.dry_run) SLIPWAY_CHECK(app::remove_garbage(*session, garbage));
  const std::vector<std::string> compiled = compiled_paths(*session, garbage);
  const Json result = envelope("Garbage", {{"bytes", garbage.bytes},
                                           {"cache", garbage.cache},
                                           {"compiled", compiled},
                                           {"dry_run", options.dry_run},
                                           {"generations", garbage.generations},
                                           {"paths", garbage.paths}});
  if (options.output == "text")
    print_wrapped(garbage_text(garbage, compiled, options.dry_run));
  else
    print(json_text(result, options.output));
  (void)lock;
  return core::kExitDone;
}

}  // namespace slipway::cli
