// The pictures that a command is given, and names for what is made of them.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/option/options.h"
#include "image/image.h"
#include "machine/compute_options.h"

namespace addp {

// What the commands that draw on pictures have in common.
struct PictureInputOptions {
  std::vector<std::string> pictures;
  std::filesystem::path model, out;
  ComputeOptions compute;

  void describe(Options& o, const char* model_text, const char* out_text) {
    o.add("pictures", pictures, "pictures, folders, file lists or archives of them, or 'shapes'")
        .positional()
        .required()
        .metavar("PICTURES");
    o.add("model", model, model_text).required();
    o.add("out", out, out_text).required();
    compute.describe(o);
  }
};

struct PictureInput {
  std::string source;  // for messages and records
  std::string file;    // its name without folders and archive
  std::string stem;    // of the files made of it: they may be called STEM.png and STEM-labels.png
  Image image;
};

// What was named, one behind the other; of folders and archives every picture in there. A DataError
// names what cannot be read.
class PictureInputs {
 public:
  explicit PictureInputs(const std::vector<std::string>& specs);
  std::int64_t size() const;
  // Makes the folder for what is made of them; a UsageError if one of them lies in there, where it
  // could be overwritten.
  void make_output_folder(const std::filesystem::path& out) const;
  // Each in turn, with a progress bar. One that cannot be read, or that `visit` has a DataError
  // for, is warned about and left out; their number is returned. An interrupt is an
  // InterruptedError.
  std::int64_t for_each(const std::string& label,
                        const std::function<void(const PictureInput&, std::size_t)>& visit) const;

 private:
  class Entries;  // as a data set, for a pass
  void add_files(const std::string& spec);
  void add_shapes(const std::string& spec);

  std::shared_ptr<Entries> entries_;
};

// A DataError if some of the pictures were left out, for when everything else is written.
void require_all_read(std::int64_t left_out, std::int64_t all);

}  // namespace addp
