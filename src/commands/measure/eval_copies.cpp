#include "commands/measure/eval_copies.h"

#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "data/load/middle_crop.h"
#include "data/load/open_dataset.h"
#include "eval/generation/copies.h"
#include "eval/recognition/picture_tensors.h"
#include "heads/backbone/feature_encoder.h"
#include "image/codec/codec.h"
#include "image/draw/draw.h"
#include "machine/machine.h"
#include "nn/layer/picture_tensor.h"
#include "nn/torch.h"
#include "report/html_page.h"
#include "tokenizer/vqgan_file.h"

namespace addp {
namespace {

constexpr std::int64_t kDefaultSide = 64, kShownPairs = 12;

// The pictures of a set as points.
struct Points {
  std::shared_ptr<const Dataset> dataset;
  std::vector<std::int64_t> places;  // of the rows, in the data set
  Tensor thumbnails;                 // [N, ..]
  Tensor features;                   // [N, D]; undefined without a network
};

Tensor decoded_again(const Vqgan& tokenizer, const Tensor& pixels) {
  torch::NoGradGuard guard;
  return tokenizer.decode_ids(tokenizer.encode(pixels), tokenizer.grid_of(pixels)).clamp(0, 1);
}

class PointMaker {
 public:
  explicit PointMaker(const EvalCopiesOptions& options) : options_(options), side_(options.size) {
    if (!options.model.empty()) {
      encoder_ = open_feature_encoder(options.model, options.tokenizer);
      if (side_ == 0) side_ = encoder_->size;
    }
    if (side_ == 0) side_ = kDefaultSide;
  }

  // `through` is null where pictures are taken as they are.
  Points of(std::shared_ptr<const Dataset> dataset, const std::string& label,
            const Vqgan* through = nullptr) const {
    Points points;
    std::vector<Tensor> thumbnails, features;
    for_each_batch(dataset, pass(label), [&](const PictureBatch& batch) {
      const Tensor pixels = through ? decoded_again(*through, batch.pixels) : batch.pixels;
      thumbnails.push_back(thumbnail_rows(pixels).cpu());
      if (encoder_) features.push_back(direction_rows(encoder_->of(pixels)).cpu());
      points.places.insert(points.places.end(), batch.indices.begin(), batch.indices.end());
    });
    points.dataset = std::move(dataset);
    points.thumbnails = torch::cat(thumbnails);
    if (encoder_) points.features = torch::cat(features);
    return points;
  }

  Image picture(const Points& points, std::int64_t row) const {
    const std::int64_t place = points.places.at(static_cast<std::size_t>(row));
    return middle_square(points.dataset->get(place).picture(), side_);
  }

 private:
  TensorPass pass(const std::string& label) const {
    return {.pictures = {.batch = options_.machine.batch,
                         .threads = options_.machine.workers,
                         .label = label},
            .size = side_};
  }

  const EvalCopiesOptions& options_;
  std::int64_t side_;
  std::optional<FeatureEncoder> encoder_;
};

struct Comparison {
  std::string name;
  CopyFigures figures;
  Nearest nearest;  // of the generated pictures
};

Comparison compare(const std::string& name, const Tensor& train, const Tensor& held_out,
                   const Tensor& generated) {
  Nearest nearest = nearest_rows(train, generated);
  const CopyFigures figures =
      compare_distances(nearest.distance, nearest_rows(train, held_out).distance);
  return {name, figures, std::move(nearest)};
}

Table figures_table(const std::vector<Comparison>& comparisons) {
  Table table{.title = "Distance to the nearest training picture",
              .header = {"compared as", "generated", "held out", "nearer than 5% of held-out"},
              .rows = {}};
  for (const Comparison& one : comparisons) {
    const auto median = [](double value, double error) {
      return fmt::format("{:.4f} ± {:.4f}", value, error);
    };
    table.rows.push_back({one.name, median(one.figures.generated, one.figures.generated_error),
                          median(one.figures.held_out, one.figures.held_out_error),
                          fmt::format("{:.1f}%", 100 * one.figures.near)});
  }
  return table;
}

// The generated pictures that come nearest, above their training pictures.
Image nearest_pairs(const PointMaker& maker, const Comparison& comparison, const Points& train,
                    const Points& generated) {
  const Tensor order = comparison.nearest.distance.argsort();
  const std::int64_t count = std::min(kShownPairs, order.size(0));
  std::vector<Image> above, below;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto row = order[i].item<std::int64_t>();
    above.push_back(maker.picture(generated, row));
    below.push_back(maker.picture(train, comparison.nearest.index[row].item<std::int64_t>()));
  }
  above.insert(above.end(), below.begin(), below.end());
  return make_grid(above, static_cast<int>(count));
}

}  // namespace

void run(const EvalCopiesOptions& options, const RunContext& context) {
  use_machine(options.machine.compute);
  const PointMaker maker(options);
  const auto open = [](const std::string& data, const std::string& split) {
    return open_dataset(data, split, Task::kPictures);
  };
  const Points generated = maker.of(open(options.generated, "all"), "generated");
  const auto through = options.through.empty() ? nullptr : load_tokenizer(options.through);
  const Points held_out =
      maker.of(options.held_out.empty() ? open_evaluation_set(options.data, "", Task::kPictures)
                                        : open(options.held_out, "all"),
               "held out", through.get());
  const Points train = maker.of(open(options.data, "train"), "training set");
  std::vector<Comparison> comparisons{
      compare("pixels", train.thumbnails, held_out.thumbnails, generated.thumbnails)};
  if (train.features.defined()) {
    comparisons.push_back(
        compare("features", train.features, held_out.features, generated.features));
  }
  const Table table = figures_table(comparisons);
  if (!options.out.empty()) {
    context.write_configuration(options.out);
    HtmlPage page("Copies", fmt::format("{} beside {}", options.generated, options.data));
    page.table(table);
    for (const Comparison& one : comparisons) {
      const Image pairs = nearest_pairs(maker, one, train, generated);
      save_image(options.out / (one.name + ".png"), pairs);
      page.picture(
          pairs,
          fmt::format("The generated pictures that come nearest to a training picture by {}, "
                      "each above it.",
                      one.name));
    }
    page.write(options.out / "index.html");
  }
  nlohmann::json result = {{"pictures", generated.thumbnails.size(0)}};
  for (const Comparison& one : comparisons) {
    result[one.name] = {{"generated", one.figures.generated},
                        {"generated_error", one.figures.generated_error},
                        {"held_out", one.figures.held_out},
                        {"held_out_error", one.figures.held_out_error},
                        {"near", one.figures.near}};
  }
  print_stdout(context.json ? json_text(result, 2) + "\n" : table.to_text());
}

}  // namespace addp
