// A filled-in part that meets what is around it without a step in colour.
#pragma once

#include <vector>

#include "image/image.h"

namespace addp {

// How deep each pixel lies within what is not 0: 0 outside, 1 inside, and a slope over `slope`
// pixels from the edge inwards (city-block distance).
std::vector<float> depth_of(const GrayImage& hidden, int slope);

// Changes `made` where `hidden` is not 0, so that it meets `picture` there: how the two differ in
// what is visible is carried on into the hidden part and fades out over `reach` pixels. All are of
// one size; where nothing is visible, `made` stays as it is.
void match_surroundings(Image& made, const Image& picture, const GrayImage& hidden, int reach);

}  // namespace addp
