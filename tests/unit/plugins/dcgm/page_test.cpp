// SPDX-License-Identifier: Apache-2.0
#include "dcgm/page/page.hpp"

#include <cmath>
#include <map>
#include <regex>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <slipway/text.hpp>

#include "base/digest/digest.hpp"
#include "dcgm/page/page_maker.hpp"
#include "nvidia/nvml/event.hpp"
#include "tests/unit/plugins/dcgm/overview_maker.hpp"

namespace slipway::dcgm {
namespace {

using testing::gpu_with_everything;
using testing::gpu_with_instances;
using ::testing::HasSubstr;
using testing::kHostile;
using ::testing::Not;
using testing::overview_of;

/// Returns the digest in the form of Content-Security-Policy.
std::string policy_digest(std::string_view text) {
  const std::string hex = base::digest_hex(base::digest_of(text));
  std::string bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2) bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return "sha256-" + base64_encoded(bytes);
}

TEST(DcgmPage, HasThePolicyOfItsScriptAndStyle) {
  EXPECT_EQ(policy_digest(kPageScript), kPageScriptDigest);
  EXPECT_EQ(policy_digest(kPageStyle), kPageStyleDigest);
  EXPECT_THAT(page_policy(), HasSubstr("default-src 'none'"));
  EXPECT_THAT(page_policy(), Not(HasSubstr("unsafe")));
  const std::string page = page_html(overview_of({gpu_with_everything(0, "python3")}));
  EXPECT_THAT(page, HasSubstr(std::string("<script>") + kPageScript + "</script>"));
  EXPECT_THAT(page, HasSubstr(std::string("<style>") + kPageStyle + "</style>"));
  EXPECT_THAT(page, Not(HasSubstr("style=")));  // the policy would forbid it
  EXPECT_THAT(page, Not(::testing::ContainsRegex(" on[a-z]+=")));
}

TEST(DcgmPage, ShowsNothingFromElsewhere) {
  const std::string page = page_html(overview_of({gpu_with_everything(0, "python3"), gpu_with_instances(1, 7)}));
  for (const char* reference : {"http:", "https:", "//", "url(", "@import", " src=", " href="})
    EXPECT_THAT(page, Not(HasSubstr(reference)));
}

/// Returns the markup without the texts of script and style, which contain "<" and ">".
std::string markup_of(const std::string& page) {
  return std::regex_replace(page, std::regex("<(script|style)>[^]*?</\\1>"), "");
}

/// Checks that every element is closed, in the right order.
void expect_balanced(const std::string& page) {
  std::vector<std::string> open;
  const std::string markup = markup_of(page);
  static const std::regex kTag("<(/?)([a-z][a-z0-9]*)((?:\\s+[a-zA-Z-]+(?:=\"[^\"<>]*\")?)*)\\s*(/?)>");
  std::string rest = std::regex_replace(markup, kTag, "");
  EXPECT_EQ(rest.find_first_of("<>", rest.find("html>") + 5), std::string::npos) << rest.substr(0, 2000);
  for (std::sregex_iterator tag(markup.begin(), markup.end(), kTag), end; tag != end; ++tag) {
    const std::string name = (*tag)[2];
    if (name == "meta" || name == "br" || (*tag)[4].length() != 0) continue;
    if ((*tag)[1].length() == 0) {
      open.push_back(name);
      continue;
    }
    ASSERT_FALSE(open.empty()) << name;
    ASSERT_EQ(open.back(), name);
    open.pop_back();
  }
  EXPECT_TRUE(open.empty());
}

TEST(DcgmPage, IsWellFormedForAnyNames) {
  GpuOverview gpu = gpu_with_instances(3, 7);
  gpu.gpu.model = gpu.gpu.bus_id = kHostile;
  gpu.details->instances.front().profile = kHostile;
  gpu.details->processes.front().name = kHostile;
  gpu.pods.front() = {"GPU-3", 7U, kHostile, kHostile, kHostile};
  gpu.reasons = {{"GPU-3", Level::bad, kHostile, kHostile}};
  Overview overview = overview_of({gpu}, kHostile);
  overview.problem = overview.driver_version = overview.slipway_version = kHostile;
  const std::string page = page_html(overview);
  EXPECT_THAT(markup_of(page), Not(HasSubstr("<script")));
  EXPECT_THAT(page, HasSubstr("&lt;script&gt;alert(&#39;1&#39;)"));
  EXPECT_EQ(page.find('\x1b'), std::string::npos);
  EXPECT_EQ(page.find('\xff'), std::string::npos);
  expect_balanced(page);
}

TEST(DcgmPage, IsolatesTheWritingDirectionOfNames) {
  const std::string page = page_html(overview_of({gpu_with_everything(0,
                                                                      "a\xe2\x80\xae"
                                                                      "b")}));
  EXPECT_THAT(page, HasSubstr("<bdi>a\xe2\x80\xae"
                              "b</bdi>"));
}

TEST(DcgmPage, ReplacesInvalidUtf8) {
  EXPECT_EQ(html_text("a\x80"), "a\xef\xbf\xbd");
  EXPECT_EQ(html_text("\xed\xa0\x80"), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
  EXPECT_EQ(html_text("\xc2\x9b"), "\xef\xbf\xbd");  // a control character
  EXPECT_EQ(html_text("gr\xc3\xbc\xc3\x9f"), "gr\xc3\xbc\xc3\x9f");
  EXPECT_EQ(html_text("\xf0\x9f\x92"), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
}

TEST(DcgmPage, CanBeReadWithoutItsScript) {
  const std::string page = page_html(overview_of({gpu_with_everything(0, "python3"), gpu_with_instances(1, 2)}));
  EXPECT_THAT(page, HasSubstr("<noscript><meta http-equiv=\"refresh\" content=\"10\"></noscript>"));
  EXPECT_THAT(page, HasSubstr("<th scope=\"row\">0</th>"));
  for (const char* shown : {"42 %", "12.0 / 80.0 GiB", "61 &#176;C", "340 / 700 W", "1755 / 1980 MHz", "2 instances",
                            "4711", "python3", "11.0 GiB", "team-a/python3", "driver 550.90.07", "22:13:20 UTC"})
    EXPECT_THAT(page, HasSubstr(shown));
  expect_balanced(page);
}

TEST(DcgmPage, SaysThatValuesAreMissing) {
  GpuOverview lost = gpu_with_everything(2, "x");
  lost.details.reset();
  lost.level = Level::bad;
  lost.reasons = {{"GPU-2", Level::bad, "cannot be read: GPU is lost", "`slipway doctor` names the remedy"}};
  Overview overview = overview_of({lost});
  overview.problem = "the driver is not loaded";
  const std::string page = page_html(overview);
  EXPECT_THAT(page, HasSubstr("cannot be read: GPU is lost"));
  EXPECT_THAT(page, HasSubstr("The GPUs cannot be read: the driver is not loaded"));
  EXPECT_THAT(page, Not(HasSubstr("42 %")));
  expect_balanced(page);
  expect_balanced(page_html(overview_of({})));
}

/// Returns the luminance of "#rrggbb" or "#rgb" by WCAG 2.1.
double luminance(const std::string& colour) {
  double sum = 0;
  constexpr std::array kWeights{0.2126, 0.7152, 0.0722};
  for (std::size_t i = 0; i < 3; ++i) {
    const std::string part = colour.size() == 4 ? std::string(2, colour[1 + i]) : colour.substr(1 + 2 * i, 2);
    const double value = std::stoi(part, nullptr, 16) / 255.0;
    sum += kWeights[i] * (value <= 0.03928 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4));
  }
  return sum;
}

double contrast(const std::string& one, const std::string& other) {
  const double a = luminance(one);
  const double b = luminance(other);
  return (std::max(a, b) + 0.05) / (std::min(a, b) + 0.05);
}

TEST(DcgmPage, HasDistinguishableColours) {
  const std::string style = kPageStyle;
  const std::size_t dark = style.find("@media");
  const std::map<std::string, std::string> looks{{"light", style.substr(0, dark)},
                                                 {"dark", style.substr(dark, style.find("}}", dark) - dark)}};
  for (const auto& [look, text] : looks) {
    std::map<std::string, std::string> colour;
    static const std::regex kColour("--([a-z]+):(#[0-9a-f]{3,6})");
    for (std::sregex_iterator each(text.begin(), text.end(), kColour), end; each != end; ++each)
      colour[(*each)[1]] = (*each)[2];
    ASSERT_EQ(colour.size(), 13U) << look;
    for (const char* ground : {"paper", "card"})
      for (const char* ink : {"ink", "faint", "good", "note", "attention", "bad"})
        EXPECT_GE(contrast(colour[ink], colour[ground]), 4.5) << look << ": " << ink << " on " << ground;
    EXPECT_GE(contrast(colour["ink"], colour["box"]), 4.5) << look;
    EXPECT_GE(contrast(colour["fill"], colour["track"]), 3) << look;
    EXPECT_GE(contrast(colour["edge"], colour["card"]), 3) << look;
    EXPECT_GE(contrast(colour["note"], colour["card"]), 3) << look;
  }
}

TEST(DcgmPage, IsSmallWithManyGpusAndInstances) {
  std::vector<GpuOverview> eight;
  std::vector<GpuOverview> sixteen;
  for (unsigned i = 0; i < 8; ++i) eight.push_back(gpu_with_everything(i, "python3"));
  for (unsigned i = 0; i < 16; ++i) sixteen.push_back(gpu_with_instances(i, 7));
  EXPECT_LT(page_html(overview_of(eight)).size(), 40U << 10U);
  EXPECT_LT(page_html(overview_of(sixteen)).size(), 100U << 10U);
}

TEST(DcgmOverview, IsTheSameAfterItsJson) {
  GpuOverview gpu = gpu_with_instances(1, 3);
  gpu.level = Level::attention;
  gpu.reasons = {{"GPU-1", Level::attention, "XID 63", "reset it"}};
  gpu.xids = {{.number = 63, .instance = 8U, .time = History::Time(std::chrono::seconds(1699999999))}};
  gpu.line[5].reset();
  const Overview overview = overview_of({gpu_with_everything(0, "python3"), gpu});
  const Json json = to_json(overview);
  const auto back = overview_from_json(Json::parse(canonical(json)));
  ASSERT_TRUE(back);
  EXPECT_EQ(canonical(to_json(*back)), canonical(json));
}

TEST(DcgmOverview, TakesNothingForGrantedInForeignJson) {
  EXPECT_FALSE(overview_from_json(Json()));
  EXPECT_FALSE(overview_from_json(Json{{"kind", "Error"}}));
  for (const char* text :
       {R"({"kind":"GpuOverview","gpus":7})", R"({"kind":"GpuOverview","gpus":[null,[],"x",{"values":[]}]})",
        R"({"kind":"GpuOverview","time":99999999999999999999,"gpus":[{"index":-1,"values":{"utilizationPercent":1e300,
            "mig":{"enabled":true,"slices":4294967295,"instances":[{"start":4294967295,"size":4294967295}]}},
            "lastTenMinutes":[1e9,-5,"x",400]}]})"}) {
    const auto read = overview_from_json(Json::parse(text, nullptr, false));
    ASSERT_TRUE(read) << text;
    EXPECT_LT(page_html(*read).size(), 60000U);
  }
}

