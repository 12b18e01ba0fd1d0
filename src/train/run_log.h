// The records of a run: log.jsonl, TensorBoard events, pictures and an HTML page, all below --out.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "train/stage.h"
#include "train/tensorboard.h"

namespace addp {

class RunLog {
 public:
  // Where the run starts or resumes: lines of an earlier try about this step and later ones are cut
  // off, those of evaluations from `first_evaluation` on.
  RunLog(std::filesystem::path folder, std::int64_t first_step, std::int64_t first_evaluation);

  // `kind` is "train" or "eval".
  void metrics(const std::string& kind, std::int64_t step, const Metrics& metrics);
  void pictures(std::int64_t step, const std::vector<Panel>& panels);
  // index.html: curves of everything logged and the newest pictures.
  void write_page(const std::string& title, const std::string& subtitle) const;

 private:
  std::filesystem::path folder_;
  std::unique_ptr<TensorBoardWriter> events_;
  std::vector<Panel> newest_;
};

}  // namespace addp
