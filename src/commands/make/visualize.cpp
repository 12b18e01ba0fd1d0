#include "commands/make/visualize.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>

#include "base/error.h"
#include "base/file/file_io.h"
#include "base/json_text.h"
#include "data/load/open_dataset.h"
#include "diffusion/addp_file.h"
#include "diffusion/algorithm1.h"
#include "eval/generation/picture_set.h"
#include "machine/machine.h"
#include "nn/layer/picture_tensor.h"
#include "nn/torch.h"
#include "report/html_page.h"
#include "tokenizer/codebook_use.h"

namespace addp {
namespace {

constexpr std::int64_t kCountedPictures = 512;  // for the use of the codebook

struct Networks {
  std::shared_ptr<Vqgan> tokenizer;
  std::shared_ptr<Mage> predictor;
};

Networks open_networks(const VisualizeOptions& options) {
  Networks networks;
  if (!options.predictor.empty()) networks.predictor = load_predictor(options.predictor);
  const auto& path = options.tokenizer.empty() ? options.predictor : options.tokenizer;
  if (!path.empty()) networks.tokenizer = load_tokenizer(path);
  if (networks.tokenizer && options.data.empty()) {
    throw UsageError("a tokenizer or predictor needs pictures: give --data");
  }
  return networks;
}

// Mask ratios and their probability: the paper's last figure, as a bar for each ratio; and the same
// by timestep, t = 2T/pi acos(ratio).
void add_distributions(const VisualizeOptions& options, HtmlPage& page) {
  const MaskSchedule schedule(options.mask);
  Series by_ratio{"probability", {}}, by_step{"probability", {}};
  for (std::size_t i = 0; i < schedule.ratios().size(); ++i) {
    const double ratio = schedule.ratios()[i], probability = schedule.probabilities()[i];
    by_ratio.points.emplace_back(ratio, probability);
    by_step.points.emplace_back(std::round(static_cast<double>(options.mask.steps) *
                                           std::acos(ratio) * 2 / std::numbers::pi),
                                probability);
  }
  std::sort(by_step.points.begin(), by_step.points.end());
  const std::vector<std::string> charts = {chart_svg({.title = "Mask ratio while training",
                                                      .x_label = "ratio",
                                                      .y_label = "probability",
                                                      .bars = true},
                                                     {by_ratio}),
                                           chart_svg({.title = "Timestep while training",
                                                      .x_label = "steps done (T - t)",
                                                      .y_label = "probability",
                                                      .bars = true},
                                                     {by_step})};
  page.heading("Distributions of training");
  page.charts(charts);
  write_file_atomically(options.out / "mask-ratios.svg", charts[0]);
  write_file_atomically(options.out / "timesteps.svg", charts[1]);
}

std::vector<Image> load_pictures(const VisualizeOptions& options, std::int64_t size,
                                 std::int64_t count) {
  PictureSetOptions set;
  set.data = options.data;
  set.split = held_out_split(options.data);
  set.count = count;
  set.size = size;
  std::vector<Image> pictures;
  for_each_picture(set, 32, "pictures", [&](std::span<const Image> images) {
    pictures.insert(pictures.end(), images.begin(), images.end());
  });
  if (pictures.empty()) throw DataError("{}: there are no pictures in there", options.data);
  return pictures;
}

void add_tokens(const VisualizeOptions& options, const Vqgan& tokenizer,
                const std::vector<Image>& pictures, HtmlPage& page) {
  Tensor counts = torch::zeros({tokenizer.config().codes}, torch::kInt64);
  for (const auto& part : to_tensor(pictures).split(32)) {
    counts += torch::bincount(tokenizer.encode(part.to(compute_device())).flatten().cpu(), {},
                              counts.size(0));
  }
  const Tensor shown =
      to_tensor(std::vector<Image>(pictures.begin(), pictures.begin() + options.count))
          .to(compute_device());
  const Image sheet = picture_rows(
      {shown, tokenizer.decode_ids(tokenizer.encode(shown), tokenizer.grid_of(shown))});
  save_image(options.out / "reconstructions.png", sheet);
  page.heading("Reconstructions");
  page.picture(sheet, "Above: pictures. Below: what their tokens keep.", sheet.width < 700 ? 2 : 1);
  const CodebookUse use = codebook_use(counts);
  Series series{"share", {}};
  const Tensor sorted = std::get<0>(counts.sort(0, true)).to(torch::kFloat64) / counts.sum();
  for (std::int64_t i = 0; i < sorted.size(0); ++i) {
    series.points.emplace_back(static_cast<double>(i), sorted[i].item<double>());
  }
  page.heading("Codebook");
  page.paragraph(fmt::format("{} of {} codes are used by {} pictures; perplexity {:.1f}.", use.used,
                             use.codes, pictures.size(), use.perplexity));
  page.charts({chart_svg({.title = "Use of the codes",
                          .x_label = "codes, most used first",
                          .y_label = "share of tokens"},
                         {series})});
}

// One row a mask ratio: x_t where the unreliable tokens come from the predictor through `mapping`.
Image noisy_sheet(const Networks& networks, const Tensor& pixels, Mapping mapping,
                  std::uint64_t seed) {
  const Grid grid = networks.tokenizer->grid_of(pixels);
  const Tensor z0 = networks.tokenizer->encode(pixels);
  DiffusionOptions options;
  options.mapping = mapping;
  std::vector<Tensor> rows{pixels};
  for (const double ratio : {0.5, 0.65, 0.8, 0.95}) {
    rows.push_back(noisy_pictures({networks.tokenizer.get(), networks.predictor.get()}, z0, grid,
                                  ratio, options, RandomStream(seed, "visualize")));
  }
  return picture_rows(rows);
}

void add_noisy(const VisualizeOptions& options, const Networks& networks,
               const std::vector<Image>& pictures, HtmlPage& page) {
  const Tensor pixels =
      to_tensor(std::vector<Image>(pictures.begin(), pictures.begin() + options.count))
          .to(compute_device());
  page.heading("Synthetic training pictures");
  for (const auto& [name, mapping] : mapping_names()) {
    const Image sheet =
        noisy_sheet(networks, pixels, mapping, static_cast<std::uint64_t>(options.seed));
    save_image(options.out / fmt::format("noisy-{}.png", name), sheet);
    page.picture(sheet,
                 fmt::format("{}: pictures, and x_t at mask ratios 0.5, 0.65, 0.8 and 0.95.", name),
                 sheet.width < 700 ? 2 : 1);
  }
}

}  // namespace

void run(const VisualizeOptions& given, const RunContext& context) {
  use_machine(given.compute);
  VisualizeOptions options = given;
  torch::NoGradGuard guard;
  const Networks networks = open_networks(options);
  context.write_configuration(options.out);
  HtmlPage page("addp visualize", options.data.empty() ? "distributions" : options.data);
  if (networks.tokenizer) {
    std::int64_t size = options.size;
    if (size == 0) {
      size = networks.predictor
                 ? networks.predictor->config().grid.width * networks.tokenizer->factor()
                 : 256;
    }
    const auto pictures = load_pictures(options, size, std::max(kCountedPictures, options.count));
    options.count = std::min(options.count, static_cast<std::int64_t>(pictures.size()));
    if (networks.predictor) add_noisy(options, networks, pictures, page);
    add_tokens(options, *networks.tokenizer, pictures, page);
  }
  add_distributions(options, page);
  page.write(options.out / "index.html");
  const auto path = std::filesystem::absolute(options.out / "index.html").string();
  print_stdout(context.json ? json_text(nlohmann::json{{"page", path}}) + "\n"
                            : fmt::format("page: {}\n", path));
}

}  // namespace addp
