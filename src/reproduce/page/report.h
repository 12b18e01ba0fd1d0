// The findings for readers: one HTML page, one JSON file, and a Markdown document with its figures
// as files.
#pragma once

#include <filesystem>
#include <string>

#include "report/table.h"
#include "reproduce/page/findings.h"

namespace addp {

// OUT/index.html and OUT/reproduce.json.
void write_report(const Findings& findings, const Workplace& workplace);
// `document` and, beside it, images/NAME-*.
void write_document(const Findings& findings, const Workplace& workplace,
                    const std::filesystem::path& document);

nlohmann::json to_json(const Findings& findings);

// What the page and the document have in common.
Table result_table(const StudyTable& table, const FigureTable& figures);
Table claim_table(const StudyFindings& findings);
Table run_table(const Findings& findings);
std::vector<std::string> charts_of(const StudyFindings& findings);
// Markdown takes these characters for itself.
std::string escape_markdown(const std::string& text);
std::string to_markdown(const Table& table);

}  // namespace addp
