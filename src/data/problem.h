// What is wrong with a data set, for people.
#pragma once

#include <string>
#include <vector>

namespace addp {

// One thing that is wrong, with where to find it: the file, the record's id, and a sentence.
struct DataProblem {
  std::string kind;  // short and fixed, to count by: "box outside", "unknown class", ...
  std::string file;
  std::string id;  // "annotation 17", "image 3", "a.png"; may be empty
  std::string text;
};

// The first few as warnings, and how many more there are.
void warn_about(const std::vector<DataProblem>& problems);

}  // namespace addp
