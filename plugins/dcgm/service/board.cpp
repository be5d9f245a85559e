// SPDX-License-Identifier: Apache-2.0
#include "dcgm/service/board.hpp"

#include "dcgm/names/name_sets.hpp"

namespace slipway::dcgm {
namespace {

constexpr std::chrono::seconds kLongestLook{60};  // eight hanging GPUs, each until its call is abandoned

}  // namespace

Board::Board(std::chrono::milliseconds interval)
    : limit_(3 * interval + kLongestLook), nothing_(sheet_of("", "there has been no sample yet")), sheet_(nothing_) {}

std::shared_ptr<const Board::Sheet> Board::sheet_of(std::string text, std::string problem) {
  std::string openmetrics = openmetrics_text(text);
  return std::make_shared<const Sheet>(Sheet{std::make_shared<const std::string>(std::move(text)),
                                             std::make_shared<const std::string>(std::move(openmetrics)),
                                             std::move(problem), Clock::now()});
}

void Board::put(std::string text, std::string problem) {
  auto sheet = sheet_of(std::move(text), std::move(problem));
  const std::scoped_lock lock(mutex_);
  sheet_.swap(sheet);  // the previous sheet is destroyed outside the lock
}

void Board::put_page(std::shared_ptr<const PageTexts> page) {
  const std::scoped_lock lock(mutex_);
  page_.swap(page);
}

std::shared_ptr<const Board::Sheet> Board::current() const {
  const std::scoped_lock lock(mutex_);
  return sheet_;
}

base::HttpText Board::text() const {
  const auto sheet = current();
  return is_old(*sheet) ? nothing_->text : sheet->text;
}

base::HttpText Board::openmetrics() const {
  const auto sheet = current();
  return is_old(*sheet) ? nothing_->openmetrics : sheet->openmetrics;
}

base::ServiceHealth Board::health() const {
  const auto sheet = current();
  if (is_old(*sheet)) return {.well = false, .text = "there has been no sample for a long time\n"};
  return {.well = sheet->problem.empty(), .text = sheet->problem.empty() ? "ok\n" : sheet->problem + "\n"};
}

std::optional<base::HttpPage> Board::page(std::string_view path) const {
  if (path != "/" && path != "/overview.json") return std::nullopt;
  const bool is_html = path == "/";
  base::HttpPage answer{is_html ? "text/html; charset=utf-8" : "application/json", is_html ? page_policy() : "",
                        nullptr};
  const bool old = is_old(*current());
  const std::scoped_lock lock(mutex_);
  if (page_ && !old) answer.body = {page_, is_html ? &page_->html : &page_->json};
  return answer;
}

}  // namespace slipway::dcgm
