#include "report/html_page.h"

#include <fmt/format.h>

#include "base/file/base64.h"
#include "image/codec/codec.h"

namespace addp {
namespace {

constexpr const char* kStyle = R"css(
:root { color-scheme: light dark; --ink: #1b1f24; --dim: #59636e; --line: #d8dee4; --page: #f6f7f9;
  --card: #ffffff; --accent: #2558c9; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e9ed; --dim: #9aa5b1; --line: #2d343c; --page: #0f1216; --card: #171b21;
    --accent: #82aaff; } }
* { box-sizing: border-box; }
body { font: 1rem/1.6 system-ui, sans-serif; color: var(--ink); background: var(--page);
  max-width: 68rem; margin: 0 auto; padding: 2.5rem 1.25rem 4rem; }
h1 { margin: 0; font-size: clamp(1.7rem, 5vw, 2.5rem); line-height: 1.2; }
.subtitle { color: var(--dim); margin: .4rem 0 1.5rem; font-size: 1.05rem; }
h2 { margin: 3rem 0 .6rem; font-size: 1.4rem; line-height: 1.3; }
p { max-width: 46rem; margin: .6rem 0; }
p.note { border-left: 3px solid var(--accent); padding: .2rem 0 .2rem .8rem; color: var(--dim); }
figure { display: inline-block; vertical-align: top; max-width: 100%; margin: .8rem 1rem .8rem 0;
  padding: .8rem; background: var(--card); border: 1px solid var(--line); border-radius: .7rem; }
figcaption { font-size: .9rem; color: var(--dim); max-width: 44rem; margin-top: .5rem; }
img { display: block; max-width: 100%; height: auto; border-radius: .3rem;
  image-rendering: pixelated; }
img.photo { image-rendering: auto; }
.rows { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: .3rem .9rem;
  align-items: center; }
.rows span { font-size: .9rem; text-align: right; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; margin: 1rem 0; font-size: .95rem; }
caption { text-align: left; font-weight: 600; padding-bottom: .3rem; }
th, td { padding: .35rem 1.2rem .35rem 0; border-bottom: 1px solid var(--line); text-align: left; }
th { color: var(--dim); font-weight: 600; font-size: .85rem; }
td.number { text-align: right; font-variant-numeric: tabular-nums; }
pre { background: var(--card); border: 1px solid var(--line); padding: .8rem 1rem;
  border-radius: .7rem; overflow-x: auto; font-size: .9rem; }
svg.chart { max-width: 100%; height: auto; margin-right: 1rem; }
@media (max-width: 34rem) {
  body { padding: 1.25rem .9rem 3rem; }
  figure { margin-right: 0; padding: .5rem; }
  .rows { grid-template-columns: minmax(0, 1fr); }
  .rows span { text-align: left; margin-top: .4rem; } }
)css";

std::string image_tag(ByteSpan bytes, const char* type, const std::string& text, int width,
                      Look look) {
  return fmt::format("<img{} src=\"data:image/{};base64,{}\" width=\"{}\" alt=\"{}\">",
                     look == Look::kPhoto ? " class=\"photo\"" : "", type, base64(bytes), width,
                     escape_html(text));
}

}  // namespace

HtmlPage::HtmlPage(std::string title, std::string subtitle)
    : title_(std::move(title)), subtitle_(std::move(subtitle)) {}

void HtmlPage::heading(const std::string& text) {
  body_ += fmt::format("<h2>{}</h2>\n", escape_html(text));
}

void HtmlPage::paragraph(const std::string& text) {
  body_ += fmt::format("<p>{}</p>\n", escape_html(text));
}

void HtmlPage::note(const std::string& text) {
  body_ += fmt::format("<p class=\"note\">{}</p>\n", escape_html(text));
}

void HtmlPage::code(const std::string& text) {
  body_ += fmt::format("<pre>{}</pre>\n", escape_html(text));
}

void HtmlPage::table(const Table& table) {
  body_ += fmt::format("<div class=\"scroll\">{}</div>\n", table.to_html());
}

void HtmlPage::figure(const std::string& inside, const std::string& caption) {
  body_ +=
      fmt::format("<figure>{}<figcaption>{}</figcaption></figure>\n", inside, escape_html(caption));
}

void HtmlPage::picture(const Image& image, const std::string& caption, int scale, Look look) {
  figure(image_tag(encode_png(image), "png", caption, image.width * scale, look), caption);
}

void HtmlPage::rows(const std::vector<LabelledPicture>& rows, const std::string& caption, int scale,
                    Look look) {
  std::string inside;
  for (const LabelledPicture& row : rows) {
    inside += fmt::format(
        "<span>{}</span>{}", escape_html(row.label),
        image_tag(encode_png(row.image), "png", row.label, row.image.width * scale, look));
  }
  figure(fmt::format("<div class=\"rows\">{}</div>", inside), caption);
}

void HtmlPage::animation(ByteSpan webp, const std::string& caption, int width) {
  figure(image_tag(webp, "webp", caption, width, Look::kPixels), caption);
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
