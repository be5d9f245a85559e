// SPDX-License-Identifier: Apache-2.0
#include "toolkit/cdi/hooks.hpp"

#include "toolkit/cdi/libraries.hpp"

namespace slipway::toolkit {
namespace {

std::vector<std::string> repeated(const std::string& option, const std::vector<std::string>& values) {
  std::vector<std::string> words;
  for (const std::string& value : values) {
    words.push_back(option);
    words.push_back(value);
  }
  return words;
}

}  // namespace

bool HookWriter::wanted(const std::string& name) const {
  return !options_.disabled.contains("all") && !options_.disabled.contains(name);
}

void HookWriter::add(const std::string& name, const std::vector<std::string>& words, nvidia::cdi::Edits& edits) const {
  if (!wanted(name)) return;
  const std::string program = file_name(options_.path);
  nvidia::cdi::Hook hook{"createContainer", options_.path, {program}, {"NVIDIA_CTK_DEBUG=false"}, {}};
  if (program == "nvidia-ctk") hook.args.emplace_back("hook");
  hook.args.push_back(name);
  hook.args.insert(hook.args.end(), words.begin(), words.end());
  edits.hooks.push_back(std::move(hook));
}

void HookWriter::create_symlinks(const std::vector<std::string>& links, nvidia::cdi::Edits& edits) const {
  if (!links.empty()) add("create-symlinks", repeated("--link", links), edits);
}

void HookWriter::update_ldcache(const std::vector<std::string>& folders, nvidia::cdi::Edits& edits) const {
  if (folders.empty()) return;
  std::vector<std::string> words = repeated("--folder", folders);
  if (!options_.ldconfig.empty()) words.insert(words.begin(), {"--ldconfig-path", options_.ldconfig});
  add("update-ldcache", words, edits);
}

}  // namespace slipway::toolkit