History::Time at(int after) { return History::Time(std::chrono::seconds(1700000000 + after)); }

TEST(DcgmHistory, HasTenMinutesInStepsOfFiveSeconds) {
  History history;
  for (int second = 0; second < 1200; ++second) history.add(at(second), second < 1000 ? 10 : 90);
  const auto steps = history.steps(at(1199), std::chrono::seconds(0));
  ASSERT_EQ(steps.size(), History::kSteps);
  EXPECT_EQ(steps.front(), 10U);
  EXPECT_EQ(steps.back(), 90U);
  EXPECT_EQ(std::ranges::count(steps, std::optional(90U)), 40);
}

TEST(DcgmHistory, HasAGapWhereThereWasNoValue) {
  History history;
  history.add(at(0), 50);
  history.add(at(10), std::nullopt);
  history.add(at(20), 60);
  const auto steps = history.steps(at(20), std::chrono::seconds(20));
  const std::vector<std::optional<unsigned>> last(steps.end() - 6, steps.end());
  EXPECT_THAT(last, ::testing::ElementsAre(std::nullopt, 50U, 50U, std::nullopt, std::nullopt, 60U));
}

TEST(DcgmHistory, DropsOldSamplesAndAcceptsAnyClock) {
  History history;
  history.add(at(0), 50);
  EXPECT_EQ(history.steps(at(600), std::chrono::seconds(0)), std::vector<std::optional<unsigned>>(120));
  history.add(at(-5000), 20);  // the clock was put back
  EXPECT_EQ(history.steps(at(-5000), std::chrono::seconds(0)).back(), 20U);
  history.add(at(-5000), std::nan(""));
  history.add(at(-5000), 1e9);
  EXPECT_EQ(history.steps(at(-5000), std::chrono::seconds(0)).back(), 60U);
}

