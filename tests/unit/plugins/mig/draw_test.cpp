// SPDX-License-Identifier: Apache-2.0
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <slipway/text.hpp>

#include "mig/draw/picture.hpp"
#include "mig/layout/gpu_space.hpp"
#include "products.hpp"

namespace slipway::mig {
namespace {

using namespace testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr TerminalStyle kAsciiStyle{};
constexpr TerminalStyle kUtf8Style{.utf8 = true, .colour = false};

Gpu gb200() { return seven_slices("NVIDIA GB200", 0x2941, {23, 47, 93, 186}); }

std::vector<Gpu> all_products() {
  std::vector<Gpu> all = products();
  all.push_back(gb200());
  return all;
}

std::vector<std::string> lines_of_picture(const std::vector<GpuInUse>& gpus, const TerminalStyle& style = kAsciiStyle) {
  return lines_of(gpus_text(gpus, style));
}

void expect_narrow(const std::string& text) {
  for (const std::string& line : lines_of(text)) EXPECT_LE(width_of(line), 80U) << line;
}

/// The box of each instance lies on its memory slices and contains its name, and there are no other boxes.
void expect_boxes(const Gpu& gpu) {
  const auto lines = lines_of_picture({{.gpu = gpu, .holders = {}}});
  const auto scale = std::ranges::find_if(lines, [](const std::string& line) { return line.starts_with("slice"); });
  ASSERT_NE(scale, lines.end());
  if (gpu.instances.empty()) return;
  const std::string& top = *(scale + 1);
  const std::string& names = *(scale + 2);
  const std::size_t unit = 64 / memory_slices(gpu);
  std::size_t columns_of_boxes = 0;
  for (const Block& block : blocks_of(gpu)) {
    if (block.kind != Block::Kind::instance) continue;
    const std::size_t begin = 9 + block.start * unit;
    const std::size_t width = block.size * unit - 1;
    EXPECT_EQ(top.substr(begin, width + 2), "+" + std::string(width, '-') + "+") << top;
    EXPECT_EQ(names[begin], '|') << names;
    EXPECT_EQ(names[begin + width + 1], '|') << names;
    EXPECT_EQ(trimmed(names.substr(begin + 1, width)), fitting(block.names, width)) << names;
    columns_of_boxes += width;
  }
  EXPECT_EQ(static_cast<std::size_t>(std::ranges::count(top, '-')), columns_of_boxes) << top;
}

TEST(MigPicture, HasABoxForEachInstanceOnItsSlices) {
  std::mt19937 random(19);  // NOLINT(cert-msc51-cpp): the same samples each time
  for (const Gpu& product : all_products())
    for (int i = 0; i < 60; ++i) {
      const Gpu gpu = with(product, any_instances(product, random));
      expect_boxes(gpu);
      for (const TerminalStyle& style : {kAsciiStyle, kUtf8Style})
        expect_narrow(gpus_text({{.gpu = gpu, .holders = {}}}, style));
    }
}

TEST(MigPicture, NamesEachProfileInABoxOfItsSize) {
  for (const Gpu& product : all_products())
    for (const InstanceProfile& profile : product.profiles) {
      const Gpu gpu = with(product, {whole(product, profile.profile.text(), profile.starts.front())});
      const std::string text = gpus_text({{.gpu = gpu, .holders = {}}}, kAsciiStyle);
      const std::string name = profile.profile.text();
      const std::string brief = std::to_string(profile.profile.gpu_slices) + "g+me";
      EXPECT_TRUE(text.find(name + " ") != std::string::npos || text.find("|" + name + "|") != std::string::npos ||
                  text.find(brief + " |") != std::string::npos)
          << text;
    }
}

TEST(MigPicture, ShowsAPartitionedGpu) {
  const Gpu gpu = h100();
  const Gpu now = with(gpu, {whole(gpu, "1g.10gb", 0), whole(gpu, "1g.10gb+me", 1),
                             GpuInstance{.start = 4, .profile_id = 9, .compute = {{0, 1}, {2, 1}}}});
  EXPECT_EQ(
      gpus_text({{.gpu = now, .holders = {{.start = 4, .text = "python3 (pid 7) on 3g.40gb at 4"}}}}, kAsciiStyle),
      "GPU 0 (0000:18:00.0): NVIDIA H100 80GB HBM3, MIG: 4 of 7 compute slices used\n"
      "slice        0       1       2       3       4       5       6       7\n"
      "         +-------+-------+               +-------------------------------+\n"
      "         |1g.10gb| 1g+me | free    free  |            3g.40gb            |\n"
      "compute  |  1c   |  1c   |               |   1c    |   free   |    1c    |\n"
      "         +-------+-------+               +---------+----------+----------+\n"
      "in use   python3 (pid 7) on 3g.40gb at 4\n"
      "fits     1 x 2g.20gb, 1 x 1g.20gb or 2 x 1g.10gb\n");
}

TEST(MigPicture, HasBoxDrawingCharactersWhereTheTerminalShowsThem) {
  const Gpu gpu = a30();
  const auto lines = lines_of_picture({{.gpu = with(gpu, {whole(gpu, "2g.12gb", 0)}), .holders = {}}}, kUtf8Style);
  EXPECT_THAT(lines, ::testing::Contains("         ┌───────────────────────────────┐"));
  EXPECT_THAT(lines, ::testing::Contains("         │            2g.12gb            │     free            free"));
  const std::string plain = gpus_text({{.gpu = with(gpu, {whole(gpu, "2g.12gb", 0)}), .holders = {}}}, kAsciiStyle);
  EXPECT_TRUE(std::ranges::all_of(plain, [](unsigned char c) { return c < 0x80; }));
}

// The eighth memory slice of seven 1g is free, but no compute slice is left for it.
TEST(MigPicture, DistinguishesFreeSlicesFromUnusableOnes) {
  const Gpu gpu = h100();
  Instances seven;
  for (unsigned start = 0; start < 7; ++start) seven.push_back(whole(gpu, "1g.10gb", start));
  const std::string text = gpus_text({{.gpu = with(gpu, seven), .holders = {}}}, kAsciiStyle);
  EXPECT_THAT(text, HasSubstr("|1g.10gb|   .\n"));
  EXPECT_THAT(text, Not(HasSubstr("free")));
  EXPECT_THAT(text, HasSubstr("fits     nothing more\n"));
}

TEST(MigPicture, IsOneBlockWhereMigIsDisabledOrImpossible) {
  Gpu gpu = h100();
  gpu.enabled = gpu.pending = false;
  EXPECT_THAT(lines_of_picture({{.gpu = gpu, .holders = {}}}),
              ElementsAre("GPU 0 (0000:18:00.0): NVIDIA H100 80GB HBM3, MIG disabled",
                          "         +---------------------------------------------------------------+",
                          "         |                    whole GPU, MIG disabled                    |",
                          "         +---------------------------------------------------------------+"));
  gpu.pending = true;
  EXPECT_THAT(gpus_text({{.gpu = gpu, .holders = {}}}, kAsciiStyle),
              HasSubstr("MIG disabled; the next reset\n  enables MIG\n"));
  gpu.profiles.clear();
  EXPECT_THAT(gpus_text({{.gpu = gpu, .holders = {}}}, kAsciiStyle), HasSubstr("whole GPU, MIG disabled"));
  gpu.capable = false;
  EXPECT_THAT(gpus_text({{.gpu = gpu, .holders = {}}}, kAsciiStyle), HasSubstr("not capable of MIG"));
}

TEST(MigPicture, DrawsEqualGpusOnceUnlessTheyAreInUse) {
  const Gpu gpu = h100();
  std::vector<GpuInUse> gpus;
  for (unsigned index = 0; index < 8; ++index) {
    gpus.push_back({.gpu = with(gpu, {whole(gpu, "3g.40gb", 0)}), .holders = {}});
    gpus.back().gpu.index = index;
    gpus.back().gpu.uuid = "GPU-" + std::to_string(index);
  }
  gpus[4].holders.push_back({.start = 0, .text = "train (pid 9) on 3g.40gb at 0"});
  gpus[6].gpu.instances = {whole(gpu, "3g.40gb", 4)};
  std::vector<std::string> names;
  for (const GpuGroup& group : grouped(gpus)) names.push_back(group.name());
  EXPECT_THAT(names, ElementsAre("GPU 0-3, 5, 7", "GPU 4 (0000:18:00.0)", "GPU 6 (0000:18:00.0)"));
  const auto lines = lines_of_picture(gpus);
  EXPECT_LE(lines.size(), 24U) << "they fit on a screen";
  EXPECT_EQ(std::ranges::count_if(lines, [](const std::string& line) { return line.starts_with("slice"); }), 1)
      << "one scale for GPUs of one size";
  EXPECT_EQ(ranges_text({0, 1, 3, 4, 5, 9}), "0, 1, 3-5, 9");
}

TEST(MigPicture, EscapesNamesOfProcesses) {
  const Gpu gpu = h100();
  GpuInUse used{.gpu = with(gpu, {whole(gpu, "7g.80gb", 0)}), .holders = {}};
  used.holders.push_back({.start = 0, .text = "\033[2J\n\xc3\xa4" + std::string(300, 'x') + " (pid 1)"});
  for (int pid = 2; pid < 30; ++pid)
    used.holders.push_back({.start = 0, .text = "p (pid " + std::to_string(pid) + ")"});
  const std::string text = gpus_text({used}, kUtf8Style);
  expect_narrow(text);
  EXPECT_THAT(text, HasSubstr("?[2J???xxx"));
  EXPECT_THAT(text, HasSubstr("and 18 more processes"));
  EXPECT_THAT(gpus_svg({used}), Not(HasSubstr("\033")));
}

TEST(MigPicture, HasColoursOnlyWhereTheTerminalShowsThem) {
  const Gpu gpu = h100();
  const GpuInUse used{.gpu = with(gpu, {whole(gpu, "3g.40gb", 4)}), .holders = {{.start = 4, .text = "p (pid 1)"}}};
  const std::string coloured = gpus_text({used}, {.utf8 = false, .colour = true});
  EXPECT_THAT(coloured, HasSubstr("\033[1mGPU 0 (0000:18:00.0)\033[0m: "));
  EXPECT_THAT(coloured, HasSubstr("\033[33m3g.40gb\033[0m"));
  EXPECT_THAT(gpus_text({used}, kAsciiStyle), Not(HasSubstr("\033")));
}

TEST(MigPicture, KeepsCountAndProfileOnOneLine) {
  const std::string text = gpus_text({{.gpu = rtx_pro_6000(), .holders = {}}}, kAsciiStyle);
  expect_narrow(text);
  EXPECT_THAT(text, HasSubstr("fits     "));
  for (const std::string& line : lines_of(text))
    EXPECT_FALSE(line.ends_with(" x") || trimmed(line).starts_with("x ")) << line;
}

std::size_t count_of(const std::string& text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++count;
  return count;
}

TEST(MigPictureSvg, HasABoxForEachInstanceAndOneForEachFreeSlice) {
  std::mt19937 random(23);  // NOLINT(cert-msc51-cpp): the same samples each time
  for (const Gpu& product : all_products())
    for (int i = 0; i < 20; ++i) {
      const Gpu gpu = with(product, any_instances(product, random));
      const std::string svg = gpus_svg({{.gpu = gpu, .holders = {}}});
      EXPECT_EQ(count_of(svg, "class=\"box\""), gpu.instances.size()) << svg;
      std::size_t taken = 0;
      for (const GpuInstance& each : gpu.instances) taken += gpu.find(each.profile_id)->size;
      std::size_t free_cells = 0;
      const auto blocks = blocks_of(gpu);
      const bool has_parts = std::ranges::any_of(
          blocks, [](const Block& each) { return each.kind == Block::Kind::instance && !each.is_one_device(); });
      for (const Block& block : blocks)
        for (const Cell& cell : cells_of(block)) free_cells += has_parts && cell.is_free ? 1U : 0U;
      EXPECT_EQ(count_of(svg, "class=\"free\""), memory_slices(gpu) - taken + free_cells) << svg;
    }
}

TEST(MigPictureJson, HasTheSameContentAsTheText) {
  const Gpu gpu = h100();
  const Gpu now = with(gpu, {GpuInstance{.start = 4, .profile_id = 9, .compute = {{0, 1}}}});
  const Json json =
      gpus_json({{.gpu = now, .holders = {{.start = 4, .text = "a (pid 1)"}, {.start = {}, .text = "b (pid 2)"}}}});
  EXPECT_EQ(json["apiVersion"], "slipway.dev/v1");
  EXPECT_EQ(json["kind"], "MigGpus");
  const Json& shown = json["gpus"][0];
  EXPECT_EQ(shown["memory_slices"], 8);
  EXPECT_EQ(shown["compute_slices"], 7);
  EXPECT_EQ(shown["holders"], Json({"b (pid 2)"}));
  EXPECT_EQ(shown["instances"], Json::parse(R"json([{"profile": "3g.40gb", "start": 4, "size": 4, "slices": 3,
      "compute": [{"start": 0, "slices": 1}], "holders": ["a (pid 1)"]}])json"));
  EXPECT_EQ(shown["room"].front(), Json({{"profile", "4g.40gb"}, {"count", 1}}));
}

/// Returns the state of the GPU after an entry of a config.
Intent intent_of(const Gpu& gpu, const Counts& wanted, bool enabled = true) {
  const Entry entry{.where = "test", .filter = {}, .devices = {}, .layout = {.enabled = enabled, .devices = wanted}};
  return intents_of({entry}, {gpu})->gpus.front();
}

/// Returns the drawing of one GPU's change.
std::string change_drawn(const Intent& intent) {
  const std::vector<Intent> intents{intent};
  return changes_text(changes_of(intents));
}

TEST(MigChangePicture, MarksKeptDestroyedAndCreatedInstances) {
  const Gpu gpu = h100();
  Instances seven;
  for (unsigned start = 0; start < 7; ++start) seven.push_back(whole(gpu, "1g.10gb", start));
  std::vector<Intent> intents;
  for (unsigned index = 0; index < 3; ++index) {
    Gpu now = with(gpu, seven);
    now.index = index;
    intents.push_back(intent_of(now, counts({{"1g.10gb", 2}, {"2g.20gb", 1}, {"3g.40gb", 1}})));
  }
  EXPECT_EQ(changes_of(intents).front().name(), "GPU 0-2");
  EXPECT_EQ(changes_text(changes_of(intents)),
            "slice        0       1       2       3       4       5       6       7\n"
            "now      |1g.10gb|1g.10gb|1g.10gb|1g.10gb|1g.10gb|1g.10gb|1g.10gb|   .\n"
            "          ======= ======= ------- ------- ------- ------- -------\n"
            "then     |1g.10gb|1g.10gb|    2g.20gb    |            3g.40gb            |\n"
            "          ======= ======= +++++++++++++++ +++++++++++++++++++++++++++++++\n"
            "(= stays, - is destroyed, + is created)\n");
}

TEST(MigChangePicture, MarksThePartsOfAnInstanceThatStays) {
  const Gpu gpu = h100();
  const Gpu now = with(gpu, {GpuInstance{.start = 4, .profile_id = 9, .compute = {{0, 1}, {1, 1}}}});
  const auto lines = lines_of(change_drawn(intent_of(now, counts({{"1c.3g.40gb", 1}}))));
  ASSERT_EQ(lines.size(), 8U);
  EXPECT_EQ(lines[2], "compute                                  |   1c    |    1c    |   free   |");
  EXPECT_EQ(lines[3], "                                          ========= ----------");
  EXPECT_EQ(lines[6], "                                          =========");
}

TEST(MigChangePicture, ShowsAChangeOfTheMode) {
  Gpu gpu = h100();
  gpu.enabled = gpu.pending = false;
  const std::string enabled = change_drawn(intent_of(gpu, counts({{"7g.80gb", 1}})));
  EXPECT_THAT(enabled, HasSubstr("now      |                    whole GPU, MIG disabled                    |\nthen "));
  EXPECT_THAT(enabled, HasSubstr("+++++++"));
  const std::string disabled = change_drawn(intent_of(with(h100(), {whole(gpu, "7g.80gb", 0)}), {}, false));
  EXPECT_THAT(disabled, HasSubstr("-------"));
  EXPECT_THAT(disabled, HasSubstr("then     |                    whole GPU, MIG disabled                    |"));
  gpu.profiles.clear();
  const std::string later = change_drawn(intent_of(gpu, counts({{"3g.40gb", 2}})));
  EXPECT_THAT(later, HasSubstr("2 x 3g.40gb, placed once MIG is enabled"));
}

TEST(MigChangePicture, HasAHeadingForEachOfSeveralChanges) {
  const Gpu gpu = h100();
  std::vector<Intent> intents{intent_of(gpu, counts({{"7g.80gb", 1}})), intent_of(gpu, counts({{"3g.40gb", 2}})),
                              intent_of(with(gpu, {whole(gpu, "7g.80gb", 0)}), counts({{"7g.80gb", 1}}))};
  intents[1].gpu.index = 1;
  intents[2].gpu.index = 2;
  const std::string text = changes_text(changes_of(intents));
  EXPECT_TRUE(text.starts_with("GPU 0 (0000:18:00.0): MIG enabled without devices -> 1 x 7g.80gb\nslice ")) << text;
  EXPECT_THAT(text, HasSubstr("\nGPU 1 (0000:18:00.0): MIG enabled without devices -> 2 x 3g.40gb\nslice "));
  EXPECT_THAT(text, Not(HasSubstr("GPU 2"))) << "it is what it is to be";
}

TEST(MigChangePicture, IsEmptyWhereNothingChanges) {
  const Gpu gpu = h100();
  EXPECT_THAT(change_drawn(intent_of(with(gpu, {whole(gpu, "7g.80gb", 0)}), counts({{"7g.80gb", 1}}))), IsEmpty());
}

TEST(MigChangePicture, IsNarrowForEveryProduct) {
  std::mt19937 random(7);  // NOLINT(cert-msc51-cpp): the same samples each time
  for (const Gpu& product : all_products())
    for (int i = 0; i < 40; ++i) {
      const Gpu now = with(product, any_instances(product, random));
      const Gpu then = with(product, any_instances(product, random));
      for (const std::string& line : lines_of(change_drawn(intent_of(now, layout_of(then).devices)))) {
        EXPECT_LE(line.size(), 76U) << line;
        EXPECT_TRUE(std::ranges::all_of(line, [](unsigned char c) { return c >= 0x20 && c < 0x7f; })) << line;
      }
    }
}

}  // namespace
}  // namespace slipway::mig
