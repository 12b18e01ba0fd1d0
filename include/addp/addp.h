// The public C++ API: load a model, generate, fill in, reconstruct, extract features. It needs
// no libtorch headers.
//
//   addp::Model model("cells");
//   addp::save_picture("a.png", model.generate({.count = 1, .seed = 7}).front());
//
// Failures are exceptions derived from std::runtime_error whose text is one sentence with the
// remedy. A Model is constant once loaded: any number of threads may use it at once.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#define ADDP_API __attribute__((visibility("default")))

namespace addp {

ADDP_API std::string_view version();

// 8-bit RGB, rows from top to bottom, pixels interleaved.
struct Picture {
  int width = 0;
  int height = 0;
  std::vector<std::uint8_t> rgb;
};

// JPEG, PNG or WebP, by content. Grey, palette, 16-bit, CMYK and rotated pictures come out
// as upright RGB.
ADDP_API Picture load_picture(const std::filesystem::path& path);
// The extension (.png, .jpg, .webp) chooses the format; the write is atomic.
ADDP_API void save_picture(const std::filesystem::path& path, const Picture& picture);

struct GenerateRequest {
  std::int64_t count = 1;  // up to a million; more than a few are computed in several batches
  std::int64_t steps = 20;
  bool linear_schedule = false;  // cosine otherwise
  double temperature = 6;        // of the noise on confidences, falling to zero
  bool constant_temperature = false;
  double top_p = 1;
  bool fast = false;       // decode in the last step only: models of `addp distil`
  std::uint64_t seed = 0;  // the same seed and index give the same picture in any batch
  std::int64_t first_index = 0;
  std::string class_name{};  // for class-conditional models: name or number
  double guidance = 1;       // how strongly the class counts
  // Pixels of generated pictures, any multiples of a token's side; 0: as the model was trained.
  // fill_in() does not look at them: it keeps the picture's size.
  int width = 0;
  int height = 0;
  // Of fill_in(): a second pass sees the first result in the hidden part; colours of the filled
  // part meet those around it. The paper's way is 1 and false.
  std::int64_t passes = 2;
  bool match = true;
  // Called after each step with the pictures of the batch so far; false cancels the run.
  std::function<bool(std::int64_t step, std::int64_t steps, const std::vector<Picture>& preview)>
      on_step{};
};

class ADDP_API Model {
 public:
  // A name of `addp models` ("cells"), a folder that `addp train addp` or `predictor` wrote, its
  // model.safetensors, or a published .pth. A published model has no tokenizer inside: name its
  // file. A predictor can generate only.
  explicit Model(const std::filesystem::path& model, const std::filesystem::path& tokenizer = {});
  ~Model();
  Model(Model&&) noexcept;
  Model& operator=(Model&&) noexcept;

  int picture_size() const;  // side of generated pictures, in pixels
  std::vector<Picture> generate(const GenerateRequest& request) const;
  // Variants of a picture of any size with its hidden pixels filled in; all others stay as they
  // are. `hidden` has a byte per pixel, not 0 where the pixel is hidden. Previews show the part
  // that the network works on.
  std::vector<Picture> fill_in(const Picture& picture, const std::vector<std::uint8_t>& hidden,
                               const GenerateRequest& request) const;
  // What the tokenizer keeps of a picture (resized to its middle square).
  Picture reconstruct(const Picture& picture) const;
  // The encoder's mean patch feature of a picture.
  std::vector<float> features(const Picture& picture) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace addp
