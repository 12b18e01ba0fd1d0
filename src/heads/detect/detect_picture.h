// From a picture of any size to the things in it, and drawings of them.
#pragma once

#include "data/set/dataset.h"
#include "heads/detect/detector.h"
#include "image/image.h"

namespace addp {

struct Detection {
  int class_id = 0;
  double score = 0;
  CocoBox box;  // in the picture's pixels
  Rle mask;     // at the picture's size
};

std::vector<Detection> detect_picture(Detector& detector, const Image& picture,
                                      const DetectorLimits& limits = {});

// What was found, from the square that the network sees to a picture that fills its top left
// `width` x `height` pixels. Nothing where it lies in the empty part.
std::vector<Detection> to_picture(const RawDetections& found, int width, int height,
                                  const Image& picture);

// A mask of probabilities over a box, [m, m], as pixels of a picture: inside from one half on.
Rle paste_mask(const Tensor& probabilities, const CocoBox& box, int width, int height);

// What a network learns of one picture: boxes, classes and masks of its instances
// (data/set/dataset.h) at the size of its pixels.
DetectionTarget target_of(const std::vector<Instance>& instances, int width, int height);

// Masks, boxes and labels over the picture, which is enlarged where they would cover it. Things
// that are much smaller than their label stay without one.
Image draw_detections(const Image& picture, const std::vector<Detection>& detections,
                      const std::vector<std::string>& class_names);

// As an entry of a COCO results file.
CocoAnnotation to_coco(const Detection& detection, std::int64_t image_id, std::int64_t category_id);

}  // namespace addp
