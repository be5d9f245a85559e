// SPDX-License-Identifier: Apache-2.0
// Random sequences of commands, against a model of what should be there: files, generations, and which is active.
#include <chrono>
#include <random>
#include <set>
#include <thread>

#include <signal.h>

#include "installed.hpp"
#include "scratch_host.hpp"

namespace slipway {
namespace {

using slipway::testing::Ran;
using slipway::testing::ScratchHost;

using Sections = std::map<std::string, std::string>;  ///< by component: its section, as YAML
using Names = std::vector<std::string>;

/// Cannot be applied: the file to merge into is not JSON.
constexpr const char* kBadMerge = ", merges: {/etc/bad.json: '{\"a\": 1}'}}";

bool can_be_applied(const std::string& section) { return section.find("merges") == std::string::npos; }

/// Returns the file that a component writes, and its content.
std::pair<std::string, std::string> file_of(const std::string& component, const std::string& section) {
  const auto between = [&](const std::string& left, const std::string& right) {
    const std::size_t from = section.find(left) + left.size();
    return section.substr(from, section.find(right, from) - from);
  };
  if (component == "probe") return {"/etc/probe.conf", between("probe.conf: ", "}")};
  return {between("file: ", section.find(',') == std::string::npos ? "}" : ","),
          component == "follower" ? "hello" : "here\n"};
}

struct ModelGeneration {
  Sections applied;
  Sections left_out;
  int before = 0;
  /// Ignores its origin, and missing parts.
  bool operator==(const ModelGeneration& other) const { return applied == other.applied; }
};

/// The expected state of the host.
struct Model {
  std::map<std::string, std::string> files;      ///< below /etc: the existing files
  std::map<std::string, std::string> originals;  ///< restored after a removal
  std::set<std::string> edited;                  ///< slipway's files that a user has changed
  std::map<int, ModelGeneration> generations;
  int current = 0;

  ModelGeneration now() const { return current == 0 ? ModelGeneration{} : generations.at(current); }

  void release(const std::string& path) {
    if (edited.erase(path) == 0) {
      files.erase(path);
      if (originals.contains(path)) files[path] = originals.at(path);
    }
    originals.erase(path);
  }

  void change_files(const std::string& component, const std::string& before, const std::string& after) {
    const auto old = before.empty() ? std::pair<std::string, std::string>() : file_of(component, before);
    const auto made = after.empty() ? std::pair<std::string, std::string>() : file_of(component, after);
    if (!before.empty() && old.first != made.first) release(old.first);
    if (after.empty()) return;
    if (old.first != made.first && files.contains(made.first)) originals[made.first] = files.at(made.first);
    if (!edited.contains(made.first)) files[made.first] = made.second;
  }

  /// Moves from the active generation to a new one.
  /// @param target  of a rollback; 0: none
  void become(ModelGeneration next, int target, bool partial) {
    const ModelGeneration base = now();
    for (const auto& [name, section] : base.applied)
      if (!next.applied.contains(name)) change_files(name, section, "");
    for (const auto& [name, section] : next.applied)
      change_files(name, base.applied.contains(name) ? base.applied.at(name) : "", section);
    if (next.applied.empty()) {
      current = 0;
      generations.clear();  // the state folder is removed with the last component
      return;
    }
    if (current != 0 && next == base && (target == 0 || partial || target == current)) return;
    const int last = generations.empty() ? 0 : generations.rbegin()->first;
    next.before = target != 0 ? generations.at(target).before : current;
    int number = last + 1;
    if (target != 0 && next == generations.at(target)) {
      next = generations.at(target);
      number = target;
    }
    if (target == 0 && last > current && generations.at(last).before == current && generations.at(last) == next)
      number = last;
    generations[number] = next;
    current = number;
  }

