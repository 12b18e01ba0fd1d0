#include "commands/files/weights.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "weights/metric_weights.h"

namespace addp {

void run(const WeightsOptions& options, const RunContext& context) {
  const MetricWeights weights = bring_weights(options.packages, options.again);
  if (context.json) {
    const nlohmann::json json = {{"inception", weights.inception.string()},
                                 {"lpips", weights.lpips.string()}};
    print_stdout(json_text(json, 2) + "\n");
  } else {
    print_stdout(fmt::format("FID network: {}\nLPIPS: {}\n", weights.inception.string(),
                             weights.lpips.string()));
  }
}

}  // namespace addp
