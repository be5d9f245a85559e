// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/mount.h>

#include "tests/component/cli/driver_root.hpp"

namespace slipway {
namespace {

using slipway::testing::DriverRoot;
using slipway::testing::Ran;
using ::testing::HasSubstr;

/// Mounts of this process only; false where that is not allowed.
bool own_mounts() {
  return ::unshare(CLONE_NEWNS) == 0 && ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
}

TEST(Root, ThatIsReadOnlyIsLeftAloneWithTheReason) {
  if (!own_mounts()) GTEST_SKIP() << "needs to mount";
  const DriverRoot root;
  const std::string folder = root.folder().at("root").string();
  ASSERT_EQ(::mount(folder.c_str(), folder.c_str(), nullptr, MS_BIND, nullptr), 0);
  ASSERT_EQ(::mount(nullptr, folder.c_str(), nullptr, MS_REMOUNT | MS_BIND | MS_RDONLY, nullptr), 0);
  const auto before = root.tree();
  EXPECT_EQ(root.run({"plan"}).code, 2) << "a plan needs to write nothing";
  expect_refused(root, root.run({"apply"}), 1, {"Read-only file system"}, before);
  ::umount2(folder.c_str(), MNT_DETACH);
}

TEST(Root, ThatIsFullIsPutBackAsItWas) {
  if (!own_mounts()) GTEST_SKIP() << "needs to mount";
  const DriverRoot root;
  const std::string folder = root.folder().at("root").string();
  // Room for the state and the journal, not for the package.
  ASSERT_EQ(::mount("tmpfs", folder.c_str(), "tmpfs", 0, "size=160k"), 0);
  root.put("etc/hostname", "node\n");
  const auto before = root.tree();
  const Ran apply = root.run({"apply"});
  EXPECT_EQ(apply.code, 1) << apply.out;
  EXPECT_THAT(apply.err + apply.out, HasSubstr("space"));
  auto after = root.tree();
  std::erase_if(after, [](const auto& entry) { return entry.first.starts_with("var"); });
  EXPECT_EQ(after.at("etc/hostname"), before.at("etc/hostname"));
  EXPECT_FALSE(std::filesystem::exists(root.path("usr/lib/slipway/store/driver/current")));
  EXPECT_FALSE(std::filesystem::exists(root.path("etc/modprobe.d")));
  ::umount2(folder.c_str(), MNT_DETACH);
}

TEST(Root, ThatAnotherSlipwayWorksOnIsLeftAlone) {
  const DriverRoot root;
  const auto before = root.tree();
  const int holder = ::open(root.folder().at("root").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  ASSERT_EQ(::flock(holder, LOCK_EX | LOCK_NB), 0);
  expect_refused(root, root.run({"apply"}), 75, {"another"}, before);
  EXPECT_EQ(root.run({"plan"}).code, 2) << "looking needs no lock";
  ::close(holder);
  EXPECT_EQ(root.run({"apply"}).code, 0) << "the lock dies with its holder";
}

TEST(Root, OfALaterSlipwayIsRefused) {
  const DriverRoot root;
  root.put("var/lib/slipway/format", "99\n");
  const auto before = root.tree();
  expect_refused(root, root.run({"apply"}), 1, {"99"}, before);
}

TEST(Root, ThatIsNotThereIsNamed) {
  const DriverRoot root;
  std::filesystem::remove(root.folder().at("root"));
  const Ran ran = root.run({"plan"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.err, HasSubstr(root.folder().at("root").string()));
}

}  // namespace
}  // namespace slipway
