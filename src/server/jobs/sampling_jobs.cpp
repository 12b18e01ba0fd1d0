#include "server/jobs/sampling_jobs.h"

#include <fmt/format.h>

#include "generate/recipe.h"
#include "nn/layer/picture_tensor.h"
#include "nn/torch.h"

namespace addp {
namespace {

std::string make_key(const HostedModel& model, const GenerationPlan& plan) {
  const Grid grid = plan.grid.value_or(model.generator->grid());
  std::string key = fmt::format("make {} class={} guidance={} grid={}x{}", model.name,
                                plan.label >= 0, plan.sampler.guidance, grid.width, grid.height);
  for (const auto& [name, value] : sampler_settings(plan.sampler)) key += " " + name + "=" + value;
  return key;
}

// The picture that a row of a batch becomes.
struct Row {
  std::int64_t picture = 0;  // of the job
  Job* job = nullptr;
  bool watched = false;  // somebody wants to see the steps
};

// The rows that somebody still waits for; the others are taken out.
std::vector<std::int64_t> keep_wanted(std::vector<Row>& rows) {
  std::vector<std::int64_t> kept;
  std::vector<Row> wanted;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].job->cancelled()) continue;
    kept.push_back(static_cast<std::int64_t>(i));
    wanted.push_back(rows[i]);
  }
  rows = std::move(wanted);
  return kept;
}

// Posts what the watched rows look like after a step. Where the sampler has not decoded them, they
// are decoded for those who watch.
void post_step(const SamplerStep& step, const std::vector<Row>& rows, const Generator& generator) {
  std::vector<std::int64_t> places;
  std::vector<Row> watched;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!rows[i].watched) continue;
    places.push_back(static_cast<std::int64_t>(i));
    watched.push_back(rows[i]);
  }
  if (watched.empty()) return;
  const Tensor chosen = torch::tensor(places, torch::kInt64).to(step.tokens.device());
  const Tensor tokens = step.tokens.index_select(0, chosen);
  const std::vector<Image> images = to_images(pixels_of(step, generator.tokenizer(), chosen));
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
  std::vector<Row> rows;
  for (const Share& share : shares) {
    auto& job = static_cast<MakeJob&>(*share.job);
    for (std::int64_t i = share.first; i < share.first + share.count; ++i) {
      rows.push_back({i, &job, job.wants_steps_});
      asks.push_back(
          {{job.plan_.seed, static_cast<std::uint64_t>(job.plan_.first + i)}, job.plan_.label});
    }
  }
  const SamplerHooks hooks{
      .on_step = [&](const SamplerStep& step) { post_step(step, rows, *model_.generator); },
      .wanted = [&] { return keep_wanted(rows); }};
  const std::vector<Image> images =
      to_images(model_.generator->sample_asked(asks, plan_, hooks).pixels);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].job->post(MadePicture{rows[i].picture, images[i]});
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
  post(EditWindow{plan.window, plan.grid, steps_of(plan, options_)});
  std::vector<Row> rows;
  for (std::int64_t i = 0; i < pictures(); ++i) rows.push_back({i, this, wants_steps_});
  const SamplerHooks hooks{
      .on_step = [&](const SamplerStep& step) { post_step(step, rows, *model_.generator); },
      .cancelled = [&] { return all_cancelled(shares); }};
  const std::vector<Image> made = fill_in(task_, *model_.generator, options_, hooks);
  for (std::size_t i = 0; i < made.size(); ++i) {
    post(MadePicture{static_cast<std::int64_t>(i), made[i]});
  }
}

}  // namespace addp
