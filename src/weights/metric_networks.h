// The networks behind FID and LPIPS as public packages carry them, turned into the layout that the
// metrics read. The bytes are foreign: whatever does not fit is a DataError.
#pragma once

#include <memory>
#include <string>

#include "checkpoint/format/tensor.h"

namespace addp {

// A TorchScript file whose storages are, in order, weight, beta, mean and variance of Inception's
// 94 convolutions (no gamma: it is one).
TensorMap import_inception(ByteSpan bytes, const std::shared_ptr<const void>& owner,
                           const std::string& name);

// A pickle of nested dicts of numpy arrays: AlexNet's five convolutions (height, width, inputs,
// outputs) and the five linear layers of LPIPS v0.1.
TensorMap import_lpips(ByteSpan bytes, const std::string& name);

}  // namespace addp
