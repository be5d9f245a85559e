// SPDX-License-Identifier: Apache-2.0
// The boot default that is kept on a kernel with modules: for systemd-boot, and GRUB with entries of the Boot Loader
// Specification.
#include <gmock/gmock.h>

#include "driver/boot/boot_default.hpp"
#include "driver/boot/loader_entries.hpp"
#include "driver/plan/plan.hpp"
#include "tests/unit/plugins/driver/test_host.hpp"

namespace slipway::driver {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::TestHost;

const std::string kKept = "5.14.0-503.11.1.el9_5.x86_64";
const std::string kNewer = "5.14.0-570.12.1.el9_6.x86_64";
const std::string kMachine = "7f0d9b1c2e3f4a5b8c9d0e1f2a3b4c5d";

class KeepsBootDefault : public ::testing::Test {
 protected:
  KeepsBootDefault() {
    receipt.files.libdir = "usr/lib/x86_64-linux-gnu";
    receipt.without = {kNewer};
  }

  void entry(const std::string& folder, const std::string& release) const {
    host.root().file(folder + "/loader/entries/" + kMachine + "-" + release + ".conf",
                     "title Linux (" + release + ")\nversion " + release + "\nlinux /vmlinuz-" + release +
                         "\ninitrd /initramfs-" + release + ".img\noptions root=UUID=u ro\n");
  }
  void saved_entry(const std::string& value) const {
    std::string text = "# GRUB Environment Block\n" + value + "boot_success=1\n";
    host.root().file("/boot/grub2/grubenv", text.append(1024 - text.size(), '#'));
  }
  void enterprise_linux() const {
    entry("/boot", kKept);
    entry("/boot", kNewer);
    host.root().file("/boot/grub2/grub.cfg", "blscfg\n");
    host.root().file("/usr/bin/grub2-editenv", "");
    host.root().file("/etc/default/grub", "GRUB_DEFAULT=saved\nGRUB_ENABLE_BLSCFG=true\n");
    host.root().file("/etc/dnf/dnf.conf", "[main]\n");
    saved_entry("saved_entry=" + id(kNewer) + "\n");
  }
  static std::string id(const std::string& release) { return kMachine + "-" + release; }

  /// Plans as an apply does, and keeps the receipt for the next one.
  Plan plan(bool live = true) {
    const auto machine = live ? host.live() : host.offline();
    HostFacts facts;
    facts.follows_kernels = true;
    facts.installed = before;
    facts.boot_default =
        read_boot_default(*machine, receipt.kernel_release, {kNewer}, before ? before->kept_entry : "");
    Receipt now = receipt;
    record_boot_default({}, facts, live, now);
    Plan made;
    Target target;
    target.live = live;
    add_boot_default({}, facts, target, now, made);
    before = receipt_from_json(to_json(now));
    return made;
  }
  static Json action_on(const Plan& of, const std::string& target) {
    for (const auto& action : of.actions())
      if (action.target() == target) return action.json();
    return nullptr;
  }

