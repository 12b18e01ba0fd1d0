#include "commands/files/convert.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json_text.h"
#include "base/run/progress.h"
#include "base/version.h"
#include "checkpoint/layout/convert.h"
#include "checkpoint/layout/export_encoder.h"
#include "checkpoint/named/find_model.h"

namespace addp {
namespace {

ConvertReport convert(const ConvertOptions& options) {
  ConversionOptions how;
  how.version = version();
  how.share_tokenizer = options.share_tokenizer;
  if (options.dtype == "float32") how.floating = DType::kF32;
  if (options.dtype == "float16") how.floating = DType::kF16;
  if (options.dtype == "bfloat16") how.floating = DType::kBF16;
  if (options.target == "addp") {
    return convert_checkpoint(find_model(options.paths[0]), options.paths[1], how);
  }
  return export_encoder(find_model(options.paths[0], {"addp", "classifier"}), options.paths[1],
                        options.target == "timm" ? EncoderFormat::kTimm : EncoderFormat::kMae,
                        how.floating);
}

}  // namespace

void run(const ConvertOptions& options, const RunContext& context) {
  if (options.paths.size() != 2) {
    throw UsageError(
        "convert takes two paths, the checkpoint to read and the file to write; {} given",
        options.paths.size());
  }
  const ConvertReport report = convert(options);
  if (context.json) {
    print_stdout(json_text(nlohmann::json{{"kind", report.kind},
                                          {"in", options.paths[0]},
                                          {"out", options.paths[1]},
                                          {"tensors", report.tensors},
                                          {"bytes_in", report.bytes_in},
                                          {"bytes_out", report.bytes_out},
                                          {"dropped", report.dropped},
                                          {"overflowed", report.overflowed},
                                          {"call", report.call}},
                           2) +
                 "\n");
    return;
  }
  print_stdout(fmt::format("{}: {}, {} tensors, {} -> {}\n", options.paths[1], report.kind,
                           report.tensors, format_bytes(report.bytes_in),
                           format_bytes(report.bytes_out)));
  if (!report.call.empty()) print_stdout(report.call + "\n");
  for (const auto& name : report.dropped) print_stdout(fmt::format("left out: {}\n", name));
  if (report.overflowed > 0) {
    print_stdout(fmt::format("{} numbers do not fit into {}\n", report.overflowed, options.dtype));
  }
}

}  // namespace addp
