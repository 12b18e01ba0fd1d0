// What a study of the paper shows and claims, written down before anything is measured: tables in
// the paper's form, curves, claims and pictures, each with the jobs that its figures come from.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace addp {

// A kind of figure: where a job's result holds it, and how it is shown.
struct Measure {
  std::string title;    // "FID"
  std::string pointer;  // "/fid", a JSON pointer into what the job printed
  bool higher = true;   // is better
  double factor = 1;    // the shown figure over the printed one
  int digits = 1;
  std::string group{};  // figures that seeds move alike; empty: those with the same pointer
};

struct Cell {
  std::optional<double> published;
  std::vector<std::string> jobs{};  // one per seed; none: not measured
  bool trained_once = false;        // its network is the same for all seeds: they differ too little
};

struct StudyRow {
  std::string label;
  std::vector<Cell> cells;    // one per measure
  std::optional<double> x{};  // where the row is a point of a curve
};

struct StudyTable {
  std::string title;  // "Table 4: mapping function f"
  std::vector<Measure> measures;
  std::vector<StudyRow> rows;
  std::string note{};
};

// A curve per (measure, rows whose label begins with a name), over the rows' x.
struct Curve {
  std::string name;
  std::size_t table = 0, measure = 0;
  std::string rows;  // the beginning of their labels; empty: all
};
struct Chart {
  std::string title, x_label, y_label;
  std::vector<Curve> curves;
};

// A cell of the study's tables.
struct CellPlace {
  std::size_t table = 0, row = 0, measure = 0;
};

// Holds where `advantage` of the cells' means is above zero by more than chance.
struct Claim {
  std::string text;
  std::string published;  // the paper's figures for it, in words; empty: not in the paper
  std::vector<CellPlace> cells;
  std::function<double(const std::vector<double>&)> advantage;
};

// Pictures that a job left in its folder.
struct StudyPanel {
  std::string job;
  std::string ending;  // of the files: "-steps.png"
  std::string caption;
};

struct Study {
  std::string name{};   // as --only takes it
  std::string title{};  // for people
  std::string about{};  // what is compared, and how
  std::vector<StudyTable> tables{};
  std::vector<Chart> charts{};
  std::vector<Claim> claims{};
  std::vector<StudyPanel> panels{};
  std::vector<std::string> left_out{};  // what of it is not measured, and why
};

}  // namespace addp