Sample sample_of(std::uint64_t xid) {
  GpuDetails details;
  details.memory_total = 100;
  details.memory_used = 25;
  details.processes = {{.pid = 1, .name = "x", .memory = {}, .instance = {}}};
  GpuState state;
  state.gpu = {.index = 0, .uuid = "GPU-0", .bus_id = "b", .model = "m"};
  state.details = std::make_shared<const GpuDetails>(details);
  if (xid != 0) state.xids = {{NVML_NO_INSTANCE, xid}};
  Sample sample;
  sample.gpus = {state};
  sample.time = at(0);
  return sample;
}

TEST(DcgmOverview, ReportsWhatAnXidMeansAndRemembersIt) {
  PageMaker page({.node = "n", .shows_processes = true, .released = false, .interval = std::chrono::seconds(1)});
  for (const std::uint64_t xid : std::initializer_list<std::uint64_t>{0, 63, 63, 79, 31}) page.add(sample_of(xid), {});
  const Overview overview = page.overview(sample_of(31), {}, {}, false);
  const GpuOverview& gpu = overview.gpus.at(0);
  ASSERT_EQ(gpu.xids.size(), 3U);
  EXPECT_EQ(gpu.level, Level::attention);
  EXPECT_THAT(gpu.reasons.front().text, HasSubstr("XID "));
  EXPECT_FALSE(gpu.reasons.front().remedy.empty());
  EXPECT_EQ(gpu.reasons.back().level, Level::note) << "XID 31 is a mistake of the application";
  EXPECT_EQ(gpu.line.back(), 25U) << "without utilization, the line is of the memory";
}

