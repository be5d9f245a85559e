// SPDX-License-Identifier: Apache-2.0
#include "toolkit/programs/configure/changes.hpp"

#include <algorithm>

#include "base/merge/edit.hpp"
#include "base/write/new_file.hpp"
#include "toolkit/runtime/engine_checks.hpp"
#include "toolkit/runtime/toml.hpp"

namespace slipway::toolkit {
namespace {

/// A missing file counts as empty.
Result<std::string> read_or_empty(const Host& host, const std::string& path) {
  auto text = host.read(path);
  if (!text && text.error().code == ErrorCode::not_found) return std::string();
  return text;
}

Result<FileChange> merged(const std::string& path, const std::string& bytes, const std::string& format,
                          const Json& set) {
  const auto desired_keys = merge::desired_keys_of(set);
  SLIPWAY_TRY(edited, merge::set_keys(bytes, format, desired_keys, path));
  FileChange change{path, std::move(edited.bytes), {}};
  for (const Json& record : edited.records)
    if (record.contains("edit"))
      change.lines.push_back(merge::to_text(record["key"].get<merge::Key>()) + " = " + canonical(record["ours"]));
  return change;
}

Result<FileChange> own_file(const std::string& path, const std::string& bytes, const std::string& content) {
  if (bytes == content) return FileChange{path, content, {}};
  if (bytes.empty() || bytes.starts_with(kOwnHead)) return FileChange{path, content, {"the whole file"}};
  SLIPWAY_TRY(set, parse_toml(content, path));
  return merged(path, bytes, "toml", set);
}

}  // namespace

Result<std::vector<FileChange>> changes_of(const Plan& plan, const Host& host) {
  std::vector<FileChange> own;
  std::vector<FileChange> others;
  for (const Action& action : plan.actions()) {
    const std::string path = action.target();
    SLIPWAY_TRY(bytes, read_or_empty(host, path));
    if (action.kind() == "merge") {
      SLIPWAY_TRY(change, merged(path, bytes, action.text("format"), action.value("set")));
      others.push_back(std::move(change));
    } else if (action.kind() == "file") {
      SLIPWAY_TRY(change, own_file(path, bytes, action.text("content")));
      own.push_back(std::move(change));
    }
  }
  std::move(others.begin(), others.end(), std::back_inserter(own));
  return own;
}

Status write_changes(const std::vector<FileChange>& changes, const RootDir& root) {
  for (const FileChange& change : changes)
    if (!change.lines.empty()) SLIPWAY_CHECK(base::replace_file(root, change.path, change.content));
  return {};
}

}  // namespace slipway::toolkit
