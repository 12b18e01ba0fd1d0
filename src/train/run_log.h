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
  // `first_step` is where the run starts or resumes: later lines of an earlier try are cut off.
  RunLog(std::filesystem::path folder, std::int64_t first_step);

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
