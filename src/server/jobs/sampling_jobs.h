// Jobs that make and edit pictures.
#pragma once

#include "generate/edit.h"
#include "server/jobs/job.h"
#include "server/jobs/shelf.h"

namespace addp {

// Pictures of one seed and class. Those of all jobs with the same model and settings share batches;
// seed and class may differ from picture to picture.
class MakeJob : public Job {
 public:
  MakeJob(const HostedModel& model, const GenerationPlan& plan, bool wants_steps);

  void run(const std::vector<Share>& shares) override;
  const HostedModel& model() const { return model_; }

 private:
  const HostedModel& model_;
  GenerationPlan plan_;
  bool wants_steps_;
};

// Variants of an edited picture. How far each has to go depends on its mask, so it runs alone.
class EditJob : public Job {
 public:
  EditJob(const HostedModel& model, EditTask task, const EditOptions& options, bool wants_steps);

  void run(const std::vector<Share>& shares) override;
  const HostedModel& model() const { return model_; }

 private:
  const HostedModel& model_;
  EditTask task_;
  EditOptions options_;
  bool wants_steps_;
};

}  // namespace addp
