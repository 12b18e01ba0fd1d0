// addp demo: one page of what the models that come with the program do. Needs no data and no
// network; a section whose model is not there is left out with a note.
#pragma once

#include "commands/start/demo.h"

namespace addp {

void show_demo(const DemoOptions& options, const RunContext& context);

}  // namespace addp
