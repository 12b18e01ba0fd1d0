// The EXIF orientation: how a stored picture must be turned to stand upright.
#pragma once

#include "base/file/file_io.h"
#include "image/box.h"
#include "image/image.h"

namespace addp {

// `exif` is the TIFF block, with or without the leading "Exif\0\0". Anything malformed counts as 1
// (upright): a damaged thumbnail directory is no reason to refuse the picture.
int parse_exif_orientation(ByteSpan exif);

// Orientations 5 to 8 exchange width and height.
inline bool swaps_sides(int orientation) { return orientation >= 5 && orientation <= 8; }

Image apply_orientation(Image stored, int orientation);
GrayImage apply_orientation(GrayImage stored, int orientation);

// Where a box of the stored w x h picture lies in the upright one, and back.
Box to_upright(const Box& stored, int orientation, float stored_width, float stored_height);
Box to_stored(const Box& upright, int orientation, float stored_width, float stored_height);

}  // namespace addp
