// SPDX-License-Identifier: Apache-2.0
#include "toolkit/runtime/unit_command.hpp"

#include <algorithm>
#include <map>

#include <slipway/text.hpp>

#include "toolkit/environment.hpp"

namespace slipway::toolkit {
namespace {

constexpr std::string_view kUnitBlank = " \t";

using UnitWords = std::vector<std::string>;

/// Returns the character for a backslash escape; '\0': the escape is kept as it is.
char unescaped(char letter) {
  constexpr std::string_view kLetters = "abfnrtvs\\\"'";
  constexpr std::string_view kMeant = "\a\b\f\n\r\t\v \\\"'";
  const auto at = kLetters.find(letter);
  return at == std::string_view::npos ? '\0' : kMeant[at];
}

/// Splits a line into words: quotes may be anywhere in a word and are removed.
UnitWords words_in(std::string_view text) {
  UnitWords words;
  std::string word;
  bool inside = false;
  char quote = '\0';
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\\' && i + 1 < text.size() && unescaped(text[i + 1]) != '\0') {
      word += unescaped(text[++i]);
      inside = true;
    } else if (quote != '\0' && c == quote) {
      quote = '\0';
    } else if (quote == '\0' && (c == '"' || c == '\'')) {
      quote = c;
      inside = true;
    } else if (quote == '\0' && (kUnitBlank.find(c) != std::string_view::npos || c == '\n')) {
      if (inside) words.push_back(std::move(word));
      word.clear();
      inside = false;
    } else {
      word += c;
      inside = true;
    }
  }
  if (inside) words.push_back(std::move(word));
  return words;
}

struct UnitSetting {
  std::string section;
  std::string key;
  std::string value;
  std::size_t line = 0;  ///< line where it begins
};

/// Returns the settings of one file. Comments may be between the lines of one that a backslash continues.
std::vector<UnitSetting> settings_of(const std::string& text) {
  std::vector<UnitSetting> settings;
  std::string section;
  std::string whole;
  std::size_t first = 0;
  const auto lines = lines_of(text);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::string_view line = lines[i];
    line.remove_prefix(std::min(line.find_first_not_of(kUnitBlank), line.size()));
    if (line.starts_with('#') || line.starts_with(';')) continue;
    if (whole.empty()) first = i + 1;
    const bool goes_on = line.ends_with('\\') && !line.ends_with("\\\\");
    whole += goes_on ? std::string(line.substr(0, line.size() - 1)) + " " : std::string(line);
    if (goes_on && i + 1 < lines.size()) continue;
    const std::string_view done = trimmed(whole);
    if (done.starts_with('[')) {
      section = done;
    } else if (const auto equals = done.find('='); equals != std::string_view::npos) {
      settings.push_back({section, std::string(trimmed(done.substr(0, equals))),
                          std::string(trimmed(done.substr(equals + 1))), first});
    }
    whole.clear();
  }
  return settings;
}

/// Variables that the unit's files set.
class UnitVariables {
 public:
  void set(const std::string& assignments) {
    for (const std::string& word : words_in(assignments)) set_one(word);
  }

  /// Reads an EnvironmentFile: a leading "-" means that it may be missing.
  void read(const Host& host, std::string path) {
    if (path.starts_with('-')) path.erase(0, 1);
    const auto text = host.read(path);
    all_known_ = all_known_ && text.ok();
    for (const UnitSetting& line : settings_of(text.value_or(""))) {
      std::string value;
      for (const std::string& word : words_in(line.value)) value += (value.empty() ? "" : " ") + word;
      values_[line.key] = value;
    }
  }

  void forget() { values_.clear(); }

  const std::map<std::string, std::string>& all() const { return values_; }

  /// Empty: it may be in a file that is missing here.
  std::optional<std::string> find(const std::string& name) const {
    const auto found = values_.find(name);
    if (found != values_.end()) return found->second;
    return all_known_ ? std::optional<std::string>("") : std::nullopt;
  }

 private:
  void set_one(const std::string& word) {
    if (const auto equals = word.find('='); equals != std::string::npos && equals > 0)
      values_[word.substr(0, equals)] = word.substr(equals + 1);
  }

  std::map<std::string, std::string> values_;
  bool all_known_ = true;
};

