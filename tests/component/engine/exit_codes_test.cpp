// SPDX-License-Identifier: Apache-2.0
// The exit codes and the states of components as the user guide has them: each row of its two tables happens here.
#include <csignal>
#include <regex>
#include <set>

#include "tests/component/engine/fake_systemd.hpp"

namespace slipway {
namespace {

using slipway::testing::becomes_true;
using slipway::testing::Ran;
using slipway::testing::ScratchHost;
using ::testing::HasSubstr;

using Codes = std::set<int>;

/// Returns the rows of the user guide's tables below a heading that begin with a number, each with its second cell.
std::vector<std::pair<int, std::string>> rows_below(const std::string& heading) {
  std::ifstream page(SLIPWAY_SOURCES "/docs/user-guide.md");
  std::vector<std::pair<int, std::string>> rows;
  bool inside = false;
  std::smatch cells;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("#")) inside = line == heading;
    if (inside && std::regex_match(line, cells, std::regex(R"(\| (\d+) \| (.*?) \|.*)")))
      rows.emplace_back(std::stoi(cells[1]), cells[2]);
  }
  return rows;
}

class ExitCodes : public ::testing::Test {
 protected:
  ExitCodes() { host.live = true; }

  /// Returns the exit code of an apply of these components that leaves one of them in that state.
  int code_with(const std::string& state, const std::string& component, const std::string& components) {
    host.spec(components);
    const Ran ran = host.slipway({"apply", "-o", "json"});
    const Json result = Json::parse(ran.out, nullptr, false);
    std::string seen = "none: " + ran.err;
    for (const Json& each : result.value("components", Json::array()))
      if (each.value("name", "") == component) seen = each.value("state", "");
    EXPECT_EQ(seen, state) << components << ran.out;
    return ran.code;
  }
  std::string probe(const std::string& custom) const {
    return "    probe: {custom: " + custom + ", marker: " + host.folder().at("marker").string() +
           ", in_use: " + host.folder().at("in-use").string() + "}\n";
  }
  int code(const std::vector<std::string>& words) const { return host.slipway(words).code; }

  ScratchHost host;
};

TEST_F(ExitCodes, OfAnApplyFollowFromTheStatesOfItsComponentsAsTheUserGuideSays) {
  host.folder().file("in-use", "");
  std::map<std::string, int> codes;
  codes["changed"] = code_with("changed", "bystander", "    bystander: {}\n");
  codes["ready"] = code_with("ready", "bystander", "    bystander: {}\n");
  codes["waiting"] = code_with("waiting", "probe", probe("waits") + "    bystander: {}\n");
  codes["removed"] = code_with("removed", "probe", "    bystander: {}\n");
  codes["reboot-required"] = code_with("reboot-required", "probe", probe("reboots"));
  const std::string behind = "    follower: {needs: /etc/later}\n";
  EXPECT_EQ(code_with("deferred", "follower", probe("reboots") + behind), codes["reboot-required"]);
  EXPECT_EQ(code_with("deferred", "follower", probe("waits") + behind), codes["waiting"]);
  codes["failed"] = code_with("failed", "probe", probe("fails") + "    bystander: {}\n");
  codes["blocked"] = code_with("blocked", "follower", probe("fails") + "    follower: {}\n");
  host.put("etc/probe-has-no-hardware", "");
  host.put("etc/later", "");
  codes["not-applicable"] = code_with("not-applicable", "probe", "    probe: {}\n    bystander: {}\n");

  std::map<std::string, int> told;
  for (const auto& [code, state] : rows_below("### The states of components"))
    told[state.substr(1, state.size() - 2)] = code;
  EXPECT_EQ(codes, told) << "docs/user-guide.md has other states or codes";
}

TEST_F(ExitCodes, OfEachCommandAreThoseOfTheUserGuide) {
  Codes seen;
  const auto expect = [&](int wanted, const std::vector<std::string>& words) {
    const Ran ran = host.slipway(words);
    EXPECT_EQ(ran.code, wanted) << ::testing::PrintToString(words) << ran.out << ran.err;
    seen.insert(ran.code);
  };
  const std::string spec = host.folder().at("host.yaml").string();
  expect(0, {"status"});
  expect(1, {"rollback"});
  host.spec("    bystander: {}\n    probe: {files: {/etc/probe.conf: one}}\n");
  expect(2, {"plan"});
  expect(2, {"apply", "--dry-run"});
  expect(0, {"apply"});
  expect(0, {"plan"});
  expect(0, {"apply", "--dry-run"});
  expect(2, {"remove", "probe", "--dry-run"});
  for (const char* command : {"verify", "doctor", "status", "generations", "gc", "repair"}) expect(0, {command});
  host.put("etc/probe-broken", "");
  for (const char* command : {"verify", "doctor"}) expect(1, {command});
  expect(0, {"status"});
  std::filesystem::remove(host.path("etc/probe-broken"));
  host.spec(probe("waits"));
  expect(0, {"apply"});
  host.spec("    bystander: {}\n");
  expect(0, {"apply"});
  std::filesystem::remove(host.folder().at("marker"));
  host.folder().file("in-use", "");
  expect(3, {"rollback"});
  host.spec(probe("waits"));
  expect(3, {"apply"});
  host.spec(probe("reboots"));
  expect(4, {"apply"});
  for (const char* command : {"plan", "apply", "verify", "doctor", "status", "rollback", "remove", "generations"})
    expect(64, {command, "--no-such-option"});
  expect(64, {"no-such-command"});
  expect(64, {"rollback", "first"});
  for (const auto& [code, text] : rows_below("## Exit codes"))
    EXPECT_TRUE(code == 75 || code == 127 || seen.contains(code)) << code << " is in docs/user-guide.md";
  host.put("var/lib/slipway/components/bystander.json", "{");
  for (const char* command : {"verify", "doctor", "status", "apply"}) expect(1, {command});
}

TEST_F(ExitCodes, OfACommandOnALockedRootIs75) {
  const std::string asleep = host.folder().at("asleep").string();
  host.spec("    probe: {files: {/etc/probe.conf: one}}\n");
  host.put("etc/probe-hang-in-verify", asleep);
  const pid_t holder = host.start({"apply"});
  ASSERT_TRUE(becomes_true([&] { return std::filesystem::exists(asleep); }));
  for (const char* command : {"apply", "gc"}) EXPECT_EQ(code({command}), 75) << command;
  EXPECT_EQ(code({"remove", "--all"}), 75);
  EXPECT_EQ(code({"status"}), 0);
  ::kill(holder, SIGKILL);
  ::waitpid(holder, nullptr, 0);
  const auto rows = rows_below("## Exit codes");
  EXPECT_TRUE(std::ranges::any_of(rows, [](const auto& row) { return row.first == 75; }));
}

}  // namespace
}  // namespace slipway