  /// Returns the result of an apply of these sections.
  /// @param only  empty: all
  ModelGeneration result_of(const Sections& wanted, const Names& only) const {
    const ModelGeneration base = now();
    ModelGeneration next{base.applied, {}, 0};
    const auto looked_at = [&](const std::string& name) {
      return only.empty() || std::find(only.begin(), only.end(), name) != only.end();
    };
    for (const auto& [name, section] : base.applied)
      if (!wanted.contains(name) && looked_at(name)) next.applied.erase(name);
    bool probe_failed = false;
    for (const char* name : {"bystander", "probe", "follower"}) {  // the order of the graph
      if (!wanted.contains(name) || !looked_at(name)) continue;
      bool fails = !can_be_applied(wanted.at(name));
      if (name == std::string("probe")) probe_failed = fails;
      if (name == std::string("follower")) fails = fails || probe_failed || !next.applied.contains("probe");
      if (!fails) next.applied[name] = wanted.at(name);
    }
    const bool whole = only.empty() || current == 0;
    for (const auto& [name, section] : whole ? wanted : base.left_out)
      if (!next.applied.contains(name)) next.left_out[name] = section;
    return next;
  }

  /// True when the requirements of the spec's and the remaining components exist, or will exist.
  bool is_applicable(const Sections& wanted, const Names& only) const {
    std::set<std::string> names;
    for (const auto& [name, section] : wanted) names.insert(name);
    for (const auto& [name, section] : now().applied)
      if (!only.empty() && std::find(only.begin(), only.end(), name) == only.end()) names.insert(name);
    return !names.contains("follower") || names.contains("probe");
  }

  int previous_generation() const {
    if (current == 0) return 0;
    const int wanted = now().before != 0 ? now().before : current - 1;
    auto end = generations.upper_bound(wanted);
    return end == generations.begin() ? 0 : std::prev(end)->first;
  }
};

/// A host, its model, and the operations on both.
class Sequence {
 public:
  explicit Sequence(unsigned seed) : random_(seed) {
    host_.program = testing::installed_program();
    host_.live = true;
    host_.put("etc/bad.json", "no JSON\n");
    model_.files["/etc/bad.json"] = "no JSON\n";
  }

  void step() {
    switch (any(12)) {
      case 0:
        return roll_back({});
      case 1:
        return roll_back_to(any(6));
      case 2:
        return remove();
      case 3:
        return boot();
      case 4:
        return collect();
      case 5:
        return edit();
      case 6:
        return take_file_and_boot();
      case 7:
        return kill_and_boot();
      case 8:
        return apply(some_names());
      default:
        return apply({});
    }
  }

  void compare() {
    std::map<std::string, std::string> files;
    if (std::filesystem::exists(host_.path("etc")))
      for (const auto& entry : std::filesystem::directory_iterator(host_.path("etc")))
        files["/etc/" + entry.path().filename().string()] = host_.text("etc/" + entry.path().filename().string());
    EXPECT_EQ(files, model_.files) << story_;
    const Json listed = Json::parse(host_.slipway({"generations", "-o", "json"}).out);
    std::map<int, Names> told;
    for (const Json& each : listed["generations"]) told[each["number"]] = each["components"];
    std::map<int, Names> wanted;
    for (const auto& [number, generation] : model_.generations) {
      wanted[number];
      for (const auto& [name, section] : generation.applied) wanted[number].push_back(name);
    }
    EXPECT_EQ(told, wanted) << story_;
    EXPECT_EQ(listed["generation"], model_.current) << story_;
  }

  /// Removes everything except files that users have written.
  void end() {
    if (model_.current == 0) return;
    run({"remove", "--all", "--yes"}, 0);
    model_.become({}, 0, false);
    compare();
    EXPECT_FALSE(std::filesystem::exists(host_.path("var/lib/slipway"))) << story_;
  }

 private:
  int any(int below) { return static_cast<int>(random_() % static_cast<unsigned>(below)); }

  void run(std::vector<std::string> words, int code) {
    std::string line;
    for (const std::string& word : words) line += word + " ";
    story_ += line + "\n";
    const Ran ran = host_.slipway(words);
    EXPECT_EQ(ran.code, code) << story_ << ran.out << ran.err;
  }

