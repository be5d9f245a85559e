// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <ranges>

#include <slipway/command_line.hpp>
#include <slipway/text.hpp>

namespace slipway {
namespace {

using Word = std::vector<std::string>::const_iterator;

bool is_named(const CommandOption& option, std::string_view name) {
  return name.size() > 1 && (option.name == name || std::ranges::count(option.aliases, name) != 0);
}

bool is_letter(const CommandOption& option, char letter) {
  return option.letter == letter || (option.name.size() == 1 && option.name.front() == letter);
}

/// Accepts the words of Go's strconv.ParseBool.
std::optional<bool> parse_flag(const std::string& text) {
  for (const char* word : {"true", "1", "t", "T", "TRUE", "True"})
    if (text == word) return true;
  for (const char* word : {"false", "0", "f", "F", "FALSE", "False"})
    if (text == word) return false;
  return std::nullopt;
}

class Reader {
 public:
  explicit Reader(const CommandTable& table) : table_(table) {}

  /// Parses the word at `at`, an option, and its value, which may be the next word.
  Status option(Word& at, Word end) { return at->starts_with("--") ? long_option(at, end) : letters(at, end); }

  Status argument(const std::string& word) {
    if (read_.arguments.size() == table_.most_arguments) {
      const std::string kind = table_.most_arguments == 0 ? "word '" : "further word '";
      return with_nearest(table_.wrong("`" + table_.call + "` takes no " + kind + word + "'"), word);
    }
    read_.arguments.push_back(word);
    return {};
  }

  Status take(const CommandOption& option, const std::string& shown, std::string value, const std::string& where = {}) {
    const auto refuse = [&](const std::string& what) {
      Error error = table_.wrong(shown + what);
      if (!where.empty()) error.where = where;
      return error;
    };
    if (option.value.empty()) {
      const auto flag = parse_flag(value);
      if (!flag) return refuse(" takes no value but true or false, not '" + value + "'");
      value = *flag ? "true" : "false";
    }
    const auto choices = choices_of(option);
    if (!choices.empty() && std::ranges::count(choices, value) == 0) {
      Error error = refuse(" takes " + listed(choices, "or") + ", not '" + value + "'");
      error.next = suggestion(value, choices, error.next);
      return error;
    }
    std::vector<std::string>& values = read_.values[option.name];
    if (!values.empty() && !option.repeats && !table_.last_counts) return refuse(" is given more than once");
    values.push_back(std::move(value));
    return {};
  }

  Status variables(const Variables& variable) {
    for (const CommandOption& option : table_.options) {
      if (read_.given(option.name)) continue;
      for (const std::string& name : option.variables) {
        auto value = variable(name);
        if (!value || (value->empty() && !table_.empty_variables)) continue;
        if (option.value.empty() && value->empty()) value = "false";
        SLIPWAY_CHECK(take(option, name, *value, "environment variable " + name));
        break;
      }
    }
    return {};
  }

  Result<CommandWords> read() {
    read_.help = read_.flag("help");  // "--help=true"
    if (read_.help) return std::move(read_);
    const std::string form = " is missing: " + table_.call + " " + table_.usage;
    if (read_.arguments.size() < table_.least_arguments) return table_.wrong("a word" + form);
    for (const CommandOption& option : table_.options)
      if (option.required && !read_.given(option.name)) return table_.wrong("--" + option.name + form);
    return std::move(read_);
  }

 private:
  Status long_option(Word& at, Word end) {
    const std::size_t equals = at->find('=');
    const std::string shown = at->substr(0, equals);
    const CommandOption* const option = find(shown);
    if (option == nullptr) return unknown(shown);
    if (may_lack_value(*option) && equals + 1 == at->size())
      return table_.wrong(shown + "= has nothing behind the =: name a value, or leave the = out");
    if (equals != std::string::npos) return take(*option, shown, at->substr(equals + 1));
    if (may_lack_value(*option)) return take(*option, shown, "");
    return option->value.empty() ? take(*option, shown, "true") : next_word(*option, shown, at, end);
  }

