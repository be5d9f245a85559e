// SPDX-License-Identifier: Apache-2.0
#include "base/command_line/read_words.hpp"

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <map>
#include <set>

#include <boost/any.hpp>
#include <boost/program_options/errors.hpp>
#include <boost/program_options/options_description.hpp>
#include <boost/program_options/parsers.hpp>
#include <boost/program_options/value_semantic.hpp>
#include <boost/program_options/variables_map.hpp>

#include <slipway/text.hpp>

namespace slipway::command_line {
namespace {

namespace po = boost::program_options;

using Words = std::vector<std::string>;

constexpr const char* kCommandLine = "command line";

/// Carries an error through Boost's functions.
class Refused final : public std::exception {
 public:
  explicit Refused(Error error) : error_(std::move(error)) {}
  const char* what() const noexcept override { return error_.what.c_str(); }
  const Error& error() const { return error_; }

 private:
  Error error_;
};

/// As Go's strconv.ParseBool has them.
std::optional<bool> parse_flag(const std::string& text) {
  for (const char* word : {"true", "1", "t", "T", "TRUE", "True"})
    if (text == word) return true;
  for (const char* word : {"false", "0", "f", "F", "FALSE", "False"})
    if (text == word) return false;
  return std::nullopt;
}

bool is_flag(const CommandOption& option) { return option.value.empty(); }

bool needs_value(const CommandOption& option) { return !is_flag(option) && !may_lack_value(option); }

/// The option's own name in Boost's form: "output", "-w".
std::string key_of(const CommandOption& option) { return (option.name.size() == 1 ? "-" : "") + option.name; }

/// All names of an option in Boost's form: its own, its aliases and its letter.
Words keys_of(const CommandOption& option) {
  Words keys{key_of(option)};
  keys.insert(keys.end(), option.aliases.begin(), option.aliases.end());
  if (option.letter != 0) keys.push_back({'-', option.letter});
  return keys;
}

bool is_letter(const std::string& key) { return key.starts_with('-'); }

/// Lets Boost read one option by one of its names. parse() receives a value, the option's name for messages, and its
/// place.
class OptionValue final : public po::value_semantic {
 public:
  OptionValue(const CommandTable& table, const CommandOption& option, const std::string& key)
      : table_(table), option_(option), key_(key) {}

  std::string name() const override { return {}; }
  unsigned min_tokens() const override { return needs_value(option_) ? 1 : 0; }
  /// "--verbose=false" has a value. "-vo json" is two options, so the letter of a flag never has one.
  unsigned max_tokens() const override { return is_flag(option_) && is_letter(key_) ? 0 : 1; }
  /// An option on the command line gets no further values from the environment.
  bool is_composing() const override { return false; }
  bool is_required() const override { return option_.required && key_ == key_of(option_); }
  bool apply_default(boost::any&) const override { return false; }
  void notify(const boost::any&) const override {}

  void parse(boost::any& values, const Words& tokens, bool) const override {
    const std::string& shown = tokens.at(1);
    std::string value = checked(tokens.front(), shown, tokens.at(2));
    if (values.empty()) values = Words();
    Words& all = boost::any_cast<Words&>(values);
    if (!all.empty() && !option_.repeats && !table_.last_counts) refuse(shown + " is given more than once", tokens[2]);
    all.push_back(std::move(value));
  }

 private:
  std::string checked(const std::string& value, const std::string& shown, const std::string& where) const {
    if (is_flag(option_)) {
      const auto flag = parse_flag(value);
      if (!flag) refuse(shown + " takes only true or false, not '" + value + "'", where);
      return *flag ? "true" : "false";
    }
    const Words choices = choices_of(option_);
    if (choices.empty() || std::ranges::count(choices, value) != 0) return value;
    Error error = table_.wrong(shown + " takes " + listed(choices, "or") + ", not '" + value + "'");
    error.where = where;
    error.next = suggestion(value, choices, error.next);
    throw Refused(std::move(error));
  }

  [[noreturn]] void refuse(const std::string& what, const std::string& where) const {
    Error error = table_.wrong(what);
    error.where = where;
    throw Refused(std::move(error));
  }

