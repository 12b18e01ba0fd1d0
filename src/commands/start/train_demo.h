// addp demo --train: every stage on the procedural set, from nothing to samples, classes, boxes and
// label maps, and one page that shows them.
#pragma once

#include "commands/start/demo.h"

namespace addp {

// A call that was interrupted goes on where it was when it is made again.
void train_demo(const DemoOptions& options, const RunContext& context);

}  // namespace addp
