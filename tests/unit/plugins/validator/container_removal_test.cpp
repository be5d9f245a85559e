// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/file.h>

#include <slipway/local_host.hpp>

#include "base/write/lock_file.hpp"
#include "container_machine.hpp"
#include "core/engine/plugin_calls.hpp"
#include "validator/container/engine.hpp"

namespace slipway::validator {
namespace {

using std::chrono::milliseconds;
using testing::Command;
using ::testing::HasSubstr;
using testing::kOpened;

/// A machine whose containers podman starts, and which has Docker too.
class ContainerRemoval : public testing::ContainerMachine {
 protected:
  ContainerRemoval() : ContainerMachine("podman") {
    program("/usr/bin/podman", "podman version 4.3.1");
    host.answers({"/usr/bin/podman", "run", "--rm", "--name", kName, "--network=none", "--security-opt",
                  "label=disable", "--device", "nvidia.com/gpu=all", "--rootfs", kRoot, "/probe"},
                 kOpened);
    host.file("/usr/bin/dockerd", "x", 0755).file("/usr/bin/docker", "x", 0755);
    host.link("/proc/4711/exe", "/usr/bin/dockerd");
  }
  static Command docker(const Command& more) {
    Command all{"/usr/bin/docker", "--host=unix:///run/docker.sock"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  static Command podman_removal(const Place& of) {
    return {"/usr/bin/podman", "rm", "--force", "--time", "0", of.name()};
  }
  /// The folder of a check that was killed, and the engines' output when its remains are removed.
  Place abandoned(const std::string& engine, const std::string& number, const ProcessOutput& messages = {}) {
    const Place left{engine, number};
    host.directory(left.root());
    host.answers(podman_removal(left), messages);
    host.answers(docker({"rm", "--force", left.name()}), messages);
    host.answers(docker({"image", "rm", "--force", left.name()}), messages);
    removes(left);
    return left;
  }
  Fd opened(const Place& of) const {
    return Fd(::open((host.root_folder() + of.folder()).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  }
};

// Before the fix, Ctrl-C ended the check at once: its folder, and Docker's image, were never removed.
TEST_F(ContainerRemoval, IsDoneAfterAKilledCheck) {
  const Place left = abandoned("podman", "00000000000000aa");
  const Place used = abandoned("podman", "00000000000000bb");
  const Fd lock = opened(used);
  ASSERT_EQ(::flock(lock.get(), LOCK_EX), 0) << "by a check that goes on";
  for (const char* other : {"container-check-x", "container-check-podman-xx00000000000000", "generations"})
    host.directory(std::string("/var/lib/slipway/") + other);
  EXPECT_THAT(run(), HasSubstr("pass validator.container"));
  EXPECT_EQ(times_run(podman_removal(left)), 1);
  EXPECT_FALSE(host.exists(left.folder()));
  EXPECT_EQ(times_run(podman_removal(used)), 0);
  EXPECT_TRUE(host.exists(used.folder()));
  EXPECT_EQ(times_run(kRemoval), 1);
  EXPECT_EQ(host.ran().size(), 5) << "podman's rm, rm, its version, run, rm";
}

// Before the fix, the current engine was used for the removal: Docker's image remained forever, and the folder that
// recorded it was removed.
TEST_F(ContainerRemoval, IsDoneByTheEngineThatTheKilledCheckUsed) {
  const Place left = abandoned("docker", "00000000000000aa");
  host.file("/run/docker.pid", "4711");
  EXPECT_THAT(run(), HasSubstr("pass validator.container: podman started"));
  EXPECT_EQ(times_run(docker({"rm", "--force", left.name()})), 1);
  EXPECT_EQ(times_run(docker({"image", "rm", "--force", left.name()})), 1);
  EXPECT_EQ(times_run(podman_removal(left)), 0);
  EXPECT_FALSE(host.exists(left.folder()));
}

TEST_F(ContainerRemoval, WaitsForAnEngineThatIsDown) {
  const Place left = abandoned("docker", "00000000000000aa");
  EXPECT_THAT(run(), HasSubstr("pass validator.container: podman started"));
  EXPECT_TRUE(host.exists(left.folder()));
  EXPECT_EQ(times_run(docker({"image", "rm", "--force", left.name()})), 0) << "systemd would start Docker";
  host.file("/run/docker.pid", "4711");
  EXPECT_THAT(run(), HasSubstr("pass validator.container: podman started"));
  EXPECT_EQ(times_run(docker({"image", "rm", "--force", left.name()})), 1);
  EXPECT_FALSE(host.exists(left.folder()));
}

TEST_F(ContainerRemoval, KeepsTheFolderUntilTheEngineHasRemovedTheRest) {
  host.file("/run/docker.pid", "4711");
  Place left = abandoned("docker", "00000000000000aa", {1, "", "Cannot connect to the Docker daemon\n", false});
  (void)run();
  EXPECT_TRUE(host.exists(left.folder()));
  left = abandoned("docker", "00000000000000aa",
                   {1, "", "Error response from daemon: No such image: slipway-check:latest\n", false});
  (void)run();
  EXPECT_FALSE(host.exists(left.folder()));
}

// Before the fix, a check that failed to remove its own container left the container behind, but no folder.
TEST_F(ContainerRemoval, IsLeftToTheNextCheckWhereItFails) {
  host.without("/usr/bin/podman");
  program("/usr/bin/podman", "podman version 4.3.1");
  host.answers({"/usr/bin/podman", "run", "--rm", "--name", kName, "--network=none", "--security-opt", "label=disable",
                "--device", "nvidia.com/gpu=all", "--rootfs", kRoot, "/probe"},
               {125, "", "Error: crun failed\n", false});
  EXPECT_THAT(run(), HasSubstr("fail validator.container"));
  EXPECT_TRUE(host.exists(place.folder()));
  host.answers(podman_removal(place), {1, "", "Error: no such container\n", false});
  terms.number = "00000000000000cc";
  (void)run();
  EXPECT_FALSE(host.exists(place.folder()));
}

TEST_F(ContainerRemoval, IsLimitedInOneVerify) {
  std::vector<Place> all;
  for (const char digit : {'1', '2', '3', '4', '5', '6'})
    all.push_back(abandoned("podman", std::string(15, '0') + digit));
  const auto left = [&] {
    return std::ranges::count_if(all, [&](const Place& each) { return host.exists(each.folder()); });
  };
  EXPECT_THAT(run(), HasSubstr("pass validator.container"));
  EXPECT_EQ(left(), 2);
  EXPECT_THAT(run(), HasSubstr("pass validator.container"));
  EXPECT_EQ(left(), 0);
}

// Before the fix, the lock was released before the removal, so that a second verify could run in between.
TEST_F(ContainerRemoval, KeepsTheLockMeanwhile) {
  const Place left = abandoned("podman", "00000000000000aa");
  bool locked = false;
  host.does(podman_removal(left), [&] {
    const Fd other = opened(left);
    locked = ::flock(other.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    return ProcessOutput{};
  });
  (void)run();
  EXPECT_TRUE(locked);
}

// Two checks in two containers may have the same process number. Before the fix, the first to end removed the folder
// that the other used.
TEST_F(ContainerRemoval, IsNotMadeForTheFolderOfAnotherCheck) {
  host.directory(place.root());
  const Fd lock = opened(place);
  ASSERT_EQ(::flock(lock.get(), LOCK_EX), 0);
  EXPECT_THAT(run(), HasSubstr("not-exercised validator.container: no container was started: cannot make " +
                               place.folder() + ": File exists"));
  EXPECT_TRUE(host.exists(place.root()));
  EXPECT_EQ(host.ran().size(), 1) << "podman's version";
  EXPECT_NE(random_number(), random_number());
  EXPECT_EQ(random_number().size(), 16);
}

// Before the fix, a folder looked abandoned between its creation and its lock.
TEST_F(ContainerRemoval, SearchesForNoFoldersWhileAnotherCheckMakesOne) {
  const Place left = abandoned("podman", "00000000000000aa");
  terms.asking = milliseconds(100);
  {
    const auto lock =
        base::LockFile::take(*RootDir::open(host.root_folder()), "/var/lib/slipway", "container-checks.lock");
    ASSERT_TRUE(lock);
    EXPECT_THAT(run(), HasSubstr("not-exercised validator.container: no container was started:"));
    EXPECT_TRUE(host.exists(left.folder()));
    EXPECT_FALSE(host.exists(place.folder()));
  }
  terms.asking = milliseconds(20000);
  EXPECT_THAT(run(), HasSubstr("pass validator.container"));
  EXPECT_EQ(host.list("/var/lib/slipway")->size(), 0);
}

TEST_F(ContainerRemoval, NeedsAnRmThatOnlyRootCanReplace) {
  host.without("/usr/bin/rm");
  EXPECT_THAT(run(), HasSubstr("not-exercised validator.container: no container was started: rm, which removes a "
                               "container's folder, is missing"));
}

TEST(ContainerTime, IsLimitedByTheVerify) {
  constexpr milliseconds kLateEnds{15000};  // of the last program of each of three parts
  ASSERT_TRUE(terms_after(milliseconds(0)));
  EXPECT_EQ(terms_after(milliseconds(0))->asking, CheckTerms().asking);
  for (milliseconds gone(0); gone < core::kVerifyLimit; gone += milliseconds(500))
    if (const auto terms = terms_after(gone)) {
      EXPECT_GE(terms->asking, milliseconds(5000)) << gone.count();
      EXPECT_LT(gone + terms->asking + terms->start + terms->removal + kLateEnds, core::kVerifyLimit) << gone.count();
    } else {
      EXPECT_GT(gone, milliseconds(50000));
    }
}

TEST(ContainerTime, EndsAProgramThatTakesLongerThanIsLeft) {
  const auto host = open_host({.live = true});
  ASSERT_TRUE(host);
  const Runner runner(**host, milliseconds(300));
  const auto begun = std::chrono::steady_clock::now();
  EXPECT_EQ(runner.run({"/bin/sleep", "20"}, milliseconds(20000)).error().code, ErrorCode::timed_out);
  EXPECT_EQ(runner.run({"/bin/sleep", "20"}, milliseconds(20000)).error().code, ErrorCode::timed_out);
  EXPECT_LT(std::chrono::steady_clock::now() - begun, milliseconds(10000));
  EXPECT_EQ(runner.left().count(), 0);
  EXPECT_EQ(runner.within(milliseconds(1000)).left().count(), 0);
}

}  // namespace
}  // namespace slipway::validator
