// One self-contained HTML page: pictures and charts are inside, so it can be mailed or moved.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/file/file_io.h"
#include "image/image.h"
#include "report/chart.h"
#include "report/table.h"

namespace addp {

// How an enlarged picture is shown: with hard pixel edges, or smoothly.
enum class Look { kPixels, kPhoto };

struct LabelledPicture {
  std::string label;
  Image image;
};

class HtmlPage {
 public:
  HtmlPage(std::string title, std::string subtitle);

  void heading(const std::string& text);
  void paragraph(const std::string& text);
  void note(const std::string& text);  // set apart from the rest
  void code(const std::string& text);
  void table(const Table& table);
  // `scale` enlarges, for small pictures.
  void picture(const Image& image, const std::string& caption, int scale = 1,
               Look look = Look::kPixels);
  // One below the other, each beside its label; one figure.
  void rows(const std::vector<LabelledPicture>& rows, const std::string& caption, int scale = 1,
            Look look = Look::kPixels);
  // An animated WebP or a GIF, as encoded.
  void animation(ByteSpan webp, const std::string& caption, int width);
  // Charts in a row stand side by side where there is room.
  void charts(const std::vector<std::string>& svgs);

  std::string to_html() const;
  void write(const std::filesystem::path& path) const;

 private:
  void figure(const std::string& inside, const std::string& caption);

  std::string title_, subtitle_, body_;
};

}  // namespace addp
