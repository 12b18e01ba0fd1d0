// The models that a server has, by name. They are only read, by the one computing thread; what the
// requests' threads look at (names, sizes, classes) does not change.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "generate/generator.h"
#include "heads/backbone/feature_encoder.h"
#include "heads/classify/classifier.h"
#include "heads/detect/detector.h"
#include "heads/segment/segmenter.h"

namespace addp {

struct HostedModel {
  std::string name, kind;  // kind: addp, predictor, classifier, detector, segmenter
  std::filesystem::path path;
  // One of these, by kind; the encoder beside it where its features can be asked for.
  std::unique_ptr<Generator> generator;
  std::vector<std::uint8_t> palette;  // of the generator: red, green, blue of every code
  std::shared_ptr<Classifier> classifier;
  std::shared_ptr<Detector> detector;
  std::shared_ptr<Segmenter> segmenter;
  FeatureEncoder encoder;

  bool makes() const { return generator != nullptr; }
  bool edits() const { return generator != nullptr && generator->is_addp(); }
  bool has_encoder() const { return encoder.network != nullptr; }
  std::vector<std::string> class_names() const;
};

class Shelf {
 public:
  // Reads the models; a DataError or UsageError names the one that cannot be used. No paths: every
  // model that has a name (checkpoint/named/find_model.h), but for those that nothing can be asked
  // of; a UsageError where there is none. Those that make pictures do it in one precision.
  explicit Shelf(const std::vector<std::filesystem::path>& paths, bool bf16 = false);

  const std::vector<std::unique_ptr<HostedModel>>& models() const { return models_; }
  // The model of that name, or the first one that can do it where the name is empty; an HttpError
  // (404) says what there is.
  const HostedModel& find(const std::string& name, bool (*can)(const HostedModel&),
                          const char* what) const;

 private:
  // False: nothing can be asked of it.
  bool add(const std::filesystem::path& path, const std::string& name, bool bf16);
  std::string free_name(const std::string& wanted, const std::string& kind) const;

  std::vector<std::unique_ptr<HostedModel>> models_;
};

}  // namespace addp
