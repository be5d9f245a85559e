// SPDX-License-Identifier: Apache-2.0
// tests/component/engine/fake_systemd.hpp - a systemctl in a scratch root that keeps the state of units in files.
#pragma once

#include <cstdio>
#include <filesystem>

#include "tests/component/engine/scratch_host.hpp"

namespace slipway::testing {

/// Makes the root of a live host look like one with systemd. Needs root: its programs run in the scratch root.
class FakeSystemd {
 public:
  explicit FakeSystemd(ScratchHost& host) : host_(host) {
    host.live = true;
    copy_with_libraries("/bin/sh");
    host.folder().directory("root/run/systemd/system");
    host.folder().directory("root/run/units");
    host.put("usr/bin/systemctl", kScript);
    ::chmod(host.path("usr/bin/systemctl").c_str(), 0755);
  }
  static bool possible() { return ::geteuid() == 0; }

  /// Marks the unit as running, as if a user had started it.
  void running(const std::string& unit) const { host_.put("run/units/" + unit, "active"); }
  /// Marks the unit as stopped.
  void stopped(const std::string& unit) const { host_.put("run/units/" + unit, ""); }
  /// Marks the unit as stopped, with a queued start job.
  void queued(const std::string& unit) const { host_.put("run/units/" + unit, "queued"); }
  /// Marks the unit as skipped by its ExecCondition=.
  void skipped(const std::string& unit) const { host_.put("run/units/" + unit, "skipped"); }
  /// Marks the unit as skipped by one of its Condition…= lines.
  void unmet(const std::string& unit) const { host_.put("run/units/" + unit, "unmet"); }
  /// Marks the unit as failed: its program exited with an error.
  void failed(const std::string& unit) const { host_.put("run/units/" + unit, "failed"); }
  /// Marks the unit as failed, with a restart by systemd to come.
  void trying_again(const std::string& unit) const { host_.put("run/units/" + unit, "again"); }
  /// With true, jobs do not finish until `false`.
  void hang(bool on) const {
    if (on)
      ::mkfifo(host_.path("run/hang").c_str(), 0600);
    else
      std::filesystem::remove(host_.path("run/hang"));
  }
  /// Puts a program of this machine into the root, at the same path.
  void add_program(const std::string& program) const { copy_with_libraries(program); }
  /// Returns the calls of systemctl about units, a line each: "start a.service".
  std::string told() const { return host_.text("run/told"); }

 private:
  static constexpr const char* kScript = R"(#!/bin/sh
[ "$1" = --no-block ] && shift
verb=$1
for unit; do :; done
file=/run/units/$unit
case $verb in
  show)
    state=inactive; sub=dead; pid=0; load=not-found; result=success
    [ -e "/etc/systemd/system/$unit" ] && load=loaded
    [ -s "$file" ] && read -r known < "$file"
    if [ "$known" = queued ]; then load=loaded; echo "Job=7"
    elif [ "$known" = skipped ]; then load=loaded; result=exec-condition
    elif [ "$known" = unmet ]; then load=loaded; echo "ConditionResult=no"; echo "ConditionTimestampMonotonic=7"
    elif [ "$known" = again ]; then load=loaded; state=activating; sub=auto-restart; result=exit-code
    elif [ "$known" = failed ]; then load=loaded; state=failed; sub=failed; result=exit-code
    elif [ -s "$file" ]; then load=loaded; state=active; sub=running; pid=1; fi
    echo "LoadState=$load"; echo "ActiveState=$state"; echo "SubState=$sub"; echo "Result=$result"
    echo "MainPID=$pid"; echo "Type=notify"; echo "CanReload=yes"; echo "NeedDaemonReload=no"
    exit 0 ;;
  start | restart | stop | reload) 
    echo "$verb $unit" >> /run/told
    if [ -p /run/hang ]; then read -r never < /run/hang; fi ;;
esac
case $verb in
  start | restart)
    # What is active stays so at every moment: its caller may be killed between a shell's truncation and its writing.
    [ -s "$file" ] && read -r known < "$file"
    [ "$known" = active ] || echo active > "$file" ;;
  stop) : > "$file" ;;
esac
exit 0
)";

  /// @param program  of this machine; it gets the same path in the root
  void copy_with_libraries(const std::string& program) const {
    copy(program);
    FILE* lines = ::popen(("ldd " + program).c_str(), "r");
    char line[4096];
    while (lines != nullptr && std::fgets(line, sizeof line, lines) != nullptr) {
      const std::string text = line;
      const std::size_t begin = text.find('/');
      if (begin != std::string::npos) copy(text.substr(begin, text.find(' ', begin) - begin));
    }
    if (lines != nullptr) ::pclose(lines);
  }
  void copy(const std::string& file) const {
    const auto to = host_.path(file.substr(1));
    std::filesystem::create_directories(to.parent_path());
    std::filesystem::copy_file(std::filesystem::canonical(file), to, std::filesystem::copy_options::skip_existing);
  }

  const ScratchHost& host_;
};

}  // namespace slipway::testing
