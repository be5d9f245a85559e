// SPDX-License-Identifier: Apache-2.0
// An artifact source that does not answer yet, as at a first boot: `apply --wait-for-source` tries again.
#include "tests/component/cli/driver_root.hpp"

namespace slipway {
namespace {

using slipway::testing::becomes_true;
using slipway::testing::DriverRoot;
using slipway::testing::Ran;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kNobody = "{repository: \"oci://127.0.0.1:1/nvidia/driver\", trust: unsigned}";
const std::string kDriver = "usr/lib/slipway/store/driver";

TEST(SourceWait, EndsWithWaitingWhenItsTimeIsOver) {
  const DriverRoot root;
  root.source(kNobody);
  const Ran apply = root.run({"apply", "--wait-for-source=1s"});
  EXPECT_EQ(apply.code, 3) << apply.out << apply.err;
  EXPECT_THAT(apply.out, AllOf(HasSubstr("driver: waiting ("), HasSubstr("127.0.0.1:1"),
                               HasSubstr("slipway waited 1s, and then gave up")));
  EXPECT_THAT(apply.out, HasSubstr("Nothing was changed. What waits still has to be done."));
  EXPECT_FALSE(std::filesystem::exists(root.path(kDriver)));
  EXPECT_EQ(root.run({"apply"}).code, 1) << "without it, it is a failure";
}

TEST(SourceWait, ContinuesOnceTheSourceAnswers) {
  const DriverRoot root;
  root.source(kNobody);
  const pid_t child = root.start({"apply", "--wait-for-source", "--sim", "h100x8"});
  ASSERT_TRUE(becomes_true([&] {
    return root.error_text().find("slipway waits until this is over") != std::string::npos;
  })) << root.error_text();
  root.source("{repository: " + testing::kPackage + ", trust: unsigned}");
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << root.error_text();
  EXPECT_TRUE(std::filesystem::exists(root.path(kDriver)));
}

// Before the fix, components that need the driver failed, so that the apply ended with 1.
TEST(SourceWait, IncludesTheComponentsThatDependOnIt) {
  const DriverRoot root;
  root.spec("    driver: {version: \"535.261.03\", modules: open, source: " + std::string(kNobody) +
            "}\n    cdi: {}\n    gfd: {}\n    validator: {}\n");
  const Ran apply = root.run({"apply", "--wait-for-source=1s"}, "h100x8,driver=none");
  EXPECT_EQ(apply.code, 3) << apply.out << apply.err;
  EXPECT_THAT(apply.out, Not(HasSubstr(": failed")));
}

// Only the digest differed, which no check of the driver compares: before the fix, verify printed "Verified.", although
// nothing of that spec was installed.
TEST(SourceWait, OfASpecThatIsNotActiveFailsItsVerify) {
  const DriverRoot root;
  ASSERT_EQ(root.run({"apply"}).code, 0);
  const std::string file = root.folder().at("host.yaml").string();
  const std::string other =
      "{repository: \"oci://127.0.0.1:1/nvidia/driver\", digest: \"sha256:" + std::string(64, 'a') + "\"}";
  for (const auto& [words, code] :
       std::vector<std::pair<std::vector<std::string>, int>>{{{"apply"}, 1}, {{"apply", "--wait-for-source=1s"}, 3}}) {
    SCOPED_TRACE(code);
    root.source(other);
    EXPECT_EQ(root.run(words).code, code);
    const Ran asked = root.run({"verify", "-f", file});
    EXPECT_EQ(asked.code, 1) << asked.out;
    EXPECT_THAT(asked.out, AllOf(HasSubstr("fail  driver.apply: the last apply left it "),
                                 HasSubstr(" --wait-for-source` again")));
    const Ran in_force = root.run({"verify"});
    EXPECT_EQ(in_force.code, 0) << in_force.out;
    EXPECT_THAT(in_force.out, HasSubstr("warning  driver.apply: "));
  }
}

// Before the fix, the digest of a spec that was not applied yet was not compared.
TEST(Verify, OfASpecThatWasNotAppliedYetNamesWhatDiffers) {
  const DriverRoot root;
  ASSERT_EQ(root.run({"apply"}).code, 0);
  const std::string file = root.folder().at("host.yaml").string();
  EXPECT_THAT(root.run({"verify", "-f", file}).out, Not(HasSubstr("driver.spec")));
  root.source("{repository: " + testing::kPackage + ", digest: \"sha256:" + std::string(64, 'a') + "\"}");
  const Ran asked = root.run({"verify", "-f", file});
  EXPECT_THAT(asked.out, AllOf(HasSubstr("warning  driver.spec: what is applied (generation 1) is not what this spec "
                                         "says: source.digest, source.trust\n"),
                               HasSubstr("do: `slipway plan "), HasSubstr(" -f " + file)));
  EXPECT_THAT(root.run({"verify"}).out, Not(HasSubstr("driver.spec"))) << "of the active generation";
}

// A second --wait would wait for another process that holds the lock, and a wrong address does not become right over
// time.
TEST(SourceWait, IsNotForOtherErrors) {
  const DriverRoot root;
  root.source("{repository: /nowhere/package, trust: unsigned}");
  const Ran apply = root.run({"apply", "--wait-for-source"});
  EXPECT_EQ(apply.code, 1) << apply.out;
  EXPECT_THAT(root.run({"apply", "--wait-for-source=soon"}).err,
              HasSubstr("--wait-for-source takes a duration, not 'soon'"));
  EXPECT_THAT(root.run({"apply", "--wait-for-source", "--dry-run"}).err, HasSubstr("--wait-for-source could wait for"));
}

}  // namespace
}  // namespace slipway
