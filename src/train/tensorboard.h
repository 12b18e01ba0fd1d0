// Event files that TensorBoard opens: records in TFRecord framing, each an Event message of
// TensorFlow's event.proto. The few fields in use are encoded here, without protobuf.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/file/file_io.h"

namespace addp {

class TensorBoardWriter {
 public:
  // Starts a new file in `folder`, beside those of earlier starts. TensorBoard drops what those
  // hold from `first_step` on, so that a run which resumes before its end shows one curve.
  explicit TensorBoardWriter(const std::filesystem::path& folder, std::int64_t first_step = 0);
  ~TensorBoardWriter();  // writes what is left; errors are lost, so call flush() before
  TensorBoardWriter(const TensorBoardWriter&) = delete;
  TensorBoardWriter& operator=(const TensorBoardWriter&) = delete;

  void scalar(const std::string& tag, float value, std::int64_t step);
  void image(const std::string& tag, ByteSpan png, std::int64_t width, std::int64_t height,
             std::int64_t step);
  void text(const std::string& tag, std::string_view markdown, std::int64_t step);

  // Records reach the file at the latest ten seconds after they were made, if others follow, or
  // with this call. A RuntimeError names the file if the disk is full.
  void flush();

  const std::filesystem::path& path() const { return path_; }

 private:
  void add_event(std::int64_t step, std::string_view content);
  void add_value(std::int64_t step, std::string_view value);

  std::filesystem::path path_;
  int descriptor_ = -1;
  std::string pending_;
  std::chrono::steady_clock::time_point flushed_;
};

}  // namespace addp