// Before the fix, a service of another root named the command for the machine's own root.
TEST(DcgmOverview, NamesTheRootInTheCommandsOfItsRemedies) {
  const PodsAndHealth known{
      .pods = {}, .reasons = {{"GPU-0", Level::bad, "lost", "reset it (`slipway pause -- nvidia-smi -r -i 0`)"}}};
  const auto remedy = [&](const std::string& root) {
    PageMaker page({.node = "n", .interval = std::chrono::seconds(1), .root = root});
    page.add(sample_of(0), {});
    return page.overview(sample_of(0), {}, known, false).gpus.at(0).reasons.at(0).remedy;
  };
  EXPECT_EQ(remedy("/"), "reset it (`slipway pause -- nvidia-smi -r -i 0`)");
  EXPECT_EQ(remedy("/host"), "reset it (`slipway pause --root /host -- nvidia-smi -r -i 0`)");
  EXPECT_EQ(remedy("/my host's"), "reset it (`slipway pause --root '/my host'\\''s' -- nvidia-smi -r -i 0`)");
}

TEST(DcgmOverview, KeepsNoMoreThanAFewXids) {
  PageMaker page({.node = "n", .shows_processes = true, .released = false, .interval = std::chrono::seconds(1)});
  for (std::uint64_t xid = 1; xid < 100; ++xid) page.add(sample_of(xid), {});
  const Overview overview = page.overview(sample_of(99), {}, {}, false);
  EXPECT_EQ(overview.gpus.at(0).xids.size(), Past::kMostXids);
  EXPECT_EQ(overview.gpus.at(0).xids.back().number, 99U);
}

TEST(DcgmOverview, LeavesOutHiddenProcesses) {
  PageMaker page({.node = "n", .shows_processes = false, .released = false, .interval = std::chrono::seconds(1)});
  page.add(sample_of(0), {});
  EXPECT_TRUE(page.overview(sample_of(0), {}, {}, false).gpus.at(0).details->processes.empty());
  EXPECT_THAT(page_html(page.overview(sample_of(0), {}, {}, false)), HasSubstr("Processes are left out"));
  const Overview released = page.overview(sample_of(0), {}, {}, true);
  EXPECT_FALSE(released.gpus.at(0).details);
  EXPECT_THAT(released.problem, HasSubstr("another program needs the driver"));
}

TEST(DcgmOverview, ShowsOnlyItsOwnPodsAndAllReasons) {
  PageMaker page({.node = "n", .shows_processes = true, .released = false, .interval = std::chrono::seconds(1)});
  page.add(sample_of(0), {});
  const PodsAndHealth known{.pods = {{"GPU-0", {}, "a", "b", "c"}, {"GPU-1", {}, "no", "no", "no"}},
                            .reasons = {{"GPU-0", Level::bad, "it is hot", "cool it"}, {"", Level::note, "all", ""}}};
  const Overview overview = page.overview(sample_of(0), {}, known, false);
  const GpuOverview& gpu = overview.gpus.at(0);
  EXPECT_EQ(gpu.pods.size(), 1U);
  EXPECT_EQ(gpu.reasons.size(), 2U);
  EXPECT_EQ(gpu.level, Level::bad);
}

TEST(DcgmDetails, ShortensNamesOfPrograms) {
  EXPECT_EQ(short_name_of("/usr/bin/python3"), "python3");
  EXPECT_EQ(short_name_of("python3 train.py --to /data/x"), "python3 train.py --to /data/x");
  EXPECT_EQ(short_name_of(""), "");
  EXPECT_EQ(short_name_of(std::string(100, 'a')), std::string(45, 'a') + "...");
  std::string wide;
  for (int i = 0; i < 40; ++i) wide += "\xc3\xbc";
  EXPECT_LE(short_name_of(wide).size(), GpuDetails::kLongestName);
  EXPECT_THAT(html_text(short_name_of(wide)), Not(HasSubstr("\xef\xbf\xbd")));
}

}  // namespace
}  // namespace slipway::dcgm
