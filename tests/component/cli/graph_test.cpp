// SPDX-License-Identifier: Apache-2.0
// The forms of `slipway graph`.
#include <slipway/text.hpp>

#include "tests/component/cli/driver_root.hpp"

namespace slipway {
namespace {

using slipway::testing::DriverRoot;
using slipway::testing::Ran;
using slipway::testing::ScratchHost;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class GraphForms : public ::testing::Test {
 protected:
  GraphForms() {
    root_.spec("    driver: {version: latest, source: {repository: " + testing::kPackage +
               ", trust: unsigned}}\n    cdi: {}\n    runtime: {}\n    deviceplugin: {}\n    gfd: {}\n"
               "    validator: {}\n");
  }
  /// @param variable  "NAME=value" of the environment
  Ran graph(std::vector<std::string> words, const std::string& variable = "SLIPWAY_COLUMNS=80",
            const std::string& locale = "C.UTF-8") const {
    ScratchHost with_variables;
    with_variables.program = "/usr/bin/env";
    words.insert(words.begin(),
                 {"LC_ALL=" + locale, variable, root_.program, "graph", "-f", root_.folder().at("host.yaml").string()});
    return with_variables.bare(words);
  }
  DriverRoot root_;
};

TEST_F(GraphForms, AsTextFitAnyTerminalAndItsCharacters) {
  for (const std::string columns : {"40", "60", "80"})
    for (const std::string locale : {"C.UTF-8", "C"}) {
      const Ran ran = graph({}, "SLIPWAY_COLUMNS=" + columns, locale);
      EXPECT_EQ(ran.code, 0) << ran.err;
      std::istringstream lines(ran.out);
      for (std::string line; std::getline(lines, line);) {
        EXPECT_LE(width_of(line), std::stoul(columns)) << ran.out;
        EXPECT_TRUE(locale != "C" || line.size() == width_of(line)) << ran.out;
      }
      EXPECT_THAT(ran.out, HasSubstr("after driver"));
    }
  EXPECT_EQ(graph({}, "SLIPWAY_COLUMNS=").out, graph({"-o", "text"}).out) << "a file is as wide as a terminal";
}

TEST_F(GraphForms, AsDotAreValidForGraphviz) {
  const Ran ran = graph({"-o", "dot"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, StartsWith("digraph slipway {\n"));
  EXPECT_THAT(ran.out, HasSubstr("\"driver\" -> \"cdi\""));
}

TEST_F(GraphForms, AsAPictureAreWellFormedXmlAndAlwaysTheSame) {
  const Ran ran = graph({"-o", "svg"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.out, graph({"-osvg"}, "SLIPWAY_COLUMNS=40", "C").out);
  root_.folder().file("graph.svg", ran.out);
  // Returns the words in the picture's boxes and its legend.
  const std::string reader =
      "import sys, xml.etree.ElementTree as tree\n"
      "svg = tree.parse(sys.argv[1]).getroot()\n"
      "assert svg.tag == '{http://www.w3.org/2000/svg}svg', svg.tag\n"
      "print(' '.join(sorted(text.text for text in svg.iter('{http://www.w3.org/2000/svg}text'))))\n";
  ScratchHost python;
  python.program = "/usr/bin/python3";
  const Ran read = python.bare({"-c", reader, root_.folder().at("graph.svg").string()});
  EXPECT_EQ(read.code, 0) << read.err;
  EXPECT_EQ(read.out, "after cdi deviceplugin driver gfd runtime validator\n");
}

TEST_F(GraphForms, ThatAreUnknownAreRefusedWithTheNearest) {
  const Ran ran = graph({"-o", "svgg"});
  EXPECT_EQ(ran.code, 64);
  EXPECT_THAT(ran.err, HasSubstr("text, dot, svg, json or jsonl, not 'svgg'"));
  EXPECT_THAT(ran.err, HasSubstr("did you mean 'svg'?"));
  EXPECT_EQ(root_.run({"status", "-o", "svg"}).code, 64) << "only graph draws";
}

}  // namespace
}  // namespace slipway
