// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <sstream>

#include "cli/command.hpp"
#include "log/lines.hpp"

namespace slipway::core {
namespace {

constexpr std::size_t kSchemeSize = sizeof("oci://") - 1;
constexpr const char* kUsage =
    "`slipway pkg build DIR --to LAYOUT`, `pkg push LAYOUT --to oci://HOST/NAME`, "
    "`pkg pull SOURCE --to LAYOUT|FILE.tar`, `pkg inspect SOURCE`";

/// What a tag's index is good for, behind its digest.
constexpr const char* kIndexNote = "  index: a spec pins it with `digest:`\n";

/// oci://HOST[:PORT]/NAME[:TAG][@DIGEST] in its parts, as people write them.
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

/// A source as it stands on the command line: oci://…, or the path of a layout or bundle.
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

Result<std::pair<std::string, Json>> push_request(const std::string& layout, const Options& options) {
  Json source = source_of(options.destination, options);
  if (source.contains("tag") || source.contains("digest"))
    return Error{ErrorCode::invalid,
                 "a package keeps its tags when it is pushed",
                 options.destination,
                 "name the repository alone, and with --tag which of the layout's tags to push",
                 {}};
  return std::pair{
      std::string("push"),
      Json{{"layout", std::filesystem::absolute(layout).string()}, {"source", source}, {"tags", options.tags}}};
}

/// The operation and its request. Errors: `invalid` for a wrong command line.
Result<std::pair<std::string, Json>> request_of(const Options& options, const std::string& cache) {
  const auto& words = options.arguments;
  const Error usage{ErrorCode::usage, "pkg needs a verb and what it works on", "command line", kUsage, {}};
  if (words.size() != 2) return usage;
  const std::string& verb = words[0];
  if (verb == "inspect") {
    Json request{{"source", source_of(words[1], options)}, {"cache", cache}};
    if (!options.tags.empty()) request["tag"] = options.tags.front();
    return std::pair{verb, request};
  }
  if (options.destination.empty()) return usage;
  if (verb == "push") return push_request(words[1], options);
  const std::string output = std::filesystem::absolute(options.destination).string();
  if (verb == "build")
    return std::pair{
        verb,
        Json{{"directory", std::filesystem::absolute(words[1]).string()}, {"output", output}, {"tags", options.tags}}};
  if (verb != "pull") return usage;
  Json request{{"source", source_of(words[1], options)}, {"output", output}, {"cache", cache}, {"tags", options.tags}};
  return std::pair{verb, request};
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
  SLIPWAY_TRY(result, session->artifact("pkg", request.first, request.second));
  print(options.output == "text" ? printable(result_text(request.first, result), true)
                                 : json_text(envelope("Package", result), options.output));
  return kExitDone;
}

}  // namespace slipway::core
