// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/node_problem.cpp - one line on the health of the GPUs for node-problem-detector.
#include <algorithm>

#include "deviceplugin/status.hpp"

namespace slipway::deviceplugin {
namespace {

constexpr std::size_t kLongestLine = 500;

std::string text_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

bool wanted(const std::string& reason, const std::vector<std::string>& reasons) {
  return reasons.empty() || std::ranges::any_of(reasons, [&](const std::string& word) {
           return reason == word || (reason.starts_with(word + "-") && word == "xid");
         });
}

/// Adds the health of a GPU or MIG device if it is unhealthy and the reason is among those that count.
void add(const Json& device, const std::string& name, const std::vector<std::string>& reasons, NodeProblem& problem) {
  const auto health = device.find("health");
  if (health == device.end() || !health->is_object()) return;
  const auto healthy = health->find("healthy");
  if (healthy == health->end() || !healthy->is_boolean() || *healthy == true) return;
  if (!wanted(text_of(*health, "reason"), reasons)) return;
  problem.line += (problem.code == NodeProblem::kProblem ? "; " : "") + name + ": " + text_of(*health, "text");
  problem.code = NodeProblem::kProblem;
}

std::string number_of(const Json& device) {
  const auto found = device.find("index");
  return found != device.end() && found->is_number_unsigned() ? std::to_string(found->get<unsigned>()) : "?";
}

}  // namespace

NodeProblem node_problem_of(const Json& status, const std::vector<std::string>& reasons) {
  const auto gpus = status.is_object() ? status.find("gpus") : status.end();
  if (gpus == status.end() || !gpus->is_array())
    return {NodeProblem::kUnknown, "the status file of slipway's device plugin cannot be read"};
  NodeProblem problem{NodeProblem::kNone, ""};
  for (const Json& gpu : *gpus) {
    if (!gpu.is_object()) continue;
    const std::string name = "GPU " + number_of(gpu) + " (" + text_of(gpu, "address") + ")";
    add(gpu, name, reasons, problem);
    if (const auto migs = gpu.find("migDevices"); migs != gpu.end() && migs->is_array())
      for (const Json& mig : *migs)
        if (mig.is_object()) add(mig, "MIG device " + number_of(mig) + " of " + name, reasons, problem);
  }
  if (problem.code == NodeProblem::kNone)
    problem.line = reasons.empty() ? "all GPUs are healthy" : "no GPU has such a problem";
  std::ranges::replace_if(
      problem.line, [](unsigned char letter) { return letter < ' ' || letter == 0x7f; }, ' ');
  problem.line.resize(std::min(problem.line.size(), kLongestLine));
  return problem;
}

}  // namespace slipway::deviceplugin
