#include "report/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace addp {
namespace {

// A number, also with a unit ("3.8 MiB", "13 of 16"); a sentence that begins with one is text.
bool looks_numeric(const std::string& cell) {
  constexpr int kLongestUnit = 4;  // letters
  const auto is = [](int (*kind)(int), char c) { return kind(static_cast<unsigned char>(c)) != 0; };
  if (cell.empty()) return false;
  const bool sign = (cell[0] == '-' || cell[0] == '+') && cell.size() > 1;
  if (!sign && !is(std::isdigit, cell[0])) return false;
  int letters = 0;
  for (const char c : cell) {
    letters = is(std::isalpha, c) ? letters + 1 : 0;
    if (letters > kLongestUnit) return false;
  }
  return true;
}

// Columns are counted in characters, not bytes, so that UTF-8 names line up.
std::size_t display_width(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

}  // namespace

std::string escape_html(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string Table::to_text() const {
  std::vector<std::size_t> widths(header.size(), 0);
  const auto measure = [&](const std::vector<std::string>& row) {
    for (std::size_t i = 0; i < row.size() && i < widths.size(); ++i) {
      widths[i] = std::max(widths[i], display_width(row[i]));
    }
  };
  measure(header);
  for (const auto& row : rows) measure(row);

  std::string text = title.empty() ? "" : title + "\n";
  const auto print = [&](const std::vector<std::string>& row, bool numbers) {
    std::string line;
    for (std::size_t i = 0; i < row.size() && i < widths.size(); ++i) {
      const std::string pad(widths[i] - display_width(row[i]), ' ');
      if (i > 0) line += "  ";
      line += numbers && looks_numeric(row[i]) ? pad + row[i] : row[i] + pad;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  };
  print(header, false);
  std::vector<std::string> rule;
  for (const std::size_t width : widths) rule.emplace_back(width, '-');
  print(rule, false);
  for (const auto& row : rows) print(row, true);
  return text;
}

std::string Table::to_html() const {
  std::string html = "<table>";
  if (!title.empty()) html += "<caption>" + escape_html(title) + "</caption>";
  html += "<thead><tr>";
  for (const auto& cell : header) html += "<th>" + escape_html(cell) + "</th>";
  html += "</tr></thead><tbody>";
  for (const auto& row : rows) {
    html += "<tr>";
    for (const auto& cell : row) {
      html += fmt::format("<td{}>{}</td>", looks_numeric(cell) ? " class=\"number\"" : "",
                          escape_html(cell));
    }
    html += "</tr>";
  }
  return html + "</tbody></table>\n";
}

}  // namespace addp