  const CommandTable& table_;
  const CommandOption& option_;
  const std::string key_;
};

/// Words that Boost reads differently from slipway: "--name=" is an option with an empty value; "--=value" and
/// "---n" are unknown options.
std::vector<po::option> parse_odd_word(Words& words) {
  const std::string& word = words.front();
  if (!word.starts_with("--") || word.size() == 2) return {};
  const bool is_unknown = word[2] == '=' || word[2] == '-';
  if (!is_unknown && word.find('=') != word.size() - 1) return {};
  po::option option;
  option.string_key = is_unknown ? "--" : word.substr(2, word.size() - 3);
  option.value = {""};
  option.original_tokens = {word};
  words.erase(words.begin());
  return {option};
}

class Reader {
 public:
  explicit Reader(const CommandTable& table) : table_(table) {
    for (const CommandOption& option : table.options)
      for (const std::string& key : keys_of(option)) {
        options_[key] = &option;
        const std::string names = is_letter(key) ? "," + key.substr(1) : key;
        description_.add_options()(names.c_str(), new OptionValue(table, option, key));
      }
  }

  /// @param all_known  an option outside the table is an error
  void words(const Words& words, bool all_known) {
    po::parsed_options parsed = parse(words);
    std::vector<po::option> given;
    for (po::option& each : parsed.options) {
      if (each.unregistered && all_known) throw Refused(unknown(each));
      if (each.unregistered) continue;
      const CommandOption* const option = each.string_key.empty() ? nullptr : options_.at(each.string_key);
      if (option == nullptr) {
        argument(each.original_tokens.at(0));
        continue;
      }
      // Boost uses the next word as the value of an option whose value is optional.
      if (!needs_value(*option) && each.original_tokens.size() > 1) {
        argument(each.original_tokens.back());
        each.original_tokens.pop_back();
        each.value.clear();
      }
      set_value_semantic(each, *option);
      given.push_back(each);
    }
    parsed.options = std::move(given);
    po::store(parsed, map_);
  }

  void variables(const Variables& variable) {
    po::parsed_options parsed(&description_);
    for (const CommandOption& option : table_.options)
      for (const std::string& name : option.variables) {
        auto value = variable(name);
        if (!value || (value->empty() && !table_.empty_variables)) continue;
        if (is_flag(option) && value->empty()) value = "false";
        parsed.options.emplace_back(key_of(option), Words{*value, name, "environment variable " + name});
        break;
      }
    po::store(parsed, map_);
  }

  CommandWords read() {
    collect();
    read_.help = read_.flag("help");  // "--help=true"
    if (read_.help) return std::move(read_);
    const std::string form = " is missing: " + table_.call + " " + table_.usage;
    if (read_.arguments.size() < table_.least_arguments) throw Refused(table_.wrong("a word" + form));
    try {
      po::notify(map_);
    } catch (const po::required_option& missing) {
      throw Refused(table_.wrong(missing.get_option_name() + form));
    }
    return std::move(read_);
  }

  /// The same result as read(), without its checks.
  CommandWords found() {
    collect();
    return std::move(read_);
  }

 private:
  po::parsed_options parse(const Words& words) const {
    using namespace po::command_line_style;  // NOLINT(google-build-using-namespace): enumerators, for this expression
    const int style = allow_long | long_allow_adjacent | long_allow_next | allow_short | allow_dash_for_short |
                      short_allow_adjacent | short_allow_next | allow_sticky;
    po::command_line_parser parser(words);
    parser.options(description_).style(style).extra_style_parser(parse_odd_word).allow_unregistered();
    try {
      return parser.run();
    } catch (const po::invalid_command_line_syntax& problem) {
      const std::string name = problem.get_option_name();
      const std::string letter = name.substr(std::min(name.size(), name.find_first_not_of('-')));
      throw Refused(table_.wrong((letter.size() == 1 ? "-" + letter : name) + " needs a value"));
    }
  }

  /// Passes the option's own name and the arguments of OptionValue::parse() on.
  void set_value_semantic(po::option& given, const CommandOption& option) const {
    const std::string word = given.original_tokens.empty() ? "" : given.original_tokens.front();
    const std::string letter = is_letter(given.string_key) ? given.string_key : "";
    std::string shown = letter.empty() ? word.substr(0, word.find('=')) : letter;
    if (is_flag(option) && !letter.empty() && option.name.size() > 1) shown = "--" + option.name;
    const bool next_word = given.original_tokens.size() > 1;
    if (next_word && given.value.front().starts_with("--") && options_.contains(given.value.front().substr(2)))
      throw Refused(table_.wrong(shown + " needs a value"));
    if (may_lack_value(option) && letter.empty() && word.ends_with('=') && given.value.front().empty())
      throw Refused(table_.wrong(shown + "= has no value after the =: add one, or leave the = out"));
    const std::string value = given.value.empty() ? (is_flag(option) ? "true" : "") : given.value.front();
    given.string_key = key_of(option);
    given.value = {value, shown, kCommandLine};
  }

