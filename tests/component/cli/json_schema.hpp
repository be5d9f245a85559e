// SPDX-License-Identifier: Apache-2.0
// tests/component/cli/json_schema.hpp - the result of a real validator (python3-jsonschema) for documents.
#pragma once

#include <array>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/wait.h>

namespace slipway::testing {

/// Returns by file: "good", or "bad" and the reason. Files are YAML or JSON; each line of a .jsonl file is a document.
inline std::map<std::string, std::string> judged(const std::string& schema, const std::vector<std::string>& files) {
  // Debian's python3, which has Debian's python3-jsonschema.
  std::string command = "/usr/bin/python3 " SLIPWAY_JSON_SCHEMA " " + schema;
  for (const std::string& file : files) command += " " + file;
  command += " 2>&1";
  std::string text;
  FILE* const pipe = ::popen(command.c_str(), "r");
  std::array<char, 4096> part{};
  for (std::size_t got = 0; (got = std::fread(part.data(), 1, part.size(), pipe)) > 0;) text.append(part.data(), got);
  const int status = ::pclose(pipe);
  EXPECT_EQ(WEXITSTATUS(status), 0) << text;
  std::map<std::string, std::string> verdicts;
  for (const std::string& file : files) {
    for (const std::string word : {"good", "bad"}) {
      const std::size_t at = text.find(word + " " + file);
      if (at != std::string::npos) verdicts[file] = text.substr(at, text.find('\n', at) - at);
    }
    EXPECT_TRUE(verdicts.contains(file)) << file << "\n" << text;
  }
  return verdicts;
}

}  // namespace slipway::testing