  void boot_now(int code) {
    story_ += "apply --boot\n";
    const Ran ran = host_.bare({"apply", "--boot", "--live", "--root", host_.folder().at("root").string(), "--cache",
                                host_.folder().at("cache").string()});
    EXPECT_EQ(ran.code, code) << story_ << ran.out << ran.err;
  }

  Sections some_sections() {
    Sections wanted;
    const auto section = [&](const std::string& good) {
      return any(5) == 0 ? "{" + good + kBadMerge : "{" + good + "}";
    };
    if (any(3) != 0) wanted["bystander"] = section("file: /etc/bystander-" + std::to_string(any(2)));
    if (any(4) != 0) wanted["probe"] = section("files: {/etc/probe.conf: p" + std::to_string(any(3)) + "}");
    if (wanted.contains("probe") && any(2) == 0)
      wanted["follower"] = "{file: /etc/follower-" + std::to_string(any(2)) + "}";
    if (wanted.empty()) wanted["bystander"] = "{file: /etc/bystander-0}";
    return wanted;
  }

  Names some_names() {
    Names names;
    for (const char* name : {"bystander", "probe", "follower"})
      if (any(2) == 0) names.emplace_back(name);
    return names;
  }

  void write_spec(const Sections& wanted) {
    std::string text;
    for (const auto& [name, section] : wanted) text += "    " + name + ": " + section + "\n";
    host_.spec(text);
    story_ += text;
  }

  void apply(Names only) {
    const Sections wanted = some_sections();
    std::erase_if(only, [&](const std::string& name) {  // any other name is a usage error
      return !wanted.contains(name) && !model_.now().applied.contains(name);
    });
    write_spec(wanted);
    std::string list;
    for (const std::string& name : only) list += (list.empty() ? "" : ",") + name;
    std::vector<std::string> words{"apply", "-f", host_.folder().at("host.yaml").string()};
    if (!only.empty()) words.insert(words.end(), {"--only", list});
    if (!model_.is_applicable(wanted, only)) return run(words, 1);
    const ModelGeneration next = model_.result_of(wanted, only);
    bool all = true;
    for (const auto& [name, section] : wanted) {
      const bool looked_at = only.empty() || std::find(only.begin(), only.end(), name) != only.end();
      const bool done = next.applied.contains(name) && next.applied.at(name) == section;
      all = all && (!looked_at || done);
    }
    // A blocked follower keeps its former state, which may be the requested one.
    const bool blocked = wanted.contains("follower") && wanted.contains("probe") &&
                         !can_be_applied(wanted.at("probe")) &&
                         (only.empty() || (std::count(only.begin(), only.end(), "probe") != 0));
    run(words, all && !blocked ? 0 : 1);
    model_.become(next, 0, !only.empty());
  }

  void roll_back(const Names& words) {
    const int target = words.empty() ? model_.previous_generation() : std::stoi(words.front());
    Names all{"rollback"};
    all.insert(all.end(), words.begin(), words.end());
    all.emplace_back("--yes");
    if (!model_.generations.contains(target)) return run(all, 1);
    run(all, 0);
    model_.become(model_.generations.at(target), target, false);
  }

  void roll_back_to(int number) {
    if (number > 0) roll_back({std::to_string(number)});
  }

  void remove() {
    const ModelGeneration base = model_.now();
    if (base.applied.empty()) return;
    const int choice = any(static_cast<int>(base.applied.size()) + 1);
    if (choice == static_cast<int>(base.applied.size())) {
      run({"remove", "--all", "--yes"}, 0);
      return model_.become({}, 0, false);
    }
    const std::string name = std::next(base.applied.begin(), choice)->first;
    const bool is_needed = name == "probe" && (base.applied.contains("follower") || base.left_out.contains("follower"));
    const std::vector<std::string> words = any(2) == 0
                                               ? std::vector<std::string>{"remove", name, "--yes"}
                                               : std::vector<std::string>{"remove", "--all", "--only", name, "--yes"};
    if (is_needed) return run(words, 1);
    run(words, 0);
    ModelGeneration next = base;
    next.applied.erase(name);
    model_.become(next, 0, false);
  }