  void argument(const std::string& word) {
    if (read_.arguments.size() == table_.most_arguments) {
      const std::string kind = table_.most_arguments == 0 ? "word '" : "further word '";
      throw Refused(with_nearest(table_.wrong("`" + table_.call + "` takes no " + kind + word + "'"), word));
    }
    read_.arguments.push_back(word);
  }

  void collect() {
    for (const CommandOption& option : table_.options)
      if (const auto value = map_.find(key_of(option)); value != map_.end() && !value->second.empty())
        read_.values[option.name] = value->second.as<Words>();
  }

  Error unknown(const po::option& option) const {
    const std::string& word = option.original_tokens.at(0);
    const bool is_later_letter = !word.starts_with("--") && !word.starts_with(option.string_key);
    const std::string shown = is_later_letter ? option.string_key : word.substr(0, word.find('='));
    const std::size_t name = std::min(shown.size(), shown.find_first_not_of('-'));
    return with_nearest(table_.wrong("unknown option '" + shown + "'"), shown.substr(name));
  }

  Error with_nearest(Error error, const std::string& name) const {
    Words names;
    for (const CommandOption& option : table_.options)
      if (option.name.size() > 1) names.push_back(option.name);
    if (const std::string near = nearest_word(name, names); !near.empty()) error.next = "did you mean --" + near + "?";
    return error;
  }

  const CommandTable& table_;
  std::map<std::string, const CommandOption*> options_;  ///< by each name in Boost's form
  po::options_description description_;
  po::variables_map map_;
  CommandWords read_;
};

// The time of Boost's parser grows with the square of their number.
constexpr std::size_t kMostWords = 4096;

bool is_alphanumeric(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

bool is_name(const std::string& name) {
  constexpr std::size_t kLongest = 100;
  return !name.empty() && name.size() <= kLongest && is_alphanumeric(name.front()) &&
         std::ranges::all_of(name, [](char c) { return is_alphanumeric(c) || c == '-' || c == '_' || c == '.'; });
}

bool is_variable(const std::string& name) {
  return is_name(name) && std::ranges::all_of(name, [](char c) { return is_alphanumeric(c) || c == '_'; }) &&
         !name.starts_with("LD_") && !name.starts_with("SLIPWAY_");
}

Error wrong_table(const std::string& what) {
  return {ErrorCode::plugin_defect, "its options cannot be told apart: " + what, {}, {}, {}};
}

}  // namespace

std::optional<std::string> process_variable(const std::string& name) {
  const char* const value = std::getenv(name.c_str());  // NOLINT(concurrency-mt-unsafe): no thread sets variables
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

Status check_options(const std::vector<CommandOption>& options) {
  std::set<std::string> seen;
  for (const CommandOption& option : options) {
    Words names{option.name};
    for (const std::string& alias : option.aliases) {
      if (alias.size() < 2) return wrong_table("'" + alias + "' is too short for an alias");
      names.push_back(alias);
    }
    if (option.letter != 0) names.emplace_back(1, option.letter);
    for (const std::string& variable : option.variables)
      if (!is_variable(variable)) return wrong_table("'" + variable + "' is not a valid name of a variable");
    for (const std::string& name : names) {
      if (!is_name(name)) return wrong_table("'" + name + "' is not a name");
      if (!seen.insert(name).second) return wrong_table("two options have the name '" + name + "'");
    }
  }
  return {};
}

Result<CommandWords> read_words(const CommandTable& table, const Words& words, const Variables& variables) {
  if (words.size() > kMostWords)
    return table.wrong("the command line has " + std::to_string(words.size()) + " words, more than " +
                       std::to_string(kMostWords));
  if (asks_for_help(words)) return CommandWords{{}, {}, true};
  SLIPWAY_CHECK(check_options(table.options));
  try {
    Reader reader(table);
    reader.words(words, true);
    reader.variables(variables);
    return reader.read();
  } catch (const Refused& refused) {
    return refused.error();
  } catch (const std::exception& problem) {
    return Error{ErrorCode::internal,
                 std::string("bug in slipway: the command line cannot be read: ") + problem.what(),
                 kCommandLine,
                 "please report it with the command that you ran",
                 {}};
  }
}

CommandWords find_options(const std::vector<CommandOption>& options, const Words& words) {
  const CommandTable table{.options = options, .most_arguments = kAnyNumber, .last_counts = true};
  if (!check_options(options) || words.size() > kMostWords) return {};
  Reader reader(table);
  try {
    reader.words(words, false);
  } catch (const std::exception&) {  // read_words() reports the error
  }
  return reader.found();
}

bool asks_for_help(const Words& words) {
  const auto end = std::ranges::find(words, "--");
  return std::any_of(words.begin(), end, [](const std::string& word) { return word == "--help" || word == "-h"; });
}

}  // namespace slipway::command_line
