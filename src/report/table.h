// A table of results, as aligned text for a terminal and as HTML.
#pragma once

#include <string>
#include <vector>

namespace addp {

struct Table {
  std::string title;
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;

  // Cells that look like numbers are aligned to the right.
  std::string to_text() const;
  std::string to_html() const;
};

std::string escape_html(const std::string& text);

}  // namespace addp
