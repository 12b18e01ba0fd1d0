#include <fmt/format.h>

#include "base/json_text.h"
#include "base/version.h"
#include "image/codec/codec.h"
#include "report/html_page.h"
#include "reproduce/page/report.h"

namespace addp {
namespace {

void add_panels(const StudyFindings& findings, const Workplace& workplace, HtmlPage& page) {
  for (const StudyPanel& panel : findings.study.panels) {
    for (const auto& file : panel_files(panel, workplace)) {
      if (file.extension() == ".svg") {
        page.paragraph(panel.caption + ":");
        page.charts({read_text_file(file)});
      } else {
        const Image image = load_image(file);
        page.picture(image, panel.caption, image.width < 360 ? 2 : 1);
      }
    }
  }
}

void add_study(const StudyFindings& findings, const Workplace& workplace, HtmlPage& page) {
  const Study& study = findings.study;
  page.heading(study.title);
  page.paragraph(study.about);
  for (const std::string& missing : study.left_out) page.note("Left out: " + missing + ".");
  for (std::size_t t = 0; t < study.tables.size(); ++t) {
    page.table(result_table(study.tables[t], findings.figures[t]));
    if (!study.tables[t].note.empty()) page.paragraph(study.tables[t].note);
  }
  page.charts(charts_of(findings));
  if (!study.claims.empty()) page.table(claim_table(findings));
  add_panels(findings, workplace, page);
}

HtmlPage make_page(const Findings& findings, const Workplace& workplace) {
  HtmlPage page("Does the paper hold?",
                fmt::format("ADDP's tables and figures, made again by addp {}", version()));
  page.paragraph(tally_text(findings));
  page.paragraph(budget_text(findings));
  if (const std::string text = floor_text(findings); !text.empty()) page.paragraph(text);
  if (findings.done < findings.jobs) {
    page.note(fmt::format("{} of {} jobs are done; the same command goes on with the others.",
                          findings.done, findings.jobs));
  }
  for (const auto& [job, said] : findings.failed)
    page.note(fmt::format("{} failed: {}", job, said));
  page.code(findings.command);
  for (const std::string& paragraph : findings.discussion) page.paragraph(paragraph);
  for (const StudyFindings& one : findings.studies) add_study(one, workplace, page);
  page.heading("Runs");
  page.table(run_table(findings));
  return page;
}

nlohmann::json table_json(const StudyTable& table, const FigureTable& figures) {
  nlohmann::json rows = nlohmann::json::array();
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    nlohmann::json cells = nlohmann::json::object();
    for (std::size_t m = 0; m < table.measures.size(); ++m) {
      nlohmann::json cell = {{"jobs", table.rows[r].cells[m].jobs}};
      if (table.rows[r].cells[m].published) cell["published"] = *table.rows[r].cells[m].published;
      if (const auto& figure = figures[r][m]) {
        cell["mean"] = figure->mean;
        cell["deviation"] = figure->deviation;
        cell["seeds"] = figure->seeds;
      }
      cells[table.measures[m].title] = cell;
    }
    rows.push_back({{"label", table.rows[r].label}, {"cells", cells}});
  }
  return {{"title", table.title}, {"rows", rows}};
}

nlohmann::json study_json(const StudyFindings& one) {
  nlohmann::json json = {{"name", one.study.name},
                         {"title", one.study.title},
                         {"left_out", one.study.left_out},
                         {"tables", nlohmann::json::array()},
                         {"claims", nlohmann::json::array()}};
  for (std::size_t t = 0; t < one.study.tables.size(); ++t) {
    json["tables"].push_back(table_json(one.study.tables[t], one.figures[t]));
  }
  for (std::size_t i = 0; i < one.study.claims.size(); ++i) {
    const Judgement& judgement = one.judgements[i];
    json["claims"].push_back({{"claim", one.study.claims[i].text},
                              {"published", one.study.claims[i].published},
                              {"advantage", judgement.advantage},
                              {"margin", judgement.margin},
                              {"verdict", verdict_text(judgement.verdict)},
                              {"reason", judgement.reason}});
  }
  return json;
}

}  // namespace

nlohmann::json to_json(const Findings& findings) {
  nlohmann::json json = {{"command", findings.command},
                         {"program", version()},
                         {"scale", findings.setting.scale.name},
                         {"data", findings.setting.data},
                         {"budget", budget_text(findings)},
                         {"jobs", findings.jobs},
                         {"done", findings.done},
                         {"failed", findings.failed},
                         {"studies", nlohmann::json::array()},
                         {"runs", nlohmann::json::array()}};
  for (const StudyFindings& one : findings.studies) json["studies"].push_back(study_json(one));
  for (const RunFindings& run : findings.runs) {
    json["runs"].push_back(
        {{"job", run.job}, {"steps", run.steps}, {"seconds", run.seconds}, {"eval", run.figures}});
  }
  return json;
}

void write_report(const Findings& findings, const Workplace& workplace) {
  make_page(findings, workplace).write(workplace.out() / "index.html");
  write_file_atomically(workplace.out() / "reproduce.json", json_text(to_json(findings), 2) + "\n");
}

}  // namespace addp
