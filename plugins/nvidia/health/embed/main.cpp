// SPDX-License-Identifier: Apache-2.0
// embed - a program of the build: reads a YAML file and writes it as JSON in a C++ string literal, all scalars as
// texts.
//
// Usage: slipway-embed-yaml FILE OUTPUT
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "nvidia/config/node.hpp"

int main(int count, char** words) {
  if (count != 3) return 64;
  std::ifstream file(words[1]);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto root = slipway::nvidia::config::node_from_yaml(text, words[1]);
  if (!file || !root || !root->is_map()) {
    std::fprintf(stderr, "%s: %s\n", root ? words[1] : root.error().where.c_str(),
                 root ? "not a readable map" : root.error().what.c_str());
    return 1;
  }
  std::ofstream output(words[2]);
  output << "R\"rules(" << to_json(*root).dump() << ")rules\"\n";
  output.close();
  return output ? 0 : 1;
}
