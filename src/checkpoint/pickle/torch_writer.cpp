#include "checkpoint/pickle/torch_writer.h"

#include <utility>

#include "base/error.h"
#include "checkpoint/format/tensor_cast.h"
#include "checkpoint/format/zip_writer.h"
#include "checkpoint/pickle/pickle_names.h"

namespace addp {
namespace {

using Json = nlohmann::json;

// The instructions of pickle protocol 2, what torch.save uses; no memo is needed for a tree.
class PickleWriter {
 public:
  PickleWriter() : out_("\x80\x02") {}

  std::string finish() && { return std::move(out_) + '.'; }

  void begin_dict() { out_ += "}("; }
  void end_dict() { out_ += 'u'; }

  void text(const std::string& value) {
    out_ += 'X';
    number(static_cast<std::uint32_t>(value.size()));
    out_ += value;
  }

  void integer(std::int64_t value) {
    if (value >= 0 && value < 256) {
      out_ += 'K';
      out_ += static_cast<char>(value);
    } else if (value == static_cast<std::int32_t>(value)) {
      out_ += 'J';
      number(static_cast<std::int32_t>(value));
    } else {
      out_ += "\x8a\x08";
      number(value);
    }
  }

  void boolean(bool value) { out_ += value ? '\x88' : '\x89'; }

  void json(const Json& value) {
    if (value.is_null()) {
      out_ += 'N';
    } else if (value.is_boolean()) {
      boolean(value.get<bool>());
    } else if (value.is_number_unsigned() && value.get<std::uint64_t>() >> 63 != 0) {
      out_ += "\x8a\x09";
      number(value.get<std::uint64_t>());
      out_ += '\0';
    } else if (value.is_number_integer()) {
      integer(value.get<std::int64_t>());
    } else if (value.is_number()) {
      const auto real = value.get<double>();
      std::uint64_t bits = 0;
      std::memcpy(&bits, &real, sizeof(bits));
      out_ += 'G';
      number(__builtin_bswap64(bits));
    } else if (value.is_string()) {
      text(value.get<std::string>());
    } else if (value.is_array()) {
      out_ += "](";
      for (const Json& item : value) json(item);
      out_ += 'e';
    } else {
      begin_dict();
      for (const auto& [key, item] : value.items()) {
        text(key);
        json(item);
      }
      end_dict();
    }
  }

  // torch._utils._rebuild_tensor_v2(storage, offset, size, stride, requires_grad, hooks). Types
  // without a storage class of their own are rebuilt by _v3 from bytes, with the type at the end.
  void tensor(const TensorView& tensor, DType type, std::size_t index) {
    const std::string_view storage = torch_storage_name(type);
    const bool typed = !storage.empty();
    global("torch._utils", typed ? "_rebuild_tensor_v2" : "_rebuild_tensor_v3");
    out_ += "((";
    text("storage");
    typed ? global("torch", storage) : global("torch.storage", "UntypedStorage");
    text(std::to_string(index));
    text("cpu");
    integer(typed ? tensor.numel() : tensor.numel() * static_cast<std::int64_t>(dtype_size(type)));
    out_ += "tQ";
    integer(0);
    tuple(tensor.shape);
    tuple(contiguous_strides(tensor.shape));
    boolean(false);
    global("collections", "OrderedDict");
    out_ += ")R";
    if (!typed) global("torch", torch_dtype_name(type));
    out_ += "tR";
  }

 private:
  template <class T>
  void number(T value) {
    out_.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  void global(std::string_view module, std::string_view name) {
    out_ += 'c';
    out_.append(module).append("\n").append(name).append("\n");
  }
  void tuple(const std::vector<std::int64_t>& values) {
    out_ += '(';
    for (const std::int64_t value : values) integer(value);
    out_ += 't';
  }

  std::string out_;
};

std::string make_pickle(const TensorMap& tensors, const std::string& root, const Json& metadata,
                        std::optional<DType> floating) {
  PickleWriter pickle;
  pickle.begin_dict();
  if (!root.empty()) {
    pickle.text(root);
    pickle.begin_dict();
  }
  std::size_t index = 0;
  for (const auto& [name, tensor] : tensors) {
    pickle.text(name);
    pickle.tensor(tensor, type_after_cast(tensor, floating), index++);
  }
  if (!root.empty()) pickle.end_dict();
  for (const auto& [key, value] : metadata.items()) {
    if (key == root || (root.empty() && tensors.contains(key))) {
      throw UsageError("the metadata key '{}' would hide the tensors; rename it", key);
    }
    pickle.text(key);
    pickle.json(value);
  }
  pickle.end_dict();
  return std::move(pickle).finish();
}

}  // namespace

void write_torch_file(const std::filesystem::path& path, const TensorMap& tensors,
                      const std::string& root, const Json& metadata,
                      std::optional<DType> floating) {
  const std::string folder = "archive/";
  ZipWriter zip(path);
  zip.add(folder + "data.pkl", make_pickle(tensors, root, metadata, floating));
  zip.add(folder + "byteorder", "little");
  std::size_t index = 0;
  for (const auto& [name, tensor] : tensors) {
    const std::string record = folder + "data/" + std::to_string(index++);
    with_cast_bytes(tensor, floating, [&](ByteSpan bytes) { zip.add(record, bytes); });
  }
  zip.add(folder + "version", "3\n");
  zip.commit();
}

}  // namespace addp
