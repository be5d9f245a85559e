// SPDX-License-Identifier: Apache-2.0
// tests/component/engine/answers_test.cpp - plugins are asked again only when something that they looked at has
// changed.
#include "scratch_host.hpp"

namespace slipway {
namespace {

using slipway::testing::Ran;
using slipway::testing::ScratchHost;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

class HermeticComponent : public ::testing::Test {
 protected:
  HermeticComponent() {
    host_.live = true;
    host_.put("etc/weather", "sunny\n");
    spec("");
    EXPECT_EQ(apply().code, 0);
    EXPECT_EQ(host_.text("etc/hermit"), "sunny\n");
    EXPECT_THAT(asked(), HasSubstr("detect\nplan\n"));
  }

  void spec(const std::string& more) const { host_.spec("    hermit: {diary: " + diary().string() + more + "}\n"); }
  fs::path diary() const { return host_.folder().at("diary"); }
  Ran apply(const std::vector<std::string>& variables = {}) const {
    const pid_t child = host_.start({"apply", "--yes"}, variables);
    int status = 0;
    ::waitpid(child, &status, 0);
    return {WEXITSTATUS(status), "", host_.error_text()};
  }
  /// What it was asked since the last call.
  std::string asked() const {
    std::ifstream in(diary());
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    fs::remove(diary());
    return text;
  }
  fs::path answers() const {
    for (const auto& entry : fs::directory_iterator(host_.folder().at("cache/answers")))
      if (entry.path().filename().string().starts_with("hermit-")) return entry.path();
    return {};
  }

  ScratchHost host_;
};

TEST_F(HermeticComponent, IsNotAskedByAnApplyThatHasNothingToDo) {
  EXPECT_EQ(apply().code, 0);
  EXPECT_EQ(asked(), "");
  EXPECT_EQ(host_.slipway({"plan"}).code, 0);
  EXPECT_EQ(asked(), "");
}

TEST_F(HermeticComponent, IsAskedAgainWhenAFileThatItReadHasChanged) {
  host_.put("etc/weather", "rainy\n");
  EXPECT_EQ(apply().code, 0);
  EXPECT_EQ(host_.text("etc/hermit"), "rainy\n");
  EXPECT_THAT(asked(), HasSubstr("detect\nplan\n"));
  EXPECT_EQ(apply().code, 0);
  EXPECT_EQ(asked(), "");
}

TEST_F(HermeticComponent, IsAskedAgainWhenAFileThatItReadIsGone) {
  fs::remove(host_.path("etc/weather"));
  EXPECT_EQ(apply().code, 0);
  EXPECT_EQ(host_.text("etc/hermit"), "none");
}

TEST_F(HermeticComponent, IsAskedForItsCustomActionWhenThatIsUndone) {
  fs::remove(host_.path("etc/hermit"));
  EXPECT_EQ(apply().code, 0);
  EXPECT_THAT(asked(), HasSubstr("check\n"));
}

TEST_F(HermeticComponent, IsAskedAgainWhenItsSectionOrTheEnvironmentIsAnother) {
  EXPECT_EQ(apply({"HERMIT_MOOD=gloomy"}).code, 0);
  EXPECT_EQ(host_.text("etc/hermit"), "gloomy");
  EXPECT_EQ(apply().code, 0);
  EXPECT_EQ(host_.text("etc/hermit"), "sunny\n");
  asked();
  spec(", peeks: true");
  EXPECT_EQ(apply().code, 0);
  EXPECT_THAT(asked(), HasSubstr("detect\n"));
}

TEST_F(HermeticComponent, IsAskedEachTimeWhileItGoesAroundItsHost) {
  spec(", peeks: true");
  EXPECT_EQ(apply().code, 0);
  asked();
  EXPECT_EQ(apply().code, 0);
  EXPECT_THAT(asked(), HasSubstr("detect\n"));
}

// What is kept decides what root does, so a file that others could have written does not count.
TEST_F(HermeticComponent, IsAskedAgainWhenOthersCouldHaveWrittenItsAnswers) {
  fs::permissions(answers(), fs::perms::others_write, fs::perm_options::add);
  EXPECT_EQ(apply().code, 0);
  EXPECT_THAT(asked(), HasSubstr("detect\n"));
}

TEST_F(HermeticComponent, IsAskedAgainWhenItsAnswersAreCutOffGarbledOrAPipe) {
  fs::resize_file(answers(), fs::file_size(answers()) / 2);
  EXPECT_EQ(apply().code, 0);
  EXPECT_THAT(asked(), HasSubstr("detect\n"));
  std::ofstream(answers()) << R"({"format":1,"key":["1","2"],"answers":{"detect":7,"plan":[],"check \"lamp\"":{}}})";
  EXPECT_EQ(apply().code, 0);
  EXPECT_THAT(asked(), HasSubstr("detect\n"));
  const fs::path file = answers();
  fs::remove(file);
  ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
  EXPECT_EQ(apply().code, 0);
  EXPECT_THAT(asked(), HasSubstr("detect\n"));
}

TEST_F(HermeticComponent, OfAnotherPluginFileIsAskedAgain) {
  host_.plugins = host_.folder().at("plugins").string();
  fs::create_directory(host_.plugins);
  for (const auto& entry : fs::directory_iterator(SLIPWAY_TEST_PLUGINS))
    if (entry.path().extension() == ".so") fs::copy(entry.path(), host_.plugins);
  EXPECT_EQ(apply().code, 0);
  EXPECT_THAT(asked(), HasSubstr("detect\n"));
}

}  // namespace
}  // namespace slipway
