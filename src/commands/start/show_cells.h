// The demo's sections about a generator: the model 'cells/addp', and 'cells/classifier' on what it
// makes.
#pragma once

#include <string>
#include <vector>

#include "commands/start/demo.h"
#include "generate/generator.h"
#include "generate/trajectory.h"
#include "report/html_page.h"

namespace addp {

class ShowCells {
 public:
  // Makes the pictures that all sections show: the same number of every class.
  // `model` makes the pictures: an ADDP network, or a predictor.
  ShowCells(const DemoOptions& options, const std::string& model);

  void add_sheet(HtmlPage& page) const;
  void add_classes(HtmlPage& page) const;
  void add_trajectory(HtmlPage& page) const;
  void add_inpaintings(HtmlPage& page) const;
  void add_uncropping(HtmlPage& page) const;
  void add_reconstructions(HtmlPage& page) const;
  // The share of the pictures in which a classifier sees the class that was asked for.
  double add_agreement(HtmlPage& page) const;

 private:
  struct Made {
    std::string name;  // of the class; empty for a model without classes
    std::int64_t label = -1;
    std::vector<Image> pictures;
    std::vector<TrajectoryFrame> steps;  // of the first picture
  };

  GenerationPlan plan(std::int64_t label, std::int64_t count) const;
  Made make(std::int64_t label, std::int64_t count) const;
  // `count` pictures, the classes taking turns.
  std::vector<const Made*> some(std::size_t count) const;

  const DemoOptions& options_;
  Generator model_;
  std::vector<Made> made_;
};

}  // namespace addp
