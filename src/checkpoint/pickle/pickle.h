// Python's pickle format, read as plain data. A pickle is a program for a stack machine whose
// instructions may call any function by name; this reader has the machine but no functions:
// the few names that torch.save and argparse use for data are rebuilt as values, every other
// name is kept as a name, and names that only an attack would mention are refused.
// Instructions: CPython's Lib/pickletools.py.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/format/tensor.h"

namespace addp {

struct PickleValue {
  enum class Kind : std::uint8_t {
    kNone,
    kBool,     // integer
    kInt,      // integer
    kBigInt,   // text: little-endian two's complement
    kFloat,    // real
    kString,   // text: UTF-8 as far as the file is honest
    kBytes,    // text
    kList,     // items
    kTuple,    // items
    kSet,      // items
    kDict,     // items: key, value, key, value, ...; state: attributes of the object, if any
    kGlobal,   // text: "module.name"
    kStorage,  // integer: which of Pickle::storages
    kTensor,   // integer: which of Pickle::tensors
    kObject    // text: class; items: arguments; state; content: what was appended or set by key
  };

  Kind kind = Kind::kNone;
  std::int64_t integer = 0;
  double real = 0;
  std::string text;
  std::vector<PickleValue*> items;
  PickleValue* state = nullptr;
  PickleValue* content = nullptr;

  bool is(Kind wanted) const { return kind == wanted; }
  // The value of a text key in a dict (the last one wins, as in Python), or nullptr.
  const PickleValue* find(std::string_view key) const;
};

// A block of numbers that tensors share. The pickle names it; the file around the pickle
// has the bytes.
struct PickleStorage {
  std::string key;
  DType dtype = DType::kF32;
  std::int64_t numel = 0;
  ByteSpan bytes;
  std::shared_ptr<const void> owner;
};

struct PickleTensor {
  TensorView view;  // without bytes until bind_storages
  std::size_t storage = 0;
  std::int64_t offset = 0;  // in elements of the view's type
};

// Owns all values: they may refer to each other in circles.
struct Pickle {
  std::string name;  // what errors name
  std::deque<PickleValue> values;
  std::vector<PickleStorage> storages;
  std::deque<PickleTensor> tensors;
  std::set<std::string> foreign;  // names that the reader does not know; kept as data
  const PickleValue* root = nullptr;
  std::uint64_t length = 0;  // bytes up to and with the final instruction

  // Gives every storage its bytes (`fill` sets bytes and owner), checks their number, and points
  // the tensors into them.
  void bind_storages(const std::function<void(PickleStorage&)>& fill);
  const TensorView& tensor(const PickleValue& value) const {
    return tensors[static_cast<std::size_t>(value.integer)].view;
  }
};

// Reads the pickle at the start of `bytes`.
std::unique_ptr<Pickle> parse_pickle(ByteSpan bytes, const std::string& name);

// Shared values make a tree out of a small file that is larger than memory: what walks
// it is rationed.
struct PickleBudget {
  std::size_t text = std::size_t{1} << 20;
  std::size_t visits = std::size_t{1} << 23;
};

// Plain data as JSON. Objects become their attributes with "class"; tensors type and shape;
// circles, deep nesting and what exceeds the budget become "...". Always valid UTF-8.
nlohmann::json pickle_to_json(const Pickle& pickle, const PickleValue& value, PickleBudget& budget);
// How many different tensors can be reached from `value`.
std::size_t count_tensors(const PickleValue& value, PickleBudget& budget);
// `text` with what is not UTF-8 replaced.
std::string clean_utf8(const std::string& text);

}  // namespace addp
