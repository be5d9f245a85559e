// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <string_view>

#include <slipway/text.hpp>

#include "cli/render/graph_views.hpp"
#include "cli/render/text.hpp"

namespace slipway::cli {
namespace {

constexpr std::size_t kFewestWords = 24;  // columns
constexpr std::string_view kGap = "  ";

struct Signs {
  std::string_view own, requires_, after, rail, line, crossing;
};
constexpr Signs kBoxDrawing{"●", "◆", "◇", "│", "─", "┼"};
constexpr Signs kAscii{"*", "R", "A", "|", "-", "+"};

bool holds(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

/// "requires driver; after mig"
std::string words_of(const core::Graph& graph, const std::string& name) {
  const auto& required = graph.requires_.at(name);
  std::vector<std::string> only_after;
  for (const std::string& first : graph.before.at(name))
    if (!holds(required, first)) only_after.push_back(first);
  std::string words = required.empty() ? "" : "requires " + listed(required, "and");
  if (!only_after.empty()) words += (words.empty() ? "after " : "; after ") + listed(only_after, "and");
  return words;
}

/// The rails: a component that others wait for has its own column, from its line down to the last one that waits.
class Rails {
 public:
  Rails(const core::Graph& graph, const Signs& signs) : graph_(graph), signs_(signs) {
    for (std::size_t row = 0; row < graph.order.size(); ++row)
      for (const std::string& first : graph.before.at(graph.order[row])) last_[first] = row;
    for (std::size_t row = 0; row < graph.order.size(); ++row) {
      own_.push_back(columns_.size());
      if (last_.contains(graph.order[row])) columns_.push_back({row, last_.at(graph.order[row])});
    }
  }

  std::size_t width() const { return own_.empty() ? 0 : 2 * std::ranges::max(own_) + 1; }

  /// Draws the component's own mark, and lines from it to the rails of the components that it waits for.
  std::string line(std::size_t row) const {
    const std::string& name = graph_.order[row];
    std::string text;
    bool joined = false;  // the line to the left-most rail has begun
    for (std::size_t column = 0; column < own_[row]; ++column) {
      const std::string& first = graph_.order[columns_[column].begins];
      const bool waits = holds(graph_.before.at(name), first);
      if (waits)
        text += holds(graph_.requires_.at(name), first) ? signs_.requires_ : signs_.after;
      else if (columns_[column].ends > row)
        text += joined ? signs_.crossing : signs_.rail;
      else
        text += joined ? signs_.line : " ";
      joined = joined || waits;
      text += joined ? signs_.line : " ";
    }
    return text.append(signs_.own);
  }

  /// Draws the rails below that line.
  std::string below(std::size_t row) const {
    std::string text;
    for (const Column& column : columns_)
      if (column.begins <= row) text.append(column.ends > row ? signs_.rail : " ").append(" ");
    return text;
  }

 private:
  struct Column {
    std::size_t begins, ends;  ///< lines
  };
  const core::Graph& graph_;
  const Signs& signs_;
  std::map<std::string, std::size_t> last_;  ///< the last line whose component waits for this one
  std::vector<Column> columns_;
  std::vector<std::size_t> own_;  ///< by line: the column of the component's mark
};

/// Splits the words into lines of at most that width; at least one line.
std::vector<std::string> folded(const std::string& words, std::size_t width) {
  std::vector<std::string> lines(1);
  for (const auto& word : split_list(words, ' ')) {
    std::string& line = lines.back();
    if (line.empty())
      line = word;
    else if (width_of(line) + 1 + width_of(word) <= width)
      line += " " + word;
    else
      lines.push_back(word);
  }
  return lines;
}

std::string without_trailing_blanks(const std::string& line) {
  return line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
}

std::string with_rails(const core::Graph& graph, const Rails& rails, std::size_t names, std::size_t room) {
  std::string text;
  for (std::size_t row = 0; row < graph.order.size(); ++row) {
    const std::vector<std::string> words = folded(words_of(graph, graph.order[row]), room);
    for (std::size_t i = 0; i < words.size(); ++i) {
      std::string line = padded(i == 0 ? graph.order[row] : "", names).append(kGap);
      line += padded(i == 0 ? rails.line(row) : rails.below(row), rails.width()).append(kGap) + words[i];
      text += without_trailing_blanks(line);
    }
  }
  return text;
}

/// Explains the marks that occur.
std::string legend(const core::Graph& graph, const Signs& signs) {
  bool any_required = false, any_after = false;
  for (const auto& [name, first] : graph.before) {
    any_required = any_required || !graph.requires_.at(name).empty();
    any_after = any_after || first.size() > graph.requires_.at(name).size();
  }
  if (!any_required && !any_after) return "";
  const std::string rail = " the " + std::string(signs.own) + " above it in its column";
  if (!any_required) return "\n" + std::string(signs.after) + " comes after" + rail + "\n";
  return "\n" + std::string(signs.requires_) + " requires" + rail +
         (any_after ? ", " + std::string(signs.after) + " is only after it\n" : "\n");
}

std::string without_rails(const core::Graph& graph, std::size_t columns) {
  std::string text;
  for (const std::string& name : graph.order) {
    const std::string words = words_of(graph, name);
    text += name + (words.empty() ? "" : ": " + words) + "\n";
  }
  return wrapped(text, columns);
}

}  // namespace

std::string graph_text(const core::Graph& graph, std::size_t columns, bool utf8) {
  if (graph.order.empty()) return "The spec has no components.\n";
  const Signs& signs = utf8 ? kBoxDrawing : kAscii;
  const Rails rails(graph, signs);
  std::size_t names = 0;
  for (const std::string& name : graph.order) names = std::max(names, width_of(name));
  const std::size_t drawn = names + rails.width() + 2 * kGap.size();
  if (drawn + std::max(kFewestWords, names + 2) > columns) return without_rails(graph, columns);
  return with_rails(graph, rails, names, columns - drawn) + wrapped(legend(graph, signs), columns);
}

}  // namespace slipway::cli
