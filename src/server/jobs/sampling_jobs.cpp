#include "server/jobs/sampling_jobs.h"

#include <fmt/format.h>

#include "generate/recipe.h"
#include "nn/layer/picture_tensor.h"
#include "nn/torch.h"

namespace addp {
namespace {

std::string make_key(const HostedModel& model, const GenerationPlan& plan) {
  std::string key = fmt::format("make {} class={} bf16={} guidance={}", model.name, plan.label >= 0,
                                plan.bf16, plan.sampler.guidance);
  for (const auto& [name, value] : sampler_settings(plan.sampler)) key += " " + name + "=" + value;
  return key;
}

// A row of a batch that somebody wants to watch.
struct Watched {
  std::int64_t row = 0, picture = 0;
  Job* job = nullptr;
};

// Posts what the rows look like after a step. A predictor has no pixels in its loop: they are
// decoded for those who watch.
void post_step(const SamplerStep& step, const std::vector<Watched>& watched,
               const Generator& generator) {
  if (watched.empty()) return;
  std::vector<std::int64_t> rows;
  for (const Watched& one : watched) rows.push_back(one.row);
  const Tensor chosen = torch::tensor(rows, torch::kInt64).to(step.tokens.device());
  const Tensor tokens = step.tokens.index_select(0, chosen);
  const Tensor pixels = step.pixels.defined()
                            ? step.pixels.index_select(0, chosen)
                            : generator.tokenizer().decode_ids(tokens, generator.grid());
  const std::vector<Image> images = to_images(pixels);
  const Tensor codes = tokens.to(torch::kInt32).cpu().contiguous();
  const Tensor reliable =
      step.masked.index_select(0, chosen).logical_not().to(torch::kUInt8).cpu().contiguous();
  const std::int64_t length = codes.size(1);
  for (std::size_t i = 0; i < watched.size(); ++i) {
    const auto offset = static_cast<std::int64_t>(i) * length;
    const auto* code = codes.data_ptr<std::int32_t>() + offset;
    const auto* flag = reliable.data_ptr<std::uint8_t>() + offset;
    watched[i].job->post(StepView{.picture = watched[i].picture,
                                  .step = step.step,
                                  .steps = step.steps,
                                  .tokens = {code, code + length},
                                  .reliable = {flag, flag + length},
                                  .pixels = images[i]});
  }
}

}  // namespace

MakeJob::MakeJob(const HostedModel& model, const GenerationPlan& plan, bool wants_steps)
    : Job(make_key(model, plan), plan.count),
      model_(model),
      plan_(plan),
      wants_steps_(wants_steps) {}

void MakeJob::run(const std::vector<Share>& shares) {
  torch::NoGradGuard guard;
  std::vector<PictureAsk> asks;
  std::vector<Watched> rows, watched;
  for (const Share& share : shares) {
    auto& job = static_cast<MakeJob&>(*share.job);
    for (std::int64_t i = share.first; i < share.first + share.count; ++i) {
      const Watched row{static_cast<std::int64_t>(asks.size()), i, &job};
      rows.push_back(row);
      if (job.wants_steps_) watched.push_back(row);
      asks.push_back(
          {{job.plan_.seed, static_cast<std::uint64_t>(job.plan_.first + i)}, job.plan_.label});
    }
  }
  const SamplerHooks hooks{
      .on_step = [&](const SamplerStep& step) { post_step(step, watched, *model_.generator); },
      .cancelled = [&] { return all_cancelled(shares); }};
  const Samples made = model_.generator->sample(asks, plan_.sampler, plan_.bf16, hooks);
  const std::vector<Image> images = to_images(made.pixels);
  for (const Watched& row : rows) {
    row.job->post(MadePicture{row.picture, images[static_cast<std::size_t>(row.row)]});
  }
}

EditJob::EditJob(const HostedModel& model, EditTask task, const EditOptions& options,
                 bool wants_steps)
    : Job("", options.generation.count),
      model_(model),
      task_(std::move(task)),
      options_(options),
      wants_steps_(wants_steps) {}

void EditJob::run(const std::vector<Share>& shares) {
  torch::NoGradGuard guard;
  const EditPlan plan = plan_edit(task_, *model_.generator);
  post(EditWindow{plan.window, plan.grid});
  std::vector<Watched> watched;
  if (wants_steps_) {
    for (std::int64_t i = 0; i < pictures(); ++i) watched.push_back({i, i, this});
  }
  const SamplerHooks hooks{
      .on_step = [&](const SamplerStep& step) { post_step(step, watched, *model_.generator); },
      .cancelled = [&] { return all_cancelled(shares); }};
  const std::vector<Image> made = fill_in(task_, *model_.generator, options_, hooks);
  for (std::size_t i = 0; i < made.size(); ++i) {
    post(MadePicture{static_cast<std::int64_t>(i), made[i]});
  }
}

}  // namespace addp
