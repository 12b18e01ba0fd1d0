#include <gtest/gtest.h>

#include <limits>

#include "report/chart.h"
#include "report/html_page.h"
#include "report/table.h"
#include "support/temporary_folder.h"

namespace addp {
namespace {

TEST(Report, TableAlignsAndEscapes) {
  const Table table{"T", {"name", "value"}, {{"caf\xC3\xA9", "1.5"}, {"<b>", "10"}}};
  EXPECT_EQ(table.to_text(), "T\nname  value\n----  -----\ncaf\xC3\xA9    1.5\n<b>      10\n");
  EXPECT_NE(table.to_html().find("&lt;b&gt;"), std::string::npos);
  EXPECT_NE(table.to_html().find("<td class=\"number\">1.5</td>"), std::string::npos);
}

TEST(Report, NumbersStandRightSentencesThatBeginWithOneDoNot) {
  const std::string html =
      Table{"", {"a"}, {{"3.8 MiB"}, {"13 of 16"}, {"-2"}, {"64 cells"}}}.to_html();
  for (const char* number : {"3.8 MiB", "13 of 16", "-2"}) {
    EXPECT_NE(html.find(std::string("<td class=\"number\">") + number), std::string::npos)
        << number;
  }
  EXPECT_NE(html.find("<td>64 cells"), std::string::npos);
}

TEST(Report, ChartLeavesOutWhatIsNotFinite) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::string svg = chart_svg({.title = "loss"}, {{"a", {{0, 1}, {1, nan}, {2, 3}}}});
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_NE(svg.find("<polyline"), std::string::npos);
  EXPECT_NE(chart_svg({}, {{"a", {{0, nan}}}}).find("no data"), std::string::npos);
}

TEST(Report, ChartOfLargeNumbersThatHardlyDiffer) {
  for (const double y : {1e16, 1e16 + 2, -1e300}) {
    const std::string svg = chart_svg({}, {{"a", {{0, 1e16}, {1, y}}}});
    EXPECT_LT(svg.size(), 10000U) << y;
    EXPECT_EQ(svg.find("nan"), std::string::npos) << svg;
  }
}

TEST(Report, RowsHaveLabels) {
  HtmlPage page("t", "s");
  page.rows({{"a<b", Image(4, 2)}, {"second", Image(4, 2)}}, "two rows", 2, Look::kPhoto);
  const std::string html = page.to_html();
  EXPECT_NE(html.find("<span>a&lt;b</span><img class=\"photo\""), std::string::npos);
  EXPECT_NE(html.find("width=\"8\" alt=\"second\""), std::string::npos);
  EXPECT_EQ(html.find("<figcaption>two rows"), html.rfind("<figcaption>"));
}

TEST(Report, PageHoldsItsPictures) {
  testing::TemporaryFolder folder;
  HtmlPage page("A & B", "s");
  page.picture(Image(4, 2), "four by two", 3);
  page.write(folder.path() / "index.html");
  const std::string html = read_text_file(folder.path() / "index.html");
  EXPECT_NE(html.find("<title>A &amp; B</title>"), std::string::npos);
  EXPECT_NE(html.find("data:image/png;base64,iVBOR"), std::string::npos);
  EXPECT_NE(html.find("width=\"12\""), std::string::npos);
  EXPECT_EQ(html.find("http"), std::string::npos);  // nothing from elsewhere
}

}  // namespace
}  // namespace addp
