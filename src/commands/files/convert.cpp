#include "commands/files/convert.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json_text.h"
#include "base/progress.h"
#include "base/version.h"
#include "checkpoint/layout/convert.h"

namespace addp {

void run(const ConvertOptions& options, const RunContext& context) {
  if (options.paths.size() != 2) {
    throw UsageError(
        "convert takes two paths, the checkpoint to read and the file to write; {} given",
        options.paths.size());
  }
  ConversionOptions how;
  how.version = version();
  if (options.dtype == "float32") how.floating = DType::kF32;
  if (options.dtype == "float16") how.floating = DType::kF16;
  if (options.dtype == "bfloat16") how.floating = DType::kBF16;
  const ConvertReport report = convert_checkpoint(options.paths[0], options.paths[1], how);
  if (context.json) {
    print_stdout(json_text(nlohmann::json{{"kind", report.kind},
                                          {"in", options.paths[0]},
                                          {"out", options.paths[1]},
                                          {"tensors", report.tensors},
                                          {"bytes_in", report.bytes_in},
                                          {"bytes_out", report.bytes_out},
                                          {"dropped", report.dropped},
                                          {"overflowed", report.overflowed}},
                           2) +
                 "\n");
    return;
  }
  print_stdout(fmt::format("{}: {}, {} tensors, {} -> {}\n", options.paths[1], report.kind,
                           report.tensors, format_bytes(report.bytes_in),
                           format_bytes(report.bytes_out)));
  for (const auto& name : report.dropped) print_stdout(fmt::format("left out: {}\n", name));
  if (report.overflowed > 0) {
    print_stdout(fmt::format("{} numbers do not fit into {}\n", report.overflowed, options.dtype));
  }
}

}  // namespace addp
