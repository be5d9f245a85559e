// SPDX-License-Identifier: Apache-2.0
#include <sstream>

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include "yaml_value.hpp"

namespace slipway::merge {
namespace {

class Ignore final : public YAML::EventHandler {
  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t, const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}
};

}  // namespace

int count_yaml_documents(const std::string& bytes) {
  std::istringstream stream(bytes);
  YAML::Parser parser(stream);
  Ignore ignore;
  int count = 0;
  while (count < 2 && parser.HandleNextDocument(ignore)) ++count;
  return count;
}

}  // namespace slipway::merge
