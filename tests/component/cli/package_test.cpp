// SPDX-License-Identifier: Apache-2.0
// The tasks of an image builder: digests to pin, bundles to carry, locks to follow.
#include "tests/component/artifact/support/layout_registry.hpp"
#include "tests/component/cli/driver_root.hpp"

namespace slipway {
namespace {

using slipway::testing::DriverRoot;
using slipway::testing::kPackage;
using slipway::testing::Ran;
using ::testing::HasSubstr;
using ::testing::Not;

Json json_of(const Ran& ran) {
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  return Json::parse(ran.out, nullptr, false);
}

/// Returns the digest in the last line, "pull: sha256:…".
std::string printed_digest(const Ran& ran) {
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  const auto at = ran.out.rfind("sha256:");
  return at == std::string::npos ? "" : ran.out.substr(at, ran.out.find('\n', at) - at);
}

TEST(PackageDigest, ThatIsPrintedCanBePinnedByASpec) {
  const DriverRoot root;
  const std::string layout = root.folder().at("layout").string();
  const Ran pull = root.slipway({"pkg", "pull", kPackage, "--to", layout});
  const std::string digest = printed_digest(pull);
  EXPECT_THAT(pull.out, HasSubstr("  " + digest + "  index: a spec pins it with `digest:`\n"));

  const Json inspected = json_of(root.slipway({"pkg", "inspect", layout, "-o", "json"}));
  ASSERT_EQ(inspected["indexes"].size(), 1U) << inspected;
  EXPECT_EQ(inspected["indexes"][0]["digest"], digest);
  for (const Json& entry : inspected["entries"]) EXPECT_NE(entry["digest"], digest) << "a manifest is not an index";
  EXPECT_THAT(root.slipway({"pkg", "inspect", layout}).out, HasSubstr(digest + "  index"));

  root.source("{repository: " + layout + ", digest: \"" + digest + "\"}");
  const Ran apply = root.run({"apply"});
  EXPECT_EQ(apply.code, 0) << apply.out << apply.err;
}

TEST(Bundle, IsMadeByAPullToATarFile) {
  const DriverRoot root;
  const std::string file = root.folder().at("drv.tar").string();
  const std::string digest = printed_digest(root.slipway({"pkg", "pull", kPackage, "--to", file}));
  EXPECT_TRUE(std::filesystem::is_regular_file(file));
  for (const auto& entry : std::filesystem::directory_iterator(root.folder().at(".")))
    EXPECT_THAT(entry.path().string(), Not(HasSubstr(".slipway-new")));
  root.source("{repository: " + file + ", digest: \"" + digest + "\"}");
  const Ran apply = root.run({"apply"});
  EXPECT_EQ(apply.code, 0) << apply.out << apply.err;

  const std::string again = root.folder().at("again.tar").string();
  EXPECT_EQ(printed_digest(root.slipway({"pkg", "pull", file, "--to", again})), digest);
  EXPECT_EQ(std::system(("cmp " + file + " " + again).c_str()), 0) << "equal packages make equal files";
}

TEST(Lock, ForAnotherAddressIsRefused) {
  const DriverRoot root;
  const std::string lock = root.folder().at("slipway.lock").string();
  ASSERT_EQ(root.run({"apply", "--lock", lock}).code, 0);
  const std::string moved = root.folder().at("moved").string();
  std::filesystem::copy(kPackage, moved, std::filesystem::copy_options::recursive);
  root.source("{repository: " + moved + ", trust: unsigned}");
  const Ran locked = root.run({"plan", "--lock", lock, "--locked"});
  EXPECT_EQ(locked.code, 1) << locked.out << locked.err;
  EXPECT_THAT(locked.out + locked.err, HasSubstr("the lock (" + lock + ") names the packages of driver as those of " +
                                                 kPackage + ", and the spec those of " + moved));
  const Ran free = root.run({"plan", "--lock", lock});
  EXPECT_THAT(free.err, HasSubstr(moved + ": they are chosen again")) << free.out;
}

// Before the fix, the sentence contained the sources as JSON, and mentioned a lock without such a file.
TEST(Lock, OfTheActiveGenerationNamesTheDifferenceOfASource) {
  const DriverRoot root;
  ASSERT_EQ(root.run({"apply"}).code, 0);
  root.source("{repository: " + kPackage + ", trust: unsigned, auth: /etc/auth.json}");
  EXPECT_THAT(root.run({"plan"}).err, HasSubstr("the lock (generation 1) names the packages of driver as those of " +
                                                kPackage + ", with trust unsigned, and the spec those of " + kPackage +
                                                ", with auth and trust unsigned: they are chosen again"));
}

// With the lock and the cache, a missing registry does not matter.
TEST(Registry, IsNotAskedWhenLockAndCacheSuffice) {
  const DriverRoot root;
  const std::string lock = root.folder().at("slipway.lock").string();
  {
    const artifact::test::LayoutMaker layout(root.folder().at("served").string());
    std::filesystem::copy(kPackage, layout.path(),
                          std::filesystem::copy_options::recursive | std::filesystem::copy_options::overwrite_existing);
    const artifact::test::LayoutRegistry served(layout);
    root.source("{repository: \"" + served.repository() + "\", trust: unsigned}");
    const Ran apply = root.run({"apply", "--lock", lock});
    ASSERT_EQ(apply.code, 0) << apply.out << apply.err;
  }
  std::filesystem::remove_all(root.path(""));
  std::filesystem::create_directory(root.path(""));
  const Ran again = root.run({"apply", "--lock", lock, "--locked"});
  EXPECT_EQ(again.code, 0) << again.out << again.err;
}

TEST(Registry, ThatIsUnreachableIsQueriedOnce) {
  const DriverRoot root;
  const Ran gone = root.slipway({"pkg", "inspect", "oci://127.0.0.1:1/nvidia/driver"});
  EXPECT_EQ(gone.code, 1);
  EXPECT_THAT(gone.err, HasSubstr("the connection was refused"));
  EXPECT_THAT(gone.err, Not(HasSubstr("tried:")));
}

}  // namespace
}  // namespace slipway