  TestHost host;
  Receipt receipt{.version = "535.261.03", .flavour = "open", .kernel_release = kKept};
  std::optional<Receipt> before;
};

TEST_F(KeepsBootDefault, OfGrubWithEntriesInItsEnvironment) {
  enterprise_linux();
  const Plan first = plan();
  EXPECT_THAT(first.notes(), ElementsAre("boot default: it stays on kernel " + kKept +
                                         " until there are modules for kernel " + kNewer));
  const Json action = action_on(first, "grub2-editenv");
  EXPECT_EQ(action["argv"], Json({"grub2-editenv", "/boot/grub2/grubenv", "set", "saved_entry=" + id(kKept)}));
  EXPECT_EQ(action["undo"], Json({"grub2-editenv", "/boot/grub2/grubenv", "set", "saved_entry=" + id(kNewer)}));
  EXPECT_EQ(action["check"][2], "saved_entry=" + id(kKept));
  saved_entry("saved_entry=" + id(kKept) + "\n");  // as applied
  EXPECT_EQ(to_json(plan()), to_json(first)) << "what was there before is not forgotten";
  EXPECT_THAT(action_on(first, "/etc/dnf/protected.d/slipway.conf")["content"].get<std::string>(),
              HasSubstr("\nkernel-core\n"));
}

TEST_F(KeepsBootDefault, OfGrubMovesToANewerKernelWithModules) {
  enterprise_linux();
  plan();
  saved_entry("saved_entry=" + id(kKept) + "\n");
  const std::string between = "5.14.0-565.1.1.el9_6.x86_64";
  entry("/boot", between);
  receipt.kernel_release = between;
  const Json action = action_on(plan(), "grub2-editenv");
  EXPECT_EQ(action["argv"][3], "saved_entry=" + id(between));
  EXPECT_EQ(action["undo"][3], "saved_entry=" + id(kNewer));
}

TEST_F(KeepsBootDefault, OfGrubThatBootsTheFirstEntryIsUnsetAgain) {
  enterprise_linux();
  saved_entry("");
  EXPECT_EQ(action_on(plan(), "grub2-editenv")["undo"],
            Json({"grub2-editenv", "/boot/grub2/grubenv", "unset", "saved_entry"}));
}

TEST_F(KeepsBootDefault, OfGrubIsNotTakenFromTheAdministrator) {
  enterprise_linux();
  const std::string rescue = kMachine + "-0-rescue";
  saved_entry("saved_entry=" + rescue + "\n");
  const Plan chosen = plan();
  EXPECT_THAT(chosen.notes(), ElementsAre(HasSubstr("saved_entry=" + rescue +
                                                    " in /boot/grub2/grubenv is the administrator's choice")));
  EXPECT_TRUE(action_on(chosen, "grub2-editenv").is_null());
  saved_entry("saved_entry=" + id(kKept) + "\n");
  EXPECT_TRUE(action_on(plan(), "grub2-editenv").is_null()) << "an administrator chose that entry";
  saved_entry("saved_entry=" + id(kNewer) + "\n");
  host.root().file("/etc/default/grub", "GRUB_DEFAULT=\"Windows\"\n");
  EXPECT_THAT(plan().notes(),
              ElementsAre(HasSubstr("GRUB_DEFAULT=Windows in /etc/default/grub is the administrator's")));
}

TEST_F(KeepsBootDefault, OfGrubIsNamedWhereItCannotBeSet) {
  enterprise_linux();
  EXPECT_THAT(
      plan(false).notes(),
      ElementsAre("boot default: slipway changes /boot/grub2/grubenv on a running machine only; choose kernel " +
                  kKept + " as its default, since kernel " + kNewer + " has no modules"));
  std::filesystem::remove(host.root().at("/usr/bin/grub2-editenv"));
  EXPECT_THAT(plan().notes(), ElementsAre(HasSubstr("the root has no grub2-editenv")));
  std::filesystem::remove_all(host.root().at("/boot"));
  EXPECT_THAT(plan().notes(), ElementsAre(HasSubstr("slipway does not know this boot loader")));
}

TEST_F(KeepsBootDefault, OfSystemdBootInLoaderConf) {
  entry("/efi", kKept);
  entry("/efi", kNewer);
  host.root().file("/efi/EFI/systemd/systemd-bootx64.efi", "");
  host.root().file("/efi/loader/loader.conf", "timeout 3\n#console-mode keep");
  const Plan first = plan(false);
  const Json action = action_on(first, "/efi/loader/loader.conf");
  ASSERT_FALSE(action.is_null()) << to_json(first);
  const std::string content = action["content"];
  EXPECT_EQ(
      content,
      "timeout 3\n#console-mode keep\n# Written by slipway (component driver), until the newest kernel has modules "
      "of the driver.\ndefault " +
          id(kKept) + ".conf\n");
  host.root().file("/efi/loader/loader.conf", content);
  EXPECT_EQ(to_json(plan(false)), to_json(first)) << "it is the same after the apply";
  host.root().file("/efi/loader/loader.conf", content.substr(0, content.rfind("default ")) + "default mine.conf\n");
  EXPECT_THAT(plan(false).notes(), ElementsAre(HasSubstr("default mine.conf in /efi/loader/loader.conf is the admin")))
      << "the administrator has changed the line";
  EXPECT_EQ(loader_conf_without_ours(content), "timeout 3\n#console-mode keep\n");
}

TEST_F(KeepsBootDefault, OfSystemdBootReplacesThePatternForAnyKernelAndNothingElse) {
  entry("/boot", kKept);
  host.root().file("/boot/efi/loader/loader.conf", "default " + kMachine + "-*\ntimeout 3\n");
  EXPECT_THAT(action_on(plan(), "/boot/efi/loader/loader.conf")["content"].get<std::string>(),
              AllOf(HasSubstr("default " + id(kKept) + ".conf\n"), Not(HasSubstr("-*"))));
  host.root().file("/boot/efi/loader/loader.conf", "default windows.conf\n");
  const Plan chosen = plan();
  EXPECT_THAT(chosen.notes(),
              ElementsAre(HasSubstr("default windows.conf in /boot/efi/loader/loader.conf is the administrator's")));
  EXPECT_TRUE(action_on(chosen, "/boot/efi/loader/loader.conf").is_null());
  host.root().file("/boot/efi/loader/loader.conf", "timeout 3\n");
  host.view().file("/sys/firmware/efi/efivars/LoaderEntryDefault-4a67b082-0a4c-41cf-b6c7-440b29bb8c4f", "x");
  EXPECT_THAT(plan().notes(), ElementsAre(HasSubstr("LoaderEntryDefault in the firmware's variables")));
}

TEST(LoaderEntries, AreNamedWithoutTheirCounterOfBootsAndIncludeUnifiedImages) {
  const TestHost host;
  host.root().file("/efi/loader/entries/m-6.1.0-50-amd64+3-1.conf",
                   "linux /m/6.1.0-50-amd64/linux\nversion 6.1.0-50-amd64\n");
  host.root().file("/efi/loader/entries/*.conf", "linux /vmlinuz-6.1.0-51-amd64\n");
  host.root().file("/efi/EFI/Linux/m-6.1.0-56-amd64+2.efi", "");
  const auto entries = read_loader_entries(*host.offline(), {"/efi"});
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entry_of_release(entries, "6.1.0-50-amd64")->id, "m-6.1.0-50-amd64");
  EXPECT_EQ(entry_of_release(entries, "6.1.0-56-amd64")->id, "m-6.1.0-56-amd64.efi");
  EXPECT_EQ(entry_of_release(entries, "6.1.0-51-amd64"), nullptr) << "its name would match others";
}

}  // namespace
}  // namespace slipway::driver
