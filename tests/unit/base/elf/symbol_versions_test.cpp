// SPDX-License-Identifier: Apache-2.0
#include "base/modinfo/symbol_versions.hpp"

#include <cstdint>
#include <string>

#include <gmock/gmock.h>

#include "base/modinfo/module_info.hpp"
#include "tests/unit/base/elf/hostile_elf.hpp"
#include "tests/unit/base/elf/module_elf.hpp"

namespace slipway::base {
namespace {

using testing::appended_signature;
using testing::extended_versions;
using ::testing::HasSubstr;
using testing::hostile_elf;
using testing::module_elf;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;
using testing::version_records;

// As `modprobe --dump-modversions` prints them for a module of Debian's kernel 6.1.0-50-amd64.
const base::SymbolVersions kSome{{"module_layout", 0xbce1a965}, {"_printk", 0x92997ed8}};

TEST(SymbolVersions, OfAModuleAreThoseOfItsSection) {
  EXPECT_EQ(base::symbol_versions_of(module_elf(kSome)).value_or({}), kSome);
}

// CONFIG_EXTENDED_MODVERSIONS of Linux 6.14: names of any length. A module may have both; the kernel takes these.
TEST(SymbolVersions, OfALaterKernelHaveNamesOfAnyLength) {
  const base::SymbolVersions long_names{{"module_layout", 0x49fc4616}, {std::string(200, 'r'), 0xffffffff}};
  auto sections = extended_versions(long_names);
  EXPECT_EQ(base::symbol_versions_of(hostile_elf(sections)).value_or({}), long_names);
  sections.push_back({.name = "__versions", .content = version_records(kSome)});
  EXPECT_EQ(base::symbol_versions_of(hostile_elf(sections)).value_or({}), long_names);
}

TEST(SymbolVersions, OfAModuleWithoutThemAreEmpty) {
  const auto versions = base::symbol_versions_of(hostile_elf({{.name = ".modinfo", .content = "vermagic=6.1"}}));
  ASSERT_TRUE(versions);
  EXPECT_TRUE(versions->empty());
}

TEST(SymbolVersions, OfABrokenModuleAreRefused) {
  const auto reason = [](std::vector<testing::HostileSection> sections) {
    const auto versions = base::symbol_versions_of(hostile_elf(std::move(sections)));
    return versions ? std::string("none") : versions.error().what;
  };
  const std::string records = version_records(kSome);
  EXPECT_THAT(reason({{.name = "__versions", .content = records.substr(0, 100)}}), HasSubstr("cut off"));
  EXPECT_THAT(reason({{.name = "__versions", .content = std::string(64, 'x')}}), HasSubstr("broken"));
  EXPECT_THAT(reason({{.name = "__versions", .content = version_records({{"a\x1b", 1}})}}), HasSubstr("broken"));
  EXPECT_THAT(reason(extended_versions({{"a\x1b", 1}})), HasSubstr("broken"));
  EXPECT_THAT(reason({{.name = "__versions", .content = records, .declared_bytes = std::uint64_t{1} << 40U}}),
              HasSubstr("too large"));
  EXPECT_THAT(reason({{.name = "__versions", .content = records, .declared_bytes = 1U << 20U}}), HasSubstr("cut off"));
  auto sections = extended_versions(kSome);
  sections[1].content = "module_layout";
  EXPECT_THAT(reason(sections), HasSubstr("cut off"));
  sections = extended_versions(kSome);
  sections[0].content += "x";
  EXPECT_THAT(reason(sections), HasSubstr("cut off"));
  EXPECT_FALSE(base::symbol_versions_of("no module"));
}

TEST(SymbolVersions, OfAModuleSymversAreTheWantedOnes) {
  const std::string text =
      "0xbce1a965\tmodule_layout\tvmlinux\tEXPORT_SYMBOL\t\n"
      "0x4c9d28b0\tphys_base\tvmlinux\tEXPORT_SYMBOL\t\n"
      "4c9d28b0\tno_prefix\tvmlinux\tEXPORT_SYMBOL\t\n"
      "0x4c9d28b0ff\ttoo_long\tvmlinux\n"
      "0x00000002\tcontrol\x1b\tvmlinux\n"
      "# a remark\n\n\t\n"
      "0x00000001\tlast";
  const auto all = base::symbol_versions_in(text, [](std::string_view) { return true; });
  EXPECT_THAT(all,
              UnorderedElementsAre(Pair("module_layout", 0xbce1a965), Pair("phys_base", 0x4c9d28b0), Pair("last", 1)));
  const auto one = base::symbol_versions_in(text, [](std::string_view name) { return name == "phys_base"; });
  EXPECT_THAT(one, UnorderedElementsAre(Pair("phys_base", 0x4c9d28b0)));
}

TEST(SymbolVersions, ArePrintedAndReadInOneForm) {
  EXPECT_EQ(base::checksum_text(0x39823de), "0x039823de");
  std::uint32_t checksum = 7;
  EXPECT_TRUE(base::read_checksum("0x039823de", checksum));
  EXPECT_EQ(checksum, 0x39823deU);
  for (const char* bad : {"", "0x", "12", "0xg", "0x123456789", "0x1 "})
    EXPECT_FALSE(base::read_checksum(bad, checksum)) << bad;
}

TEST(ModuleSignature, IsTheMessageBehindTheModule) {
  const std::string module = "ELF";
  const auto of = [](const std::string& bytes) { return base::module_signature_of(bytes); };
  EXPECT_FALSE(of(module).value_or("?").has_value());
  const std::string with = module + appended_signature("message");
  EXPECT_EQ(of(with).value_or("?"), "message");
}

TEST(ModuleSignature, ThatIsBrokenIsRefused) {
  const auto reason = [](const std::string& bytes) {
    const auto signature = base::module_signature_of(bytes);
    return signature ? std::string("none") : signature.error().what;
  };
  EXPECT_THAT(reason("~Module signature appended~\n"), HasSubstr("cut off"));
  EXPECT_THAT(reason(appended_signature("")), HasSubstr("cut off"));
  EXPECT_THAT(reason(appended_signature("message", 8)), HasSubstr("too large"));
  EXPECT_THAT(reason(appended_signature("message", 0xffffffff)), HasSubstr("too large"));
  std::string pgp = appended_signature("message");
  pgp[std::string("message").size() + 2] = 0;
  EXPECT_THAT(reason(pgp), HasSubstr("not a PKCS#7 message"));
}

}  // namespace
}  // namespace slipway::base
