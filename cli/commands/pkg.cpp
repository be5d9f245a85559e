// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <sstream>

#include "cli/command.hpp"

namespace slipway::cli {
namespace {

constexpr std::size_t kSchemeSize = sizeof("oci://") - 1;

/// Explains the use of a tag's index, after its digest.
constexpr const char* kIndexNote = "  index: a spec pins it with `digest:`\n";

/// Splits oci://HOST[:PORT]/NAME[:TAG][@DIGEST], as users write it, into its parts.
Json split_reference(std::string word) {
  Json source;
  if (const std::size_t at = word.rfind('@'); at != std::string::npos) {
    source["digest"] = word.substr(at + 1);
    word.erase(at);
  }
  if (const std::size_t colon = word.rfind(':'); colon > word.rfind('/') && word.rfind('/') >= kSchemeSize) {
    source["tag"] = word.substr(colon + 1);
    word.erase(colon);
  }
  source["repository"] = word;
  return source;
}

/// Returns the source given on the command line: oci://…, or the path of a layout or bundle.
Json source_of(const std::string& word, const Options& options) {
  Json source;
  if (word.starts_with("oci://")) {
    source = split_reference(word);
  } else {
    source["repository"] = std::filesystem::absolute(word).string();
  }
  if (options.insecure) source["insecure"] = true;
  if (!options.trust.empty()) source["trust"] = options.trust;
  if (!options.ca.empty()) source["ca"] = std::filesystem::absolute(options.ca).string();
  return source;
}

Result<Json> push_request(const std::string& layout, const Options& options) {
  Json source = source_of(options.destination, options);
  if (!options.destination.starts_with("oci://"))
    return Error{ErrorCode::usage,
                 "`slipway pkg push` needs a registry, not '" + options.destination + "'",
                 "command line",
                 "name the registry as --to oci://HOST/NAME; `slipway pkg pull` copies into a layout",
                 {}};
  if (source.contains("tag") || source.contains("digest"))
    return Error{ErrorCode::invalid,
                 "a package keeps its tags when it is pushed",
                 options.destination,
                 "name only the repository, and use --tag to select the layout's tags to push",
                 {}};
  return Json{{"layout", std::filesystem::absolute(layout).string()}, {"source", source}, {"tags", options.tags}};
}

/// Returns the request for the operation of the verb's name.
Result<Json> request_of(const Options& options, const std::string& cache) {
  const std::string& verb = options.command;
  const std::string& word = options.arguments.front();
  if (verb == "push") return push_request(word, options);
  if (verb == "inspect") {
    Json request{{"source", source_of(word, options)}, {"cache", cache}};
    if (!options.tags.empty()) request["tag"] = options.tags.front();
    return request;
  }
  if (options.destination.empty())
    return Error{ErrorCode::usage, "--to is empty", "command line", "name the target with --to", {}};
  const std::string output = std::filesystem::absolute(options.destination).string();
  if (verb == "pull")
    return Json{{"source", source_of(word, options)}, {"output", output}, {"cache", cache}, {"tags", options.tags}};
  return Json{{"directory", std::filesystem::absolute(word).string()}, {"output", output}, {"tags", options.tags}};
}

std::string entry_text(const Json& entry) {
  std::ostringstream text;
  text << entry.value("tag", "") << "  " << entry.value("digest", "") << '\n';
  const Json annotations = entry.value("annotations", Json::object());
  for (const auto& [key, value] : annotations.items())
    text << "    " << key << " = " << (value.is_string() ? value.get<std::string>() : canonical(value)) << '\n';
  for (const Json& layer : entry.value("layers", Json::array()))
    text << "    layer " << layer.value("digest", "") << "  " << layer.value("size", 0LL) << " bytes  "
         << layer.value("annotations", Json::object()).value("dev.slipway.layer", "") << '\n';
  return text.str();
}

std::string result_text(const std::string& verb, const Json& result) {
  std::string text;
  if (verb != "inspect") {
    for (const Json& root : result.value("roots", Json::array()))
      text +=
          root.value("tag", "") + "  " + root.value("digest", "") + (root.value("index", false) ? kIndexNote : "\n");
    return text + verb + ": " + result.value("digest", "") + "\n";
  }
  for (const Json& index : result.value("indexes", Json::array()))
    text += index.value("tag", "") + "  " + index.value("digest", "") + kIndexNote;
  for (const Json& entry : result.value("entries", Json::array())) text += entry_text(entry);
  return text;
}

}  // namespace

Result<int> run_pkg(const Options& options, TerminalUi& ui) {
  SLIPWAY_TRY(session, open_session(options, ui));
  SLIPWAY_TRY(request, request_of(options, session->cache()));
  SLIPWAY_TRY(result, session->artifact("pkg", options.command, request));
  if (options.output == "text")
    print_wrapped(result_text(options.command, result));
  else
    print(json_text(envelope("Package", result), options.output));
  return core::kExitDone;
}

}  // namespace slipway::cli
