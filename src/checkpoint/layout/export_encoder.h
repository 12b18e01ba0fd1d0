// The encoder of a model for other programs: timm, and the fine-tuning code of MAE.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "checkpoint/layout/checkpoint.h"
#include "checkpoint/layout/convert.h"

namespace addp {

enum class EncoderFormat {
  // timm's VisionTransformer, with the same features as ours: the norm in front of the blocks is
  // timm's norm_pre. timm has no bias of patches beside that norm, so that it goes into the
  // position embeddings, which are added to the same sum.
  kTimm,
  // models_vit.VisionTransformer of MAE, as the paper fine-tunes: without the norm in front.
  kMae,
};

struct EncoderExport {
  TensorMap tensors;
  std::string kind;  // "encoder", or "classifier" where the head is in there, too
  std::string call;  // the Python that makes the network these tensors fit, strictly
};

// Out of an ADDP model, a classifier, or a published ViT. A DataError where the encoder is none
// that those programs have.
EncoderExport export_encoder(const Checkpoint& checkpoint, EncoderFormat format);

// The same from file to file: .safetensors (timm only) or .pth.
ConvertReport export_encoder(const std::filesystem::path& in, const std::filesystem::path& out,
                             EncoderFormat format, std::optional<DType> floating);

}  // namespace addp
