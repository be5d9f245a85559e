// SPDX-License-Identifier: Apache-2.0
// `on_drift: replace`, for files that another program generates again.
#include <cstdio>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <slipway/testing/temp_dir.hpp>

#include "runtime_fixture.hpp"

namespace slipway::toolkit {
namespace {

using slipway::testing::FakeHost;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(RuntimeDrift, IsKeptUnlessTheSpecReplacesIt) {
  FakeHost host;
  install(host, "containerd", "containerd", "1.7.24");
  const auto kept = plan_of(host, runtime_spec());
  ASSERT_TRUE(kept.ok());
  EXPECT_EQ(actions_of(host), "merge " + kConfig + "\n");
  EXPECT_NE(kept->actions()[0].text("on_drift"), "replace");
  const auto replaced = plan_of(host, runtime_spec({{"on_drift", "replace"}}));
  ASSERT_TRUE(replaced.ok()) << to_text(replaced.error());
  EXPECT_EQ(replaced->actions()[0].text("on_drift"), "replace");
  EXPECT_EQ(replaced->actions()[0].value("set"), kept->actions()[0].value("set"));
  EXPECT_EQ(replaced->outputs(), kept->outputs());
}

// On EKS nodeadm writes the file at each boot, after slipway-boot.service.
TEST(RuntimeDrift, IsRepairedByAUnitThatWatchesTheFiles) {
  FakeHost host;
  install(host, "containerd", "containerd", "1.7.24");
  const auto plan = plan_of(host, runtime_spec({{"on_drift", "replace"}}));
  ASSERT_TRUE(plan.ok()) << to_text(plan.error());
  ASSERT_EQ(plan->actions().size(), 3U);
  const Action& service = plan->actions()[1];
  const Action& path = plan->actions()[2];
  EXPECT_EQ(service.target(), "slipway-runtime-mend.service");
  EXPECT_THAT(service.text("content"), HasSubstr(" apply --boot --only runtime\n"));
  EXPECT_THAT(service.text("content"), Not(HasSubstr("[Install]")));
  EXPECT_THAT(service.text("content"), Not(HasSubstr("oneshot"))) << "systemd refuses RestartForceExitStatus there";
  EXPECT_EQ(path.target(), "slipway-runtime-mend.path");
  EXPECT_EQ(path.value("enabled"), true);
  EXPECT_THAT(path.text("content"), HasSubstr("PathChanged=" + kConfig + "\n"));
}

std::string output_of(const std::string& command) {
  std::FILE* const from = ::popen(command.c_str(), "r");
  if (from == nullptr) return "popen fails";
  std::string output;
  char part[256];
  while (std::fgets(part, sizeof part, from) != nullptr) output += part;
  ::pclose(from);
  return output;
}

std::string replaced(std::string text, const std::string& old, const std::string& by) {
  for (auto at = text.find(old); at != std::string::npos; at = text.find(old, at + by.size()))
    text.replace(at, old.size(), by);
  return text;
}

// Before the fix, a program that writes the file whenever the engine restarts had it restart every few seconds, without
// end.
TEST(RuntimeDrift, IsRepairedLessOftenWhenTheFileKeepsChanging) {
  FakeHost host;
  install(host, "containerd", "containerd", "1.7.24");
  const auto plan = plan_of(host, runtime_spec({{"on_drift", "replace"}}));
  ASSERT_TRUE(plan.ok()) << to_text(plan.error());
  std::string script;
  for (const std::string& line : lines_of(plan->actions()[1].text("content")))
    if (line.starts_with("ExecStartPre=")) script = line.substr(std::string("ExecStartPre=").size());
  ASSERT_THAT(script, HasSubstr("; sleep "));
  const testing::TempDir folder;
  // In the form in which systemd passes it; the test passes the seconds instead of sleeping.
  script = replaced(replaced(replaced(replaced(script, "$$", "$"), "%%", "%"), "/run/slipway", folder.string()),
                    "; sleep ", "; echo ");
  const auto pause = [&script] { return output_of(script); };
  std::string pauses;
  for (int time = 0; time < 13; ++time) pauses += pause();
  EXPECT_EQ(pauses, "1\n1\n1\n15\n30\n45\n60\n75\n90\n105\n120\n120\n120\n");
  std::ofstream(folder.at("runtime-mend")) << "13 1000000000\n";  // long ago
  EXPECT_EQ(pause(), "1\n");
}

}  // namespace
}  // namespace slipway::toolkit
