// SPDX-License-Identifier: Apache-2.0
// slipway-cdi-hook NAME [OPTION VALUE …]: runs one hook that a CDI spec names, on the container whose state is on
// standard input.
#include <cstdio>

#include "base/log/lines.hpp"
#include "base/write/standard_output.hpp"
#include "hook.hpp"

namespace slipway::hook {
namespace {

const std::vector<Hook>& hooks() {
  static const std::vector<Hook> all{
      {"create-symlinks", {"link"}, create_symlinks},
      {"update-ldcache", {"folder", "ldconfig-path"}, update_ldcache},
      {"enable-cuda-compat",
       {"host-driver-version", "host-cuda-version", "cuda-compat-container-root"},
       enable_cuda_compat},
      {"disable-device-node-modification", {}, disable_device_node_modification},
      {"update-application-profile", {}, update_application_profile},
      {"chmod", {"mode", "path"}, change_mode},
  };
  return all;
}

void say(const std::string& name, const Error& error) {
  std::fputs(base::printable("slipway-cdi-hook " + name + ": " + to_text(error), true).c_str(), stderr);
}

Status run(const Hook& hook, const std::vector<std::string>& words) {
  std::vector<std::string> known = hook.options;
  known.emplace_back("container-spec");
  SLIPWAY_TRY(arguments, Arguments::parse(words, known));
  SLIPWAY_TRY(container, read_container(arguments.last("container-spec")));
  return hook.run(arguments, container);
}

int usage() {
  std::string text = "usage: slipway-cdi-hook NAME [OPTION VALUE ...] < STATE\nhooks:";
  for (const Hook& hook : hooks()) text += std::string(" ") + hook.name;
  base::write_standard_output(text + "\nContainer runtimes start it as CDI specs say; see docs/components/cdi.md.\n");
  const Status written = base::standard_output_status();
  if (!written) say("--help", written.error());
  return written ? 0 : 1;
}

/// A spec of a newer program may name hooks that this one does not have: the container starts without them.
int main_of(std::vector<std::string> words) {
  base::begin_program();
  if (!words.empty() && words.front() == "hook") words.erase(words.begin());  // called as `nvidia-ctk hook NAME`
  if (words.empty() || words.front() == "--help" || words.front() == "help") return usage();
  const std::string name = words.front();
  for (const Hook& hook : hooks()) {
    if (name != hook.name) continue;
    const Status done = run(hook, {words.begin() + 1, words.end()});
    if (!done) say(name, done.error());
    return done ? 0 : 1;
  }
  std::fprintf(stderr, "slipway-cdi-hook: warning: there is no hook '%s'; it is skipped\n",
               base::printable(name).c_str());
  return 0;
}

}  // namespace
}  // namespace slipway::hook

int main(int count, char** words) { return slipway::hook::main_of({words + (count > 0 ? 1 : 0), words + count}); }
