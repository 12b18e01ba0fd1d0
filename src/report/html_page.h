// One self-contained HTML page: pictures and charts are inside, so it can be mailed or moved.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/file_io.h"
#include "image/image.h"
#include "report/chart.h"
#include "report/table.h"

namespace addp {

class HtmlPage {
 public:
  HtmlPage(std::string title, std::string subtitle);

  void heading(const std::string& text);
  void paragraph(const std::string& text);
  void code(const std::string& text);
  void table(const Table& table);
  // `scale` enlarges with hard pixel edges, for small pictures.
  void picture(const Image& image, const std::string& caption, int scale = 1);
  // An animated WebP or a GIF, as encoded.
  void animation(ByteSpan webp, const std::string& caption, int width);
  // Charts in a row stand side by side where there is room.
  void charts(const std::vector<std::string>& svgs);

  std::string to_html() const;
  void write(const std::filesystem::path& path) const;

 private:
  void figure(const std::string& data, const char* type, const std::string& caption, int width);

  std::string title_, subtitle_, body_;
};

}  // namespace addp
