// The demo's sections about boxes, masks and label maps, on fresh pictures of the procedural set.
#pragma once

#include "commands/start/demo.h"
#include "report/html_page.h"

namespace addp {

void add_detections(const DemoOptions& options, HtmlPage& page);  // the model 'shapes/detector'
void add_label_maps(const DemoOptions& options, HtmlPage& page);  // the model 'shapes/segmenter'

}  // namespace addp
