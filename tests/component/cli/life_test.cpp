// SPDX-License-Identifier: Apache-2.0
// The removal of things that are not needed any more, and a report for others.
#include "tests/component/cli/driver_root.hpp"

namespace slipway {
namespace {

using slipway::testing::DriverRoot;
using slipway::testing::Ran;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(Gc, ReportsGarbageAndRemovesOnlyThat) {
  const DriverRoot root;
  ASSERT_EQ(root.run({"apply"}).code, 0);
  const auto before = root.tree();
  std::filesystem::create_directories(root.path("usr/lib/slipway/store/driver/sha256-0123"));
  root.put("usr/lib/slipway/store/driver/sha256-0123/old", std::string(3 << 20, 'x'));
  const auto with_rest = root.tree();

  const Ran dry = root.run({"gc", "--dry-run"});
  EXPECT_EQ(dry.code, 0) << dry.err;
  EXPECT_THAT(dry.out, HasSubstr("/usr/lib/slipway/store/driver/sha256-0123"));
  EXPECT_THAT(dry.out, HasSubstr("Would delete 0 generations and free 3.0 MiB"));
  EXPECT_EQ(root.tree(), with_rest);

  EXPECT_THAT(root.run({"gc"}).out, HasSubstr("freed 3.0 MiB"));
  EXPECT_EQ(root.tree(), before);
  EXPECT_EQ(root.run({"verify", "--deep"}).code, 0);
  EXPECT_THAT(root.run({"gc"}).out, HasSubstr("Nothing to delete"));
}

TEST(Gc, KeepsTheNewestGenerationsAndRollbackStillWorks) {
  const DriverRoot root;
  for (int n = 0; n < 8; ++n) {
    root.driver(
        "version: \"535.261.03\", modules: open, blacklist_nouveau: " + std::string(n % 2 == 0 ? "true" : "false") +
        ", source: {repository: " + testing::kPackage + ", trust: unsigned}");
    ASSERT_EQ(root.run({"apply"}).code, 0);
  }
  const Json freed = Json::parse(root.run({"gc", "-o", "json"}).out);
  EXPECT_EQ(freed["generations"], Json::parse("[1, 2, 3]"));
  EXPECT_EQ(root.run({"rollback", "1"}).code, 1);
  EXPECT_EQ(root.run({"rollback", "5"}).code, 0);
}

// Before the fix, downloads of former drivers stayed in the cache forever.
TEST(Gc, RemovesUnusedFilesOfTheCache) {
  const DriverRoot root;
  ASSERT_EQ(root.run({"apply"}).code, 0);
  const std::string lock = root.text("var/lib/slipway/generations/1.json");
  const std::size_t digest = lock.find("sha256:");
  ASSERT_NE(digest, std::string::npos);
  const std::string needed = lock.substr(digest + 7, 64);
  const auto blob = [&](const std::string& name, bool is_old) {
    root.folder().file("cache/blobs/sha256/" + name, "bytes");
    const auto path = root.folder().at("cache/blobs/sha256/" + name);
    const auto now = std::filesystem::file_time_type::clock::now();
    if (is_old) std::filesystem::last_write_time(path, now - std::chrono::hours(48));
    return path;
  };
  const auto kept = blob(needed, true);
  const auto recent = blob(std::string(64, 'a'), false);
  const auto old = blob(std::string(64, 'b'), true);
  const auto begun = blob(std::string(64, 'c') + ".partial", true);
  EXPECT_THAT(root.run({"gc", "--dry-run"}).out, HasSubstr(old.string()));
  const Json freed = Json::parse(root.run({"gc", "-o", "json"}).out);
  EXPECT_EQ(freed["cache"], Json({old.string(), begun.string()}));
  EXPECT_TRUE(exists(kept) && exists(recent));
  EXPECT_FALSE(exists(old) || exists(begun));
}

// Before the fix, the boot of an image from a spec with a relative source looked for /package, and failed each time; so
// did a rollback from another folder.
TEST(Generations, AreIndependentOfTheWorkingFolder) {
  const DriverRoot root;
  std::filesystem::copy(testing::kPackage, root.folder().at("package"), std::filesystem::copy_options::recursive);
  const auto spec = [&](const char* blacklist) {
    root.driver(
        "version: \"535.261.03\", modules: open, source: {repository: ./package, trust: unsigned}, "
        "blacklist_nouveau: " +
        std::string(blacklist));
  };
  spec("true");
  ASSERT_EQ(root.run({"apply"}).code, 0);
  spec("false");
  ASSERT_EQ(root.run({"apply"}).code, 0);
  std::filesystem::remove_all(root.folder().at("package"));  // the booting machine does not have the package
  const auto before = root.tree();
  const auto in = root.folder().at("root").string();
  const auto cache = root.folder().at("cache").string();
  const Ran boot = root.bare({"apply", "--boot", "--root", in, "--cache", cache, "--sim", "h100x8"});
  EXPECT_EQ(boot.code, 0) << boot.out << boot.err;
  EXPECT_EQ(root.tree(), before);
  const Ran back = root.bare({"rollback", "--yes", "--root", in, "--cache", cache, "--sim", "h100x8"});
  EXPECT_EQ(back.code, 0) << back.out << back.err;
}

// Before the fix, gc removed files that the journal of an interrupted apply may need to undo it.
TEST(Gc, TouchesNothingAfterAnInterruptedApply) {
  const DriverRoot root;
  ASSERT_EQ(root.run({"apply"}).code, 0);
  root.put("var/lib/slipway/originals/" + std::string(64, '0'), "the user's\n");
  root.put("var/lib/slipway/journal.sqlite", "");
  const auto before = root.tree();
  expect_refused(root, root.run({"gc"}), 1, {"cut off", "slipway apply"}, before);
}

/// Returns the contents of all files in a tar file.
std::string unpacked(const std::filesystem::path& tar) {
  testing::ScratchHost shell;
  shell.program = "/bin/sh";
  return shell.slipway({"-c", "tar -xOf \"$1\"", "sh", tar.string()}).out;
}

TEST(BugReport, HasTheNeededFilesAndNoSecrets) {
  DriverRoot root;
  ASSERT_EQ(root.run({"apply"}).code, 0);
  const std::string kSecret = "Tr0ub4dor";
  root.folder().file(
      "home/.docker/config.json",
      R"({"auths": {"r.example": {"auth": "bWU6VHIwdWI0ZG9yLWRvY2tlcg==", "identitytoken": "Tr0ub4dor-id"}}})");
  root.put("var/log/slipway/history.jsonl",
           R"({"event":"image","command":"apply","error":"GET https://me:Tr0ub4dor-log@r.example/: 401"})"
           "\n");
  root.put("etc/slipway/host.d/registry.yaml",
           "registry:\n  password: Tr0ub4dor-spec\n  url: https://a:Tr0ub4dor-url@h/\n");
  root.put("var/lib/slipway/components/other.json",
           R"({"component": "other", "items": [{"action": {"kind": "file", "target": "/etc/x",)"
           R"( "content": "[auth]\npassword = \"Tr0ub4dor-state\"\n"}, "original": {}, "record": {}}]})");
  root.folder().file(
      "given.yaml",
      "apiVersion: slipway.dev/v1\nkind: Host\nmetadata: {name: x}\nspec:\n  components:\n    driver:\n"
      "      version: \"535.261.03\"\n      source: {repository: \"oci://u:Tr0ub4dor-given@127.0.0.1:9/d\"}\n");
  // Files that a spec refers to are beside it, under names that do not show that they are secret.
  root.put("etc/slipway/registry-password", "Tr0ub4dor-bare\n");
  root.put("etc/slipway/mok.key", "0Tr0ub4dor-der");
  const std::string tar = root.folder().at("report.tar").string();
  const pid_t child =
      root.start({"bugreport", "--to", tar, "-f", root.folder().at("given.yaml").string(), "--sim", "h100x8"},
                 {"HOME=" + root.folder().at("home").string(), "REGISTRY_PASSWORD=Tr0ub4dor-env",
                  "https_proxy=http://me:Tr0ub4dor-proxy@127.0.0.1:9"});
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_EQ(WEXITSTATUS(status), 0) << root.error_text();
  const std::string all = unpacked(tar);
  EXPECT_THAT(all, Not(HasSubstr(kSecret)));
  EXPECT_THAT(all, Not(HasSubstr("VHIwdWI0ZG9y")));
  for (const std::string has : {"slipway 0.", "\"kind\": \"Status\"", "10de:2330", "slipway-nvidia.conf",
                                "[blotted out]", "registry:", "\"kind\": \"Log\"", "401"})
    EXPECT_THAT(all, HasSubstr(has));
  EXPECT_EQ(std::filesystem::status(tar).permissions(), std::filesystem::perms(0600));
}

