// SPDX-License-Identifier: Apache-2.0
#include <sstream>

#include "app/garbage.hpp"
#include "base/log/lines.hpp"
#include "cli/command.hpp"
#include "cli/render/text.hpp"

namespace slipway::cli {
namespace {

std::string garbage_text(const app::Garbage& garbage, bool dry_run) {
  std::ostringstream text;
  for (const int number : garbage.generations) text << "  generation " << number << '\n';
  for (const std::string& path : garbage.paths) text << "  " << base::printable(path) << '\n';
  for (const std::string& file : garbage.cache) text << "  " << file << '\n';
  if (garbage.generations.empty() && garbage.paths.empty() && garbage.cache.empty()) return "Nothing to delete.\n";
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
  const Json result = envelope("Garbage", {{"bytes", garbage.bytes},
                                           {"cache", garbage.cache},
                                           {"dry_run", options.dry_run},
                                           {"generations", garbage.generations},
                                           {"paths", garbage.paths}});
  if (options.output == "text")
    print_wrapped(garbage_text(garbage, options.dry_run));
  else
    print(json_text(result, options.output));
  (void)lock;
  return core::kExitDone;
}

}  // namespace slipway::cli
