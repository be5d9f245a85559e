// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include <gmock/gmock.h>

#include "base/command_line/read_words.hpp"
#include "driver/build/options.hpp"

namespace slipway::driver {
namespace {

using ::testing::HasSubstr;

Result<BuildOptions> parse_build_options(const std::vector<std::string>& arguments) {
  SLIPWAY_TRY(words, command_line::read_words(build_line(), arguments));
  return build_options(words);
}

std::string refusal(const std::vector<std::string>& arguments) {
  const auto options = parse_build_options(arguments);
  EXPECT_FALSE(options);
  return options ? "" : options.error().what + " | " + options.error().next;
}

TEST(BuildOptions, AreReadInBothSpellings) {
  const auto options =
      parse_build_options({"--debs=/d", "--kernel", "6.1.0-50-amd64", "--output", "/o", "--compress=none", "--flavour",
                           "proprietary", "--with-source", "--record-failure"});
  ASSERT_TRUE(options) << to_text(options.error());
  EXPECT_EQ(options->debs, "/d");
  EXPECT_EQ(options->kernel, "6.1.0-50-amd64");
  EXPECT_EQ(options->compress, "");
  EXPECT_EQ(options->flavour, nvidia::Flavour::proprietary);
  EXPECT_TRUE(options->with_source);
  EXPECT_EQ(options->root, "/");
}

TEST(BuildOptions, AreRelativeToTheCallersWorkingDirectory) {
  const auto options = parse_build_options({"--debs", "d/.", "--kernel", "k", "--output", "../o", "--headers", "h"});
  ASSERT_TRUE(options) << to_text(options.error());
  const std::filesystem::path here = std::filesystem::current_path();
  EXPECT_EQ(options->debs, (here / "d").string());
  EXPECT_EQ(options->output, (here.parent_path() / "o").string());
  EXPECT_EQ(options->headers, (here / "h").string());
  EXPECT_EQ(options->scratch, "");
}

TEST(BuildOptions, NameErrorsWithASuggestion) {
  const std::vector<std::string> good{"--debs", "/d", "--kernel", "k", "--output", "/o"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), good.begin(), good.end());
    return refusal(more);
  };
  EXPECT_EQ(with({"--flavor", "open"}), "unknown option '--flavor' | did you mean --flavour?");
  EXPECT_THAT(with({"--flavour", "closed"}), HasSubstr("--flavour takes open or proprietary, not 'closed'"));
  EXPECT_THAT(with({"--compress", "bzip2"}), HasSubstr("xz, zstd or none, not 'bzip2'"));
  EXPECT_THAT(with({"--os"}), HasSubstr("--os needs a value"));
  EXPECT_THAT(with({"--with-source=yes"}), HasSubstr("--with-source takes only true or false"));
  EXPECT_THAT(with({"--sign-key", "/k"}), HasSubstr("belong together"));
  EXPECT_THAT(with({"--record-failure"}), HasSubstr("needs --with-source"));
  EXPECT_THAT(refusal({"--debs", "/d", "--output", "/o"}), HasSubstr("--kernel RELEASE is missing"));
  EXPECT_THAT(refusal({"--kernel", "k", "--output", "/o"}), HasSubstr("--debs DIR is missing"));
  EXPECT_THAT(refusal({"--kernel", "k", "--debs", "/d"}), HasSubstr("--output LAYOUT is missing"));
  EXPECT_THAT(refusal({"word"}), HasSubstr("takes no word 'word'"));
}

TEST(BuildOptions, AreAllInTheUsage) {
  for (const auto* option :
       {"--debs", "--kernel", "--output", "--flavour", "--with-source", "--record-failure", "--headers", "--root",
        "--os", "--compress", "--sign-key", "--sign-cert", "--default-flavour", "--scratch"})
    EXPECT_THAT(help_text(build_line()), HasSubstr(option));
}

TEST(DefaultCompression, IsWhatTheSystemsKmodReads) {
  EXPECT_EQ(default_compression("debian12"), "zstd");
  EXPECT_EQ(default_compression("debian13"), "zstd");
  EXPECT_EQ(default_compression("ubuntu22.04"), "zstd");
  EXPECT_EQ(default_compression("debian11"), "xz");
  EXPECT_EQ(default_compression("ubuntu20.04"), "xz");
  EXPECT_EQ(default_compression("rhel9.4"), "xz");
  EXPECT_EQ(default_compression(""), "xz");
}

}  // namespace
}  // namespace slipway::driver
