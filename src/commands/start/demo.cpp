#include "commands/start/demo.h"

#include "base/file/file_io.h"
#include "commands/start/show_demo.h"
#include "commands/start/train_demo.h"
#include "machine/machine.h"
#include "nn/torch.h"

namespace addp {

void run(const DemoOptions& given, const RunContext& context) {
  DemoOptions options = given;
  if (options.out.empty()) options.out = options.train ? "out/demo-train" : "out/demo";
  use_machine(options.compute);
  make_folder(options.out);
  options.train ? train_demo(options, context) : show_demo(options, context);
}

}  // namespace addp
