// SPDX-License-Identifier: Apache-2.0
// embed - a program of the build: writes gpus.yaml as rows of C++, so that programs need no YAML to know the ids.
// A test reads the file with the reader of such files, and compares.
//
// Usage: slipway-embed-gpus FILE OUTPUT
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "nvidia/config/node.hpp"

namespace {

using slipway::nvidia::config::Node;

std::string number(const Node& of, const char* key) {
  const std::string& text = of.at(key).text;
  return text.empty() ? "0" : text;
}

std::string support(const Node& of) {
  return "{.first_branch = " + number(of, "first_branch") + ", .last_branch = " + number(of, "last_branch") +
         ", .first_open_branch = " + number(of, "first_open_branch") +
         ", .requires_open = " + (of.at("requires_open").text == "true" ? "true" : "false") + "}";
}

std::string architectures(const Node& list) {
  std::string rows;
  for (std::size_t i = 0; i < list.keys.size(); ++i)
    rows += "    ArchitectureRow{\"" + list.keys[i] + "\", " + support(list.items[i]) + "},\n";
  return "inline constexpr std::array kArchitectureRows{\n" + rows + "};\n";
}

std::string chips(const Node& list) {
  std::string rows;
  for (std::size_t i = 0; i < list.keys.size(); ++i) {
    const std::string& ids = list.keys[i];
    rows += "    ChipRow{0x" + ids.substr(0, 4) + ", 0x" + ids.substr(ids.size() - 4) + ", \"" +
            list.items[i].at("architecture").text + "\", \"" + list.items[i].at("compute").text + "\", " +
            (list.items[i].at("requires_open").text == "true" ? "true" : "false") + "},\n";
  }
  return "inline constexpr std::array kChipRows{\n" + rows + "};\n";
}

std::string boards(const Node& list) {
  std::string rows;
  for (std::size_t i = 0; i < list.keys.size(); ++i)
    for (const Node& id : list.items[i].items) rows += "    BoardRow{0x" + id.text + ", \"" + list.keys[i] + "\"},\n";
  return "inline constexpr std::array kBoardRows{\n" + rows + "};\n";
}

}  // namespace

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
  output << "// Made from plugins/nvidia/gpus/gpus.yaml.\n"
         << architectures(root->at("architectures")) << chips(root->at("chips")) << boards(root->at("boards"));
  output.close();
  return output ? 0 : 1;
}
