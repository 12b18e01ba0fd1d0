// What the stages of segmenters and detectors have in common: annotated pictures, a head on maps of
// several strides, and a validation split that is looked at picture by picture.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "data/load/open_dataset.h"
#include "feed/annotated_feed.h"
#include "heads/backbone/maps.h"
#include "train/network_stage.h"
#include "train/start_from.h"

namespace addp {

template <class StageOptions, class Network>
class MapsStage : public NetworkStage {
 protected:
  struct Parts {
    std::string name;
    std::pair<std::string, bool> best;  // as NetworkStage takes it
    Task task;
    DatasetOptions training, validation;
    Transform transform;  // of training pictures
    bool labels;          // whether they come with label maps
    std::shared_ptr<Network> (*make)(const StageOptions&, const Dataset&);
    std::shared_ptr<Network> (*load)(const std::filesystem::path&);  // a trained one
  };

  MapsStage(const StageOptions& options, World& world, const Parts& parts)
      : NetworkStage(parts.name, options.train, world, parts.best),
        options_(options),
        feed_(open_dataset(options.train.data, "train", parts.task, parts.training),
              FeedOptions::from(options.train, world), parts.transform, parts.labels),
        validation_(
            open_validation(options.train.data, feed_.dataset(), parts.task, parts.validation)),
        network_(parts.make(options, feed_.dataset())) {
    if (const auto& start = options.maps.start; !start.empty()) {
      start_from(*network_, *parts.load(start), start.string());
    }
    take_from(feed_);
    train_network(network_, maps_groups(*network_, network_->config().maps,
                                        options.maps.layer_decay, options.train.weight_decay));
  }

  StageOptions options_;
  AnnotatedFeed feed_;
  std::shared_ptr<const Dataset> validation_;
  std::shared_ptr<Network> network_;
};

}  // namespace addp