/// Expands "${NAME}" inside a word, "$$" and "%%".
std::string filled_in(const std::string& word, const UnitVariables& variables) {
  std::string text;
  for (std::size_t i = 0; i < word.size(); ++i) {
    const bool twice = i + 1 < word.size() && word[i + 1] == word[i];
    const auto end = word.compare(i, 2, "${") == 0 ? word.find('}', i) : std::string::npos;
    if (end != std::string::npos) {
      const auto value = variables.find(word.substr(i + 2, end - i - 2));
      text += value ? *value : word.substr(i, end + 1 - i);
      i = end;
    } else {
      text += word[i];
      if ((word[i] == '$' || word[i] == '%') && twice) ++i;
    }
  }
  return text;
}

void add_filled_in(const std::string& word, const UnitVariables& variables, UnitWords& words) {
  // "$NAME" as a separate word expands to all words of its value.
  if (word.size() > 1 && word[0] == '$' && word[1] != '{' && word[1] != '$') {
    const auto value = variables.find(word.substr(1));
    for (const std::string& one : value ? words_in(*value) : UnitWords{word}) words.push_back(one);
    return;
  }
  words.push_back(filled_in(word, variables));
}

/// Removes a leading `env` and the variables that it sets.
void drop_env(UnitWords& words) {
  if (words.empty() || file_name(words.front()) != "env") return;
  std::size_t at = 1;
  while (at < words.size() && (words[at].starts_with('-') || words[at].find('=') != std::string::npos))
    at += words[at] == "-u" || words[at] == "-C" ? 2U : 1U;
  words.erase(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(std::min(at, words.size())));
}

UnitWords command_words(const std::string& line, const UnitVariables& variables) {
  UnitWords read = words_in(line);
  if (const auto next = std::ranges::find(read, ";"); next != read.end()) read.erase(next, read.end());
  if (read.empty()) return {};
  const std::size_t prefix = std::min(read.front().find_first_not_of("@-:+!|"), read.front().size());
  const std::string signs = read.front().substr(0, prefix);
  read.front().erase(0, prefix);
  if (signs.find('@') != std::string::npos && read.size() > 1) read.erase(read.begin() + 1);  // argv[0] of the program
  if (signs.find(':') != std::string::npos) return read;                                      // no variables
  UnitWords words;
  for (const std::string& word : read) add_filled_in(word, variables, words);
  drop_env(words);
  return words;
}

}  // namespace

std::vector<std::string> unit_files(const Host& host, const std::string& unit) {
  const std::vector<std::string> folders{"/etc/systemd/system/", "/run/systemd/system/",
                                         "/usr/local/lib/systemd/system/", "/usr/lib/systemd/system/",
                                         "/lib/systemd/system/"};
  const auto main = std::find_if(folders.begin(), folders.end(), [&](const std::string& folder) {
    const auto info = host.info(folder + unit);
    return info && info->type != FileInfo::Type::directory;
  });
  if (main == folders.end()) return {};
  std::map<std::string, std::string> drop_ins;                    // by name; the first folder with a name counts
  for (const std::string& kind : {unit, std::string("service")})  // service.d applies to all services
    for (const std::string& folder : folders) {
      const auto names = host.list(folder + kind + ".d").value_or({});
      for (const std::string& name : names)
        if (name.ends_with(".conf")) drop_ins.emplace(name, folder + kind + ".d/" + name);
    }
  std::vector<std::string> files{*main + unit};
  for (const auto& drop_in : drop_ins) files.push_back(drop_in.second);
  return files;
}

std::optional<UnitCommand> read_unit_command(const Host& host, const std::string& unit) {
  const auto files = unit_files(host, unit);
  if (files.empty()) return {};
  std::string command;
  std::string place;
  UnitVariables variables;
  std::vector<std::string> environment_files;  // these override Environment, wherever they are
  for (const std::string& file : files)
    for (const UnitSetting& setting : settings_of(host.read(file).value_or(""))) {
      if (setting.section != "[Service]") continue;
      if (setting.key == "ExecStart" && !setting.value.empty()) {
        command = setting.value;
        place = file + ":" + std::to_string(setting.line);
      } else if (setting.key == "Environment") {
        setting.value.empty() ? variables.forget() : variables.set(setting.value);
      } else if (setting.key == "EnvironmentFile") {
        if (setting.value.empty())
          environment_files.clear();
        else
          environment_files.push_back(setting.value);
      }
    }
  for (const std::string& path : environment_files) variables.read(host, path);
  return UnitCommand{command_words(command, variables), place, variables.all()};
}

}  // namespace slipway::toolkit
