#include "stages/recognition/classifier_start.h"

#include "machine/machine.h"
#include "nn/torch.h"

namespace addp {

std::shared_ptr<Classifier> start_classifier(ClassifierConfig config, const BackboneStart& start,
                                             const Dataset& dataset, HeadStart head,
                                             const RandomStream& stream) {
  config.class_names = dataset.class_names();
  config.class_keys = dataset.class_keys();
  config.classes = static_cast<std::int64_t>(config.class_names.size());
  auto classifier = on_device(std::make_shared<Classifier>(config, start.tokenizer));
  initialise_classifier(*classifier, head, stream);
  if (start.file) load_backbone(classifier->encoder(), config.backbone, *start.file);
  return classifier;
}

}  // namespace addp
