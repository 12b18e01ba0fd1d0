#include "commands/machine/preset_report.h"

#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "base/run/progress.h"
#include "model/whole/parameter_report.h"
#include "model/whole/preset_configs.h"
#include "report/table.h"

namespace addp {

void run(const PresetReportOptions& options, const RunContext& context) {
  const PresetConfigs configs = preset_configs(options.preset, /*class_ids=*/1000);
  const ParameterReport report =
      parameter_report(configs.addp, configs.tokenizer, configs.predictor);
  if (context.json) {
    nlohmann::json result = {{"kind", "preset"},
                             {"preset", options.preset},
                             {"recognition", report.recognition},
                             {"generation", report.generation}};
    for (const auto& [part, count] : report.parts) result["parts"][part] = count;
    print_stdout(json_text(result, 2) + "\n");
    return;
  }
  Table table{"preset " + options.preset, {"part", "parameters"}, {}};
  const auto add = [&](const std::string& part, std::int64_t count) {
    table.rows.push_back({part, format_count(static_cast<std::uint64_t>(count))});
  };
  for (const auto& [part, count] : report.parts) add(part, count);
  print_stdout(table.to_text());
  const auto millions = [](std::int64_t count) {
    return fmt::format("{:.0f}M", static_cast<double>(count) / 1e6);
  };
  print_stdout(fmt::format("recognition: {}\ngeneration: {}+{}\n", millions(report.recognition),
                           millions(report.recognition), millions(report.generation)));
}

}  // namespace addp
