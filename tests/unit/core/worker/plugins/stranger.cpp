// SPDX-License-Identifier: Apache-2.0
// tests/unit/core/worker/plugins/stranger.cpp - a plugin that does in each operation the thing that its spec or action
// names.
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <stdexcept>
#include <thread>
#include <vector>

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <slipway/commands.hpp>
#include <slipway/importer.hpp>
#include <slipway/plugin.hpp>

namespace {

using namespace slipway;

constexpr int kChannel = 3;

[[noreturn]] void sleep_for_ever() {
  for (;;) pause();
}

/// A child, or a daemon that has left the session, or one that has also cleared its environment.
enum class Child { plain, daemon, disguised };

void start_child(Child kind) {
  if (fork() != 0) return;
  if (kind != Child::plain) {
    setsid();
    if (fork() != 0) _exit(0);
  }
  char* const nothing = nullptr;
  if (kind == Child::disguised) execle("/bin/sleep", "sleep", "1000", nullptr, &nothing);
  sleep_for_ever();
}

void write_to_channel(const std::string& bytes) { (void)!write(kChannel, bytes.data(), bytes.size()); }

volatile int* volatile wild_pointer = nullptr;

int overflow(int depth) {
  volatile char space[4096] = {};
  space[0] = static_cast<char>(depth);
  return depth < 0 ? 0 : overflow(depth + 1) + space[0];
}

void allocate_without_end() {
  std::vector<std::unique_ptr<char[]>> all;
  for (;;) {
    all.push_back(std::make_unique_for_overwrite<char[]>(64U << 20));
    for (std::size_t page = 0; page < 64U << 20; page += 4096) all.back()[page] = 1;
  }
}

/// Reserves memory like libcuda and the run-time of Go.
void reserve_addresses() {
  constexpr std::size_t kReserved = std::size_t{64} << 30U;
  if (mmap(nullptr, kReserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) == MAP_FAILED)
    throw std::runtime_error("mmap failed");
  std::vector<std::jthread> threads;
  for (int i = 0; i < 200; ++i) threads.emplace_back([] {});
}

void misbehave(const std::string& how) {
  if (how == "segv") raise(SIGSEGV);
  if (how == "wild pointer") *wild_pointer = 1;
  if (how == "abort") std::abort();
  if (how == "exit") std::exit(3);
  if (how == "overflow") overflow(1);
  if (how == "kill itself") raise(SIGKILL);
  if (how == "sleep") sleep_for_ever();
  if (how == "spin")
    for (volatile bool on = true; on;) continue;
  if (how == "stop") raise(SIGSTOP);
  if (how == "ignore everything") {
    for (int number = 1; number < NSIG; ++number) signal(number, SIG_IGN);
    sleep_for_ever();
  }
  if (how == "throw") throw std::runtime_error("something broke");
  if (how == "throw 42") throw 42;
  if (how == "reserve") reserve_addresses();
  if (how == "allocate") allocate_without_end();
  if (how == "flood")
    for (;;) std::cout << std::string(1000, 'x') << '\n';
  if (how == "flood without lines")
    for (;;) std::cout << std::string(1000, 'x');
  if (how == "close") close(kChannel);
  if (how == "close and sleep") {
    close(kChannel);
    sleep_for_ever();
  }
  if (how == "rubbish") write_to_channel(std::string("\x05\0\0\0hello", 9));
  if (how == "too long") write_to_channel(std::string("\xff\xff\xff\xff", 4));
  if (how == "too deep") write_to_channel(std::string("\x00\x10\0\0", 4) + std::string(4096, '['));
  if (how == "half a frame") {
    write_to_channel(std::string("\x40\0\0\0{\"type\"", 11));
    _exit(0);
  }
  if (how == "child") start_child(Child::plain);
  if (how == "daemon") start_child(Child::daemon);
  if (how == "disguised daemon") start_child(Child::disguised);
  if (how == "daemons and crash") {
    for (int i = 0; i < 10; ++i) start_child(i % 2 == 0 ? Child::plain : Child::daemon);
    std::abort();
  }
  if (how == "print and crash") {
    for (int i = 1; i <= 30; ++i) std::cout << "line " << i << std::endl;
    std::cerr << "last words" << std::endl;
    std::abort();
  }
}

/// Returns the process' properties, as seen from inside.
Facts surroundings(const Host& host) {
  Facts facts;
  facts.set("session", getsid(0) == getpid());
  facts.set("parent", getppid());
  rlimit limit{};
  getrlimit(RLIMIT_CORE, &limit);
  facts.set("core", limit.rlim_cur);
  Json open = Json::array();
  for (int fd = 0; fd < 256; ++fd)
    if (struct stat status{}; fstat(fd, &status) == 0) open.push_back(fd);
  facts.set("descriptors", open);
  facts.set("input", std::cin.get() == EOF);
  facts.set("oom", host.read("/proc/self/oom_score_adj").value_or({}));
  facts.set("cgroup", host.read("/proc/self/cgroup").value_or({}));
  const char* nvml = std::getenv("SLIPWAY_NVML");
  facts.set("nvml", nvml == nullptr ? "" : nvml);
  return facts;
}

class Tools final : public Commands {
 public:
  std::vector<ToolInfo> list() const override {
    return {{"greet", "Says hello.", {.usage = "NAME", .least_arguments = 1, .most_arguments = 1}},
            {"ask", "Asks.", {.most_arguments = 1}},
            {"linger", "Leaves a thread behind."}};
  }
  Result<int> run(std::string_view tool, const CommandWords& words, const Host&, ToolIo& io) const override {
    if (tool == "greet") {
      io.log("greeting");
      for (int i = 0; i <= 1000; ++i) io.progress("hello", static_cast<std::uint64_t>(i), 1000);
      io.print("hello " + words.arguments.at(0) + "\n");
      return 7;
    }
    if (tool == "linger") {
      const auto run_on = [] {
        for (volatile bool on = true; on;) continue;
      };
      for (int i = 0; i < 4; ++i) std::thread(run_on).detach();
      std::this_thread::sleep_for(std::chrono::milliseconds(5));  // it is running
      return 7;
    }
    const Result<Json> answer = io.core(words.arguments.at(0), Json{{"number", 1}});
    io.print(answer ? canonical(*answer) : std::string(to_string(answer.error().code)));
    return answer ? 0 : 1;
  }
};

class ForeignSpec final : public Importer {
 public:
  Result<Section> import(std::string_view, std::string_view kind, const Json& document) const override {
    if (kind != "ClusterPolicy") return Error{.code = ErrorCode::unsupported, .what = "not known"};
    return Section{.spec = document["spec"]["stranger"], .warnings = {"spec.other has no counterpart"}};
  }
};

class Stranger final : public Component {
 public:
  Result<Facts> detect(const Spec& spec, const Host& host) const override {
    misbehave(spec.text("detect"));
    if (spec.text("detect") == "fail")
      return Error{.code = ErrorCode::busy, .what = "it is busy", .next = "wait", .details = {{"held", "python3"}}};
    return surroundings(host);
  }
  Result<Plan> plan(const Spec& spec, const Facts& facts, const Inputs& inputs) const override {
    misbehave(spec.text("plan"));
    Plan plan;
    plan.add(action::file({.path = "/etc/stranger", .content = facts.text("a") + inputs.target().arch}));
    return plan;
  }
  Result<Findings> verify(const Spec& spec, const Host& host) const override {
    misbehave(spec.text("verify"));
    Findings findings;
    findings.pass("stranger.host", host.attribute("/etc/name"));
    return findings;
  }
  Result<bool> check(const Action& action, const Host&) const override {
    misbehave(action.text("data"));
    return true;
  }
  Result<Outcome> apply(const Action& action, const Host&) const override {
    misbehave(action.text("data"));
    return Outcome::reboot_required("because");
  }
  const Commands* commands() const override { return &tools_; }
  const Importer* importer() const override { return &importer_; }

 private:
  Tools tools_;
  ForeignSpec importer_;
};

/// A component with only the required members.
class Plain final : public Component {
 public:
  Result<Facts> detect(const Spec&, const Host&) const override { return Facts::not_applicable("no hardware"); }
  Result<Plan> plan(const Spec&, const Facts&, const Inputs&) const override { return Plan(); }
};

}  // namespace

SLIPWAY_PLUGIN(slipway::component<Stranger>("stranger"), slipway::component<Plain>("plain"))
