// The pictures that a command is given, and names for what is made of them.
#pragma once

#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "base/options.h"
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
  std::size_t size() const { return entries_.size(); }
  // Makes the folder for what is made of them; a UsageError if one of them lies in there, where it
  // could be overwritten.
  void make_output_folder(const std::filesystem::path& out) const;
  // Each in turn, with a progress bar. One that cannot be read is warned about and left out; their
  // number is returned. An interrupt is an InterruptedError.
  std::size_t for_each(const std::string& label,
                       const std::function<void(const PictureInput&, std::size_t)>& visit) const;
  // A DataError if some were left out, for when everything else is written.
  void require_all_read(std::size_t left_out) const;

 private:
  struct Entry {
    std::string source, file, stem;
    std::function<Image()> image;
  };
  PictureInput load(std::size_t index) const;
  void add(std::string source, const std::string& name, std::function<Image()> image);
  void add_files(const std::string& spec);
  void add_shapes(const std::string& spec);

  std::vector<Entry> entries_;
  std::set<std::string> taken_;  // stems
};

}  // namespace addp
