// One picture under the doctor's eyes.
#pragma once

#include <string>
#include <vector>

#include "data/inspect/inspect.h"
#include "data/set/datasets.h"

namespace addp {

struct PictureJob {
  std::size_t entry = kNoEntry;
  std::size_t split = 0;            // of the report
  std::size_t labels = kNoEntry;    // its label map
  int width = 0, height = 0;        // as annotated; 0: unknown
  std::string annotation_file, id;  // where that stands
};

struct PictureFindings {
  bool broken = false;
  ImageInfo info;
  std::vector<DataProblem> problems;     // of the picture
  std::vector<DataProblem> annotations;  // of its annotation
};

PictureFindings examine_picture(const PictureSource& source, const PictureJob& job,
                                const LabelRule* rule, const InspectOptions& options);

const char* format_name(ImageFormat format);

}  // namespace addp
