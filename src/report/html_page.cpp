#include "report/html_page.h"

#include <fmt/format.h>

#include "base/base64.h"
#include "image/codec/codec.h"

namespace addp {
namespace {

constexpr const char* kStyle = R"css(
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
h1 { margin-bottom: 0; } .subtitle { opacity: .7; margin-top: .2rem; }
h2 { margin-top: 2.2rem; border-bottom: 1px solid #8884; }
figure { display: inline-block; margin: .5rem 1rem .5rem 0; vertical-align: top; max-width: 100%; }
figcaption { font-size: .85rem; opacity: .8; max-width: 40rem; }
img { image-rendering: pixelated; max-width: 100%; border-radius: 4px; }
table { border-collapse: collapse; margin: 1rem 0; font-size: .95rem; }
caption { text-align: left; font-weight: 600; padding-bottom: .3rem; }
th, td { padding: .25rem .8rem .25rem 0; border-bottom: 1px solid #8883; text-align: left; }
td.number { text-align: right; font-variant-numeric: tabular-nums; }
pre { background: #8881; padding: .6rem .8rem; border-radius: 4px; overflow-x: auto; }
svg.chart { max-width: 100%; height: auto; margin-right: 1rem; }
)css";

}  // namespace

HtmlPage::HtmlPage(std::string title, std::string subtitle)
    : title_(std::move(title)), subtitle_(std::move(subtitle)) {}

void HtmlPage::heading(const std::string& text) {
  body_ += fmt::format("<h2>{}</h2>\n", escape_html(text));
}

void HtmlPage::paragraph(const std::string& text) {
  body_ += fmt::format("<p>{}</p>\n", escape_html(text));
}

void HtmlPage::code(const std::string& text) {
  body_ += fmt::format("<pre>{}</pre>\n", escape_html(text));
}

void HtmlPage::table(const Table& table) { body_ += table.to_html(); }

void HtmlPage::figure(const std::string& data, const char* type, const std::string& caption,
                      int width) {
  body_ += fmt::format(
      "<figure><img "
      "src=\"data:image/{};base64,{}\" width=\"{}\" alt=\"{}\"><figcaption>{}</figcaption></figure>\n",
      type, data, width, escape_html(caption), escape_html(caption));
}

void HtmlPage::picture(const Image& image, const std::string& caption, int scale) {
  figure(base64(encode_png(image)), "png", caption, image.width * scale);
}

void HtmlPage::animation(ByteSpan webp, const std::string& caption, int width) {
  figure(base64(webp), "webp", caption, width);
}

void HtmlPage::charts(const std::vector<std::string>& svgs) {
  body_ += "<div>";
  for (const auto& svg : svgs) body_ += svg;
  body_ += "</div>\n";
}

std::string HtmlPage::to_html() const {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
      "<title>{0}</title><style>{1}</style></head>\n<body><h1>{0}</h1><p "
      "class=\"subtitle\">{2}</p>\n"
      "{3}</body></html>\n",
      escape_html(title_), kStyle, escape_html(subtitle_), body_);
}

void HtmlPage::write(const std::filesystem::path& path) const {
  write_file_atomically(path, to_html());
}

}  // namespace addp
