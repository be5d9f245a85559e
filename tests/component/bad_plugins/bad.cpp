// SPDX-License-Identifier: Apache-2.0
// tests/component/bad_plugins/bad.cpp - components that fail when and how a test's spec tells them to; as a file named
// abort.so, the library aborts before it is called.
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <unistd.h>

#include <slipway/commands.hpp>
#include <slipway/plugin.hpp>

namespace slipway::bad {
namespace {

struct Early {
  Early() {
    Dl_info self{};
    if (dladdr(&early_name, &self) == 0 || !std::string(self.dli_fname).ends_with("/abort.so")) return;
    std::cerr << "constructing" << std::endl;
    std::abort();
  }
  static constexpr char early_name = 0;
};
const Early early;

/// A type that neither slipway's headers nor the standard library declares.
struct Foreign {
  int number;
};

[[noreturn]] void sleep_for_ever() {
  for (;;) pause();
}

/// Three generations of children that leave the session, a few hundred in all: enough to show that none escapes.
[[noreturn]] void fork_bomb() {
  constexpr int kGenerations = 3;
  constexpr int kChildren = 6;
  for (int generation = 0; generation < kGenerations; ++generation) {
    bool child = false;
    for (int i = 0; i < kChildren && !child; ++i) child = fork() == 0;
    if (!child) sleep_for_ever();
    setsid();
  }
  sleep_for_ever();
}

[[noreturn]] void allocate(std::size_t bytes) {
  constexpr std::size_t kPart = std::size_t{64} << 20;
  std::vector<std::unique_ptr<char[]>> all;
  for (std::size_t taken = 0; taken < bytes; taken += kPart) {
    all.push_back(std::make_unique_for_overwrite<char[]>(kPart));
    for (std::size_t page = 0; page < kPart; page += 4096) all.back()[page] = 1;
  }
  std::cout << "got all of it" << std::endl;
  std::abort();
}

void go_wrong(const std::string& how) {
  if (how == "segfault") std::raise(SIGSEGV);
  if (how == "sleep") sleep_for_ever();
  if (how == "fork") fork_bomb();
  if (how == "print")
    for (;;) std::cout << std::string(1000, 'x') << '\n';
  if (how == "allocate") allocate(std::size_t{20} << 30);
  if (how == "throw") throw Foreign{42};
}

void perhaps(const Json& spec, const std::string& operation) {
  if (spec.value("when", "") == operation) go_wrong(spec.value("how", ""));
}

/// Its table is not valid for any command line.
class Twins final : public Commands {
 public:
  std::vector<ToolInfo> list() const override {
    return {{"twins", "has two options of one name", {.options = {{"wall"}, {"wall"}}}}};
  }
  Result<int> run(std::string_view, const CommandWords&, const Host&, ToolIo&) const override { std::abort(); }
};

class Bad final : public Component {
 public:
  explicit Bad(std::string name = "bad") : name_(std::move(name)) {}

  Result<Facts> detect(const Spec& spec, const Host&) const override {
    perhaps(desired_keys(spec), "detect");
    return Facts{};
  }

  Result<Plan> plan(const Spec& spec, const Facts&, const Inputs&) const override {
    const Json desired_keys = Bad::desired_keys(spec);
    perhaps(desired_keys, "plan");
    const std::string how = spec.text("how");
    Plan plan;
    const std::string content = how == "moody" ? std::to_string(ticks()) : "ours\n";
    plan.add(action::file({.path = "/etc/" + name_, .content = content}));
    const std::string when = spec.text("when");
    if (when == "check" || when == "apply")
      plan.add(action::custom({.name = "act", .data = desired_keys, .inverse = nullptr, .irreversible = "a test"}));
    if (how == "mistype") plan.output("number", "three");
    return plan;
  }

  Result<Findings> verify(const Spec& spec, const Host&) const override {
    perhaps(desired_keys(spec), "verify");
    return Findings{};
  }

  Result<bool> check(const Action& action, const Host&) const override {
    perhaps(action.value("data"), "check");
    return false;
  }

  Result<Outcome> apply(const Action& action, const Host&) const override {
    perhaps(action.value("data"), "apply");
    return Outcome::done();
  }

  const Commands* commands() const override { return &twins_; }

 private:
  static Json desired_keys(const Spec& spec) { return {{"when", spec.text("when")}, {"how", spec.text("how")}}; }
  static std::int64_t ticks() { return std::chrono::steady_clock::now().time_since_epoch().count(); }
  std::string name_;
  Twins twins_;
};

class Worse final : public Component {
 public:
  Result<Facts> detect(const Spec& spec, const Host& host) const override { return bad_.detect(spec, host); }
  Result<Plan> plan(const Spec& spec, const Facts& facts, const Inputs& inputs) const override {
    return bad_.plan(spec, facts, inputs);
  }
  Result<Findings> verify(const Spec& spec, const Host& host) const override { return bad_.verify(spec, host); }

 private:
  Bad bad_{"worse"};
};

class Good final : public Component {
 public:
  Result<Facts> detect(const Spec&, const Host&) const override { return Facts{}; }
  Result<Plan> plan(const Spec&, const Facts&, const Inputs&) const override {
    Plan plan;
    plan.add(action::file({.path = "/etc/good", .content = "here\n"}));
    return plan;
  }
  Result<Findings> verify(const Spec&, const Host&) const override { return Findings{}; }
};

}  // namespace
}  // namespace slipway::bad

SLIPWAY_PLUGIN(slipway::component<slipway::bad::Bad>("bad"), slipway::component<slipway::bad::Worse>("worse"),
               slipway::component<slipway::bad::Good>("good"))
