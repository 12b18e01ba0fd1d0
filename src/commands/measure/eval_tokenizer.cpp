#include "commands/measure/eval_tokenizer.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file/file_io.h"
#include "base/json_text.h"
#include "base/log.h"
#include "data/load/open_dataset.h"
#include "eval/generation/tokenizer_report.h"
#include "image/draw/draw.h"
#include "machine/machine.h"
#include "nn/torch.h"
#include "report/html_page.h"
#include "tokenizer/codebook_use.h"
#include "tokenizer/vqgan_file.h"
#include "weights/find_weights.h"
#include "weights/metric_weights.h"

namespace addp {
namespace {

PictureSetOptions pictures_of(const EvalTokenizerOptions& options) {
  PictureSetOptions set;
  set.data = options.data;
  set.count = options.count;
  set.size = options.size;
  set.split = options.split.empty() ? held_out_split(options.data) : options.split;
  return set;
}

Table figures_table(const TokenizerFigures& figures) {
  const CodebookUse use = codebook_use(figures.counts);
  Table table{"", {"figure", "value"}, {}};
  table.rows.push_back({"pictures", fmt::format("{}", figures.pictures)});
  if (figures.rfid) table.rows.push_back({"rFID", fmt::format("{:.2f}", figures.rfid->fid)});
  table.rows.push_back({"PSNR (dB)", fmt::format("{:.2f}", figures.psnr)});
  table.rows.push_back({"SSIM", fmt::format("{:.4f}", figures.ssim)});
  if (figures.lpips) table.rows.push_back({"LPIPS", fmt::format("{:.4f}", *figures.lpips)});
  table.rows.push_back({"codes used", fmt::format("{} of {}", use.used, use.codes)});
  table.rows.push_back({"perplexity", fmt::format("{:.1f}", use.perplexity)});
  return table;
}

nlohmann::json to_json(const TokenizerFigures& figures) {
  const CodebookUse use = codebook_use(figures.counts);
  nlohmann::json json = {{"pictures", figures.pictures}, {"psnr", figures.psnr},
                         {"ssim", figures.ssim},         {"codes", use.codes},
                         {"codes_used", use.used},       {"perplexity", use.perplexity}};
  if (figures.lpips) json["lpips"] = *figures.lpips;
  if (figures.rfid) {
    json["rfid"] = figures.rfid->fid;
    json["protocol"] = figures.rfid->protocol;
  }
  return json;
}

void write_page(const EvalTokenizerOptions& options, const TokenizerFigures& figures,
                const Reconstructions& shown) {
  std::vector<Image> sheet = shown.originals;
  sheet.insert(sheet.end(), shown.rebuilt.begin(), shown.rebuilt.end());
  const Image picture = make_grid(sheet, static_cast<int>(shown.originals.size()));
  save_image(options.out / "reconstructions.png", picture);
  HtmlPage page("Tokenizer", fmt::format("{} on {}", options.model, options.data));
  page.table(figures_table(figures));
  page.picture(picture, "Above: held-out pictures. Below: what the tokens keep of them.",
               picture.width < 600 ? 2 : 1);
  page.write(options.out / "index.html");
}

}  // namespace

void run(const EvalTokenizerOptions& options, const RunContext& context) {
  use_machine(options.compute);
  const auto tokenizer = load_tokenizer(options.model);
  std::optional<Lpips> lpips;
  std::optional<InceptionNetwork> inception;
  if (const auto path = find_weights("lpips", options.lpips)) {
    lpips.emplace(Lpips::open(*path));
  } else {
    warn("LPIPS is left out: 'addp weights' brings its network");
  }
  if (options.fid) {
    inception.emplace(InceptionNetwork::open(need_weights("inception", options.weights)));
  }
  Reconstructions shown;
  const TokenizerFigures figures =
      evaluate_tokenizer(*tokenizer, pictures_of(options),
                         {.lpips = lpips ? &*lpips : nullptr,
                          .inception = inception ? &*inception : nullptr,
                          .batch = options.batch,
                          .stored = stored_as(options.as)},
                         &shown);
  if (!options.out.empty()) {
    context.write_configuration(options.out);
    write_page(options, figures, shown);
  }
  if (context.json) {
    print_stdout(json_text(to_json(figures), 2) + "\n");
    return;
  }
  print_stdout(figures_table(figures).to_text());
  if (figures.rfid) {
    for (const auto& line : figures.rfid->protocol) print_stdout("  " + line + "\n");
  }
}

}  // namespace addp