  void boot() { boot_now(model_.current == 0 ? 1 : 0); }

  void collect() {
    run({"gc"}, 0);
    std::vector<int> numbers;
    for (const auto& [number, generation] : model_.generations) numbers.push_back(number);
    for (std::size_t i = 0; i + 5 < numbers.size(); ++i)
      if (numbers[i] != model_.current) model_.generations.erase(numbers[i]);
  }

  std::string some_owned_file() {
    const ModelGeneration base = model_.now();
    if (base.applied.empty()) return {};
    const auto& [name, section] = *std::next(base.applied.begin(), any(static_cast<int>(base.applied.size())));
    return file_of(name, section).first;
  }

  void edit() {
    const std::string path = some_owned_file();
    if (path.empty()) return;
    story_ += "edit " + path + "\n";
    host_.put(path.substr(1), "mine\n");
    model_.files[path] = "mine\n";
    model_.edited.insert(path);
  }

  /// A removed file is restored.
  void take_file_and_boot() {
    const std::string path = some_owned_file();
    if (path.empty() || model_.edited.contains(path)) return;
    story_ += "rm " + path + "\n";
    std::filesystem::remove(host_.path(path.substr(1)));
    boot_now(0);
  }

  /// Killed while the probe's own action sleeps: removed components, and bystander, are committed by then.
  void kill_and_boot() {
    Sections wanted = some_sections();
    if (wanted.contains("bystander") && !can_be_applied(wanted.at("bystander"))) wanted.erase("bystander");
    if (model_.current == 0 && !wanted.contains("bystander")) return;
    wanted["probe"] = "{files: {/etc/probe.conf: p9, /etc/asleep: x}, custom: sleeps}";
    write_spec(wanted);
    story_ += "kill in apply\n";
    const pid_t child = host_.start({"apply", "-f", host_.folder().at("host.yaml").string()});
    int status = 0;
    while (!std::filesystem::exists(host_.path("etc/asleep"))) {
      ASSERT_EQ(::waitpid(child, &status, WNOHANG), 0) << story_ << host_.error_text();
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    ::kill(child, SIGKILL);
    ::waitpid(child, &status, 0);
    ModelGeneration next = model_.now();
    for (const auto& [name, section] : model_.now().applied)
      if (!wanted.contains(name)) next.applied.erase(name);
    if (wanted.contains("bystander")) next.applied["bystander"] = wanted.at("bystander");
    next.left_out.erase("bystander");
    if (model_.now().left_out.contains("bystander") && !next.applied.contains("bystander"))
      next.left_out["bystander"] = model_.now().left_out.at("bystander");
    // Without an applied component there is no boot: an apply resumes the interrupted one.
    if (next.applied.empty()) {
      run({"remove", "--all", "--yes"}, 0);
      return model_.become({}, 0, false);
    }
    boot_now(0);
    model_.become(next, 0, false);
  }

  std::mt19937 random_;
  ScratchHost host_;
  Model model_;
  std::string story_;
};

/// SLIPWAY_TEST_SEQUENCES is the number of sequences; each has another seed.
TEST(GenerationsModel, FindsNoDifferenceInRandomSequences) {
  const char* const given = std::getenv("SLIPWAY_TEST_SEQUENCES");
  const unsigned sequences = given == nullptr ? 12 : static_cast<unsigned>(std::stoul(given));
  for (unsigned seed = 1; seed <= sequences && !::testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Sequence sequence(seed);
    for (int step = 0; step < 12 && !::testing::Test::HasFailure(); ++step) {
      sequence.step();
      sequence.compare();
    }
    sequence.end();
  }
}

}  // namespace
}  // namespace slipway