// Before the fix, half of the report for a machine without systemd and modules was the question whether it is an image.
TEST(BugReport, DoesNotAskWhetherThisIsARunningMachine) {
  const DriverRoot root;
  const std::string tar = root.folder().at("report.tar").string();
  const Ran ran = root.bare({"bugreport", "--to", tar});
  ASSERT_EQ(ran.code, 0) << ran.err;
  const bool doubtful = root.bare({"detect"}).err.find("an image that is being built") != std::string::npos;
  const std::string all = unpacked(tar);
  EXPECT_THAT(all, Not(HasSubstr("or a running machine")));
  const std::string note = "reports about a running machine";
  EXPECT_EQ(all.find(note) != std::string::npos, doubtful);
  EXPECT_EQ(ran.err.find(note) != std::string::npos, doubtful);
}

// Before the fix, 200 sparse files of an image, 52 KB of it, took 1.65 GB of memory and more than two minutes.
TEST(BugReport, IsLimitedForAnyImage) {
  const DriverRoot root;
  for (int i = 0; i < 40; ++i) {
    const std::string file = "etc/slipway/host.d/" + std::to_string(100 + i) + ".yaml";
    root.put(file, "a: 1\n");
    std::filesystem::resize_file(root.path(file), std::uintmax_t{8} << 20U);
  }
  const std::string tar = root.folder().at("report.tar").string();
  const Ran ran = root.bare({"bugreport", "--to", tar, "--root", root.folder().at("root").string(), "--image"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_LT(std::filesystem::file_size(tar), std::uintmax_t{40} << 20U);
  EXPECT_THAT(unpacked(tar), HasSubstr("spec/host.d/139.yaml"));
}

TEST(BugReport, ReplacesNoFile) {
  const DriverRoot root;
  root.folder().file("report.tar", "mine\n");
  const Ran ran = root.run({"bugreport", "--to", root.folder().at("report.tar").string()});
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.err, HasSubstr("report.tar"));
}

}  // namespace
}  // namespace slipway
