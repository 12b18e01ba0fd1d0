#include <fmt/format.h>

#include "base/file/file_io.h"
#include "base/version.h"
#include "reproduce/page/report.h"

namespace addp {
namespace fs = std::filesystem;
namespace {

// Copies figures to images/ beside the document and gives the Markdown that shows them.
class Figures {
 public:
  explicit Figures(const fs::path& document)
      : folder_(document.parent_path() / "images"), stem_(document.stem().string()) {
    for (char& c : stem_) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    make_folder(folder_);
  }

  std::string add(const std::string& name, const std::string& ending, std::string_view content,
                  const std::string& caption) {
    const std::string file = fmt::format("{}-{}{}", stem_, name, ending);
    write_file_atomically(folder_ / file, content);
    return fmt::format("![{}](images/{})\n\n", escape_markdown(caption), file);
  }

 private:
  fs::path folder_;
  std::string stem_;
};

std::string panels_text(const StudyFindings& findings, const Workplace& workplace,
                        Figures& figures) {
  std::string text;
  for (std::size_t i = 0; i < findings.study.panels.size(); ++i) {
    const StudyPanel& panel = findings.study.panels[i];
    const auto files = panel_files(panel, workplace);
    for (std::size_t f = 0; f < files.size(); ++f) {
      const Bytes content = read_file(files[f]);
      text += figures.add(
          fmt::format("{}-{}-{}", findings.study.name, i + 1, f + 1), files[f].extension().string(),
          {reinterpret_cast<const char*>(content.data()), content.size()}, panel.caption);
    }
    if (!files.empty()) text += escape_markdown(panel.caption) + ".\n\n";
  }
  return text;
}

std::string study_text(const StudyFindings& findings, const Workplace& workplace,
                       Figures& figures) {
  const Study& study = findings.study;
  std::string text =
      fmt::format("## {}\n\n{}\n\n", escape_markdown(study.title), escape_markdown(study.about));
  for (const std::string& missing : study.left_out) {
    text += "Left out: " + escape_markdown(missing) + ".\n\n";
  }
  for (std::size_t t = 0; t < study.tables.size(); ++t) {
    text += to_markdown(result_table(study.tables[t], findings.figures[t])) + "\n";
    if (!study.tables[t].note.empty()) text += escape_markdown(study.tables[t].note) + "\n\n";
  }
  const auto charts = charts_of(findings);
  for (std::size_t i = 0; i < charts.size(); ++i) {
    text += figures.add(fmt::format("{}-chart-{}", study.name, i + 1), ".svg", charts[i],
                        study.charts[i].title);
  }
  if (!study.claims.empty()) text += to_markdown(claim_table(findings)) + "\n";
  return text + panels_text(findings, workplace, figures);
}

}  // namespace

std::string escape_markdown(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (std::string_view("\\`*_{}[]<>#|").find(c) != std::string_view::npos) out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

std::string to_markdown(const Table& table) {
  std::string text = table.title.empty() ? "" : "**" + escape_markdown(table.title) + "**\n\n";
  const auto line = [&](const std::vector<std::string>& cells) {
    text += "|";
    for (const std::string& cell : cells) text += " " + escape_markdown(cell) + " |";
    text += "\n";
  };
  line(table.header);
  text += "|";
  for (std::size_t i = 0; i < table.header.size(); ++i) text += "---|";
  text += "\n";
  for (const auto& row : table.rows) line(row);
  return text;
}

void write_document(const Findings& findings, const Workplace& workplace,
                    const fs::path& document) {
  make_folder_for(document);
  Figures figures(document);
  std::string text = fmt::format(
      "# Does the paper hold?\n\nADDP's tables and figures, made again by `addp reproduce` (addp {}). "
      "{}\n\n{}\n\n",
      version(), tally_text(findings), escape_markdown(budget_text(findings)));
  if (const std::string floor = floor_text(findings); !floor.empty()) text += floor + "\n\n";
  if (findings.done < findings.jobs) {
    text += fmt::format("{} of {} jobs are done; the same command goes on with the others.\n\n",
                        findings.done, findings.jobs);
  }
  for (const auto& [job, said] : findings.failed) {
    text += fmt::format("{} failed: {}\n\n", escape_markdown(job), escape_markdown(said));
  }
  text += fmt::format("    {}\n\n", findings.command);
  if (!findings.discussion.empty()) text += "## What was found\n\n";
  for (const std::string& paragraph : findings.discussion) text += paragraph + "\n\n";
  for (const StudyFindings& one : findings.studies) text += study_text(one, workplace, figures);
  text += "## Runs\n\n" + to_markdown(run_table(findings));
  write_file_atomically(document, text);
}

}  // namespace addp
