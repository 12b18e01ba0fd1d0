// Pictures that clients send: looked at before they are decoded, and never trusted.
#pragma once

#include <optional>
#include <string>

#include "base/file/file_io.h"
#include "image/codec/codec.h"

namespace addp {

// An HttpError (413) for more pixels than the service takes, found in the header; a DataError for
// what cannot be read.
Image decode_upload(const Bytes& bytes, const std::string& name);
// A mask: bright, or transparent, where it is to be filled in.
GrayImage decode_mask(const Bytes& bytes, const std::string& name);
// OpenAI's: transparent where it is to be filled in; one that is opaque everywhere counts as above.
GrayImage decode_openai_mask(const Bytes& bytes, const std::string& name);

// The transparent part of a PNG picture; nothing where it is opaque.
std::optional<GrayImage> decode_hole(const Bytes& bytes, const std::string& name);

}  // namespace addp
