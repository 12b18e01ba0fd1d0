// The convolutions of the FID network, in the order of the published file.
#pragma once

#include <array>
#include <cstdint>

namespace addp {

struct InceptionLayer {
  const char* name;
  std::int64_t in, out, kernel_height, kernel_width;
  std::int64_t stride = 1;
  bool same_padding = true;  // false: none
};

// clang-format off
inline constexpr std::array<InceptionLayer, 94> kInceptionLayers = {{
    {"Conv2d_1a_3x3", 3, 32, 3, 3, 2, false},
    {"Conv2d_2a_3x3", 32, 32, 3, 3, 1, false},
    {"Conv2d_2b_3x3", 32, 64, 3, 3},
    {"Conv2d_3b_1x1", 64, 80, 1, 1},
    {"Conv2d_4a_3x3", 80, 192, 3, 3, 1, false},
    {"Mixed_5b.branch1x1", 192, 64, 1, 1},
    {"Mixed_5b.branch5x5_1", 192, 48, 1, 1},
    {"Mixed_5b.branch5x5_2", 48, 64, 5, 5},
    {"Mixed_5b.branch3x3dbl_1", 192, 64, 1, 1},
    {"Mixed_5b.branch3x3dbl_2", 64, 96, 3, 3},
    {"Mixed_5b.branch3x3dbl_3", 96, 96, 3, 3},
    {"Mixed_5b.branch_pool", 192, 32, 1, 1},
    {"Mixed_5c.branch1x1", 256, 64, 1, 1},
    {"Mixed_5c.branch5x5_1", 256, 48, 1, 1},
    {"Mixed_5c.branch5x5_2", 48, 64, 5, 5},
    {"Mixed_5c.branch3x3dbl_1", 256, 64, 1, 1},
    {"Mixed_5c.branch3x3dbl_2", 64, 96, 3, 3},
    {"Mixed_5c.branch3x3dbl_3", 96, 96, 3, 3},
    {"Mixed_5c.branch_pool", 256, 64, 1, 1},
    {"Mixed_5d.branch1x1", 288, 64, 1, 1},
    {"Mixed_5d.branch5x5_1", 288, 48, 1, 1},
    {"Mixed_5d.branch5x5_2", 48, 64, 5, 5},
    {"Mixed_5d.branch3x3dbl_1", 288, 64, 1, 1},
    {"Mixed_5d.branch3x3dbl_2", 64, 96, 3, 3},
    {"Mixed_5d.branch3x3dbl_3", 96, 96, 3, 3},
    {"Mixed_5d.branch_pool", 288, 64, 1, 1},
    {"Mixed_6a.branch3x3", 288, 384, 3, 3, 2, false},
    {"Mixed_6a.branch3x3dbl_1", 288, 64, 1, 1},
    {"Mixed_6a.branch3x3dbl_2", 64, 96, 3, 3},
    {"Mixed_6a.branch3x3dbl_3", 96, 96, 3, 3, 2, false},
    {"Mixed_6b.branch1x1", 768, 192, 1, 1},
    {"Mixed_6b.branch7x7_1", 768, 128, 1, 1},
    {"Mixed_6b.branch7x7_2", 128, 128, 1, 7},
    {"Mixed_6b.branch7x7_3", 128, 192, 7, 1},
    {"Mixed_6b.branch7x7dbl_1", 768, 128, 1, 1},
    {"Mixed_6b.branch7x7dbl_2", 128, 128, 7, 1},
    {"Mixed_6b.branch7x7dbl_3", 128, 128, 1, 7},
    {"Mixed_6b.branch7x7dbl_4", 128, 128, 7, 1},
    {"Mixed_6b.branch7x7dbl_5", 128, 192, 1, 7},
    {"Mixed_6b.branch_pool", 768, 192, 1, 1},
    {"Mixed_6c.branch1x1", 768, 192, 1, 1},
    {"Mixed_6c.branch7x7_1", 768, 160, 1, 1},
    {"Mixed_6c.branch7x7_2", 160, 160, 1, 7},
    {"Mixed_6c.branch7x7_3", 160, 192, 7, 1},
    {"Mixed_6c.branch7x7dbl_1", 768, 160, 1, 1},
    {"Mixed_6c.branch7x7dbl_2", 160, 160, 7, 1},
    {"Mixed_6c.branch7x7dbl_3", 160, 160, 1, 7},
    {"Mixed_6c.branch7x7dbl_4", 160, 160, 7, 1},
    {"Mixed_6c.branch7x7dbl_5", 160, 192, 1, 7},
    {"Mixed_6c.branch_pool", 768, 192, 1, 1},
    {"Mixed_6d.branch1x1", 768, 192, 1, 1},
    {"Mixed_6d.branch7x7_1", 768, 160, 1, 1},
    {"Mixed_6d.branch7x7_2", 160, 160, 1, 7},
    {"Mixed_6d.branch7x7_3", 160, 192, 7, 1},
    {"Mixed_6d.branch7x7dbl_1", 768, 160, 1, 1},
    {"Mixed_6d.branch7x7dbl_2", 160, 160, 7, 1},
    {"Mixed_6d.branch7x7dbl_3", 160, 160, 1, 7},
    {"Mixed_6d.branch7x7dbl_4", 160, 160, 7, 1},
    {"Mixed_6d.branch7x7dbl_5", 160, 192, 1, 7},
    {"Mixed_6d.branch_pool", 768, 192, 1, 1},
    {"Mixed_6e.branch1x1", 768, 192, 1, 1},
    {"Mixed_6e.branch7x7_1", 768, 192, 1, 1},
    {"Mixed_6e.branch7x7_2", 192, 192, 1, 7},
    {"Mixed_6e.branch7x7_3", 192, 192, 7, 1},
    {"Mixed_6e.branch7x7dbl_1", 768, 192, 1, 1},
    {"Mixed_6e.branch7x7dbl_2", 192, 192, 7, 1},
    {"Mixed_6e.branch7x7dbl_3", 192, 192, 1, 7},
    {"Mixed_6e.branch7x7dbl_4", 192, 192, 7, 1},
    {"Mixed_6e.branch7x7dbl_5", 192, 192, 1, 7},
    {"Mixed_6e.branch_pool", 768, 192, 1, 1},
    {"Mixed_7a.branch3x3_1", 768, 192, 1, 1},
    {"Mixed_7a.branch3x3_2", 192, 320, 3, 3, 2, false},
    {"Mixed_7a.branch7x7x3_1", 768, 192, 1, 1},
    {"Mixed_7a.branch7x7x3_2", 192, 192, 1, 7},
    {"Mixed_7a.branch7x7x3_3", 192, 192, 7, 1},
    {"Mixed_7a.branch7x7x3_4", 192, 192, 3, 3, 2, false},
    {"Mixed_7b.branch1x1", 1280, 320, 1, 1},
    {"Mixed_7b.branch3x3_1", 1280, 384, 1, 1},
    {"Mixed_7b.branch3x3_2a", 384, 384, 1, 3},
    {"Mixed_7b.branch3x3_2b", 384, 384, 3, 1},
    {"Mixed_7b.branch3x3dbl_1", 1280, 448, 1, 1},
    {"Mixed_7b.branch3x3dbl_2", 448, 384, 3, 3},
    {"Mixed_7b.branch3x3dbl_3a", 384, 384, 1, 3},
    {"Mixed_7b.branch3x3dbl_3b", 384, 384, 3, 1},
    {"Mixed_7b.branch_pool", 1280, 192, 1, 1},
    {"Mixed_7c.branch1x1", 2048, 320, 1, 1},
    {"Mixed_7c.branch3x3_1", 2048, 384, 1, 1},
    {"Mixed_7c.branch3x3_2a", 384, 384, 1, 3},
    {"Mixed_7c.branch3x3_2b", 384, 384, 3, 1},
    {"Mixed_7c.branch3x3dbl_1", 2048, 448, 1, 1},
    {"Mixed_7c.branch3x3dbl_2", 448, 384, 3, 3},
    {"Mixed_7c.branch3x3dbl_3a", 384, 384, 1, 3},
    {"Mixed_7c.branch3x3dbl_3b", 384, 384, 3, 1},
    {"Mixed_7c.branch_pool", 2048, 192, 1, 1},
}};
// clang-format on

inline constexpr std::int64_t kInceptionFeatures = 2048;
inline constexpr std::int64_t kInceptionClasses = 1008;

}  // namespace addp