  /// Parses "-v", "-o json", "-ojson", "-vo json".
  Status letters(Word& at, Word end) {
    const std::string word = *at;
    for (std::size_t i = 1; i < word.size(); ++i) {
      const auto option =
          std::ranges::find_if(table_.options, [&](const auto& one) { return is_letter(one, word[i]); });
      const std::string shown{'-', word[i]};
      if (option == table_.options.end()) return unknown(i == 1 ? word : shown);
      const std::string name = option->name.size() > 1 ? "--" + option->name : shown;
      if (option->value.empty()) {
        SLIPWAY_CHECK(take(*option, name, "true"));
        continue;
      }
      if (i + 1 < word.size()) return take(*option, shown, word.substr(i + 1));
      return may_lack_value(*option) ? take(*option, shown, "") : next_word(*option, shown, at, end);
    }
    return {};
  }

  Status next_word(const CommandOption& option, const std::string& shown, Word& at, Word end) {
    const bool is_last = at + 1 == end;
    if (is_last || ((at + 1)->starts_with("--") && find(*(at + 1)) != nullptr))
      return table_.wrong(shown + " needs a value");
    return take(option, shown, *++at);
  }

  const CommandOption* find(std::string_view shown) const {
    const auto option =
        std::ranges::find_if(table_.options, [&](const auto& one) { return is_named(one, shown.substr(2)); });
    return option == table_.options.end() ? nullptr : &*option;
  }

  Error unknown(const std::string& word) const {
    return with_nearest(table_.wrong("unknown option '" + word + "'"), word.substr(word.find_first_not_of('-')));
  }

  Error with_nearest(Error error, const std::string& name) const {
    std::vector<std::string> names;
    for (const CommandOption& option : table_.options)
      if (option.name.size() > 1) names.push_back(option.name);
    if (const std::string near = nearest_word(name, names); !near.empty()) error.next = "did you mean --" + near + "?";
    return error;
  }

  const CommandTable& table_;
  CommandWords read_;
};

}  // namespace

Error CommandTable::wrong(std::string what) const {
  return {ErrorCode::usage, std::move(what), "command line", "`" + call + " --help` lists what it takes", {}};
}

std::string CommandWords::text(std::string_view name, std::string_view otherwise) const {
  const auto found = values.find(name);
  return found == values.end() ? std::string(otherwise) : found->second.back();
}

bool CommandWords::flag(std::string_view name, bool otherwise) const {
  return text(name, otherwise ? "true" : "false") == "true";
}

std::vector<std::string> CommandWords::texts(std::string_view name) const {
  const auto found = values.find(name);
  return found == values.end() ? std::vector<std::string>() : found->second;
}

std::vector<std::string> CommandWords::list(std::string_view name) const {
  return split_list(joined(texts(name), ","));
}

std::optional<std::string> process_variable(const std::string& name) {
  const char* const value = std::getenv(name.c_str());  // NOLINT(concurrency-mt-unsafe): this program sets no variables
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

bool may_lack_value(const CommandOption& option) { return option.value.starts_with("[="); }

Result<CommandWords> read_words(const CommandTable& table, const std::vector<std::string>& words,
                                const Variables& variables) {
  if (asks_for_help(words)) return CommandWords{{}, {}, true};
  Reader reader(table);
  bool only_arguments = false;
  for (auto word = words.begin(); word != words.end(); ++word) {
    if (only_arguments || word->size() < 2 || !word->starts_with('-'))
      SLIPWAY_CHECK(reader.argument(*word));
    else if (*word == "--")
      only_arguments = true;
    else
      SLIPWAY_CHECK(reader.option(word, words.end()));
  }
  SLIPWAY_CHECK(reader.variables(variables));
  return reader.read();
}

bool asks_for_help(const std::vector<std::string>& words) {
  const auto end = std::ranges::find(words, "--");
  return std::any_of(words.begin(), end, [](const std::string& word) { return word == "--help" || word == "-h"; });
}

std::vector<std::string> choices_of(const CommandOption& option) {
  const bool is_choice = !option.value.empty() && option.value.front() >= 'a' && option.value.front() <= 'z';
  return is_choice ? split(option.value, '|') : std::vector<std::string>();
}

}  // namespace slipway
