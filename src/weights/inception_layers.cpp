#include "weights/inception_layers.h"

namespace addp {
namespace {

// Builds the list; the kinds of blocks have the letters that torchvision gives them.
class Layers {
 public:
  std::vector<InceptionLayer> all;

  // One convolution, of `size` x `size` where no width is given.
  void add(const std::string& name, std::int64_t in, std::int64_t out, std::int64_t size,
           std::int64_t width = 0) {
    all.push_back({name, in, out, size, width == 0 ? size : width});
  }
  void add_unpadded(const std::string& name, std::int64_t in, std::int64_t out,
                    std::int64_t stride) {
    all.push_back({name, in, out, 3, 3, stride, false});
  }

  void block_a(const std::string& block, std::int64_t in, std::int64_t pool) {
    add(block + ".branch1x1", in, 64, 1);
    add(block + ".branch5x5_1", in, 48, 1);
    add(block + ".branch5x5_2", 48, 64, 5);
    add(block + ".branch3x3dbl_1", in, 64, 1);
    add(block + ".branch3x3dbl_2", 64, 96, 3);
    add(block + ".branch3x3dbl_3", 96, 96, 3);
    add(block + ".branch_pool", in, pool, 1);
  }

  void block_b(const std::string& block, std::int64_t in) {
    add_unpadded(block + ".branch3x3", in, 384, 2);
    add(block + ".branch3x3dbl_1", in, 64, 1);
    add(block + ".branch3x3dbl_2", 64, 96, 3);
    add_unpadded(block + ".branch3x3dbl_3", 96, 96, 2);
  }

  void block_c(const std::string& block, std::int64_t middle) {
    constexpr std::int64_t kIn = 768, kOut = 192;
    add(block + ".branch1x1", kIn, kOut, 1);
    add(block + ".branch7x7_1", kIn, middle, 1);
    add(block + ".branch7x7_2", middle, middle, 1, 7);
    add(block + ".branch7x7_3", middle, kOut, 7, 1);
    add(block + ".branch7x7dbl_1", kIn, middle, 1);
    add(block + ".branch7x7dbl_2", middle, middle, 7, 1);
    add(block + ".branch7x7dbl_3", middle, middle, 1, 7);
    add(block + ".branch7x7dbl_4", middle, middle, 7, 1);
    add(block + ".branch7x7dbl_5", middle, kOut, 1, 7);
    add(block + ".branch_pool", kIn, kOut, 1);
  }

  void block_d(const std::string& block, std::int64_t in) {
    add(block + ".branch3x3_1", in, 192, 1);
    add_unpadded(block + ".branch3x3_2", 192, 320, 2);
    add(block + ".branch7x7x3_1", in, 192, 1);
    add(block + ".branch7x7x3_2", 192, 192, 1, 7);
    add(block + ".branch7x7x3_3", 192, 192, 7, 1);
    add_unpadded(block + ".branch7x7x3_4", 192, 192, 2);
  }

  void block_e(const std::string& block, std::int64_t in) {
    add(block + ".branch1x1", in, 320, 1);
    add(block + ".branch3x3_1", in, 384, 1);
    both_ways(block + ".branch3x3_2");
    add(block + ".branch3x3dbl_1", in, 448, 1);
    add(block + ".branch3x3dbl_2", 448, 384, 3);
    both_ways(block + ".branch3x3dbl_3");
    add(block + ".branch_pool", in, 192, 1);
  }

 private:
  void both_ways(const std::string& name) {
    add(name + "a", 384, 384, 1, 3);
    add(name + "b", 384, 384, 3, 1);
  }
};

std::vector<InceptionLayer> make_layers() {
  Layers layers;
  layers.add_unpadded("Conv2d_1a_3x3", 3, 32, 2);
  layers.add_unpadded("Conv2d_2a_3x3", 32, 32, 1);
  layers.add("Conv2d_2b_3x3", 32, 64, 3);
  layers.add("Conv2d_3b_1x1", 64, 80, 1);
  layers.add_unpadded("Conv2d_4a_3x3", 80, 192, 1);
  layers.block_a("Mixed_5b", 192, 32);
  layers.block_a("Mixed_5c", 256, 64);
  layers.block_a("Mixed_5d", 288, 64);
  layers.block_b("Mixed_6a", 288);
  layers.block_c("Mixed_6b", 128);
  layers.block_c("Mixed_6c", 160);
  layers.block_c("Mixed_6d", 160);
  layers.block_c("Mixed_6e", 192);
  layers.block_d("Mixed_7a", 768);
  layers.block_e("Mixed_7b", 1280);
  layers.block_e("Mixed_7c", 2048);
  return layers.all;
}

}  // namespace

const std::vector<InceptionLayer>& inception_layers() {
  static const std::vector<InceptionLayer> kLayers = make_layers();
  return kLayers;
}

}  // namespace addp
