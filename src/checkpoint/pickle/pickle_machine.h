// The stack machine of parse_pickle: instructions in pickle_machine.cpp, what names
// mean in pickle_globals.cpp.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "checkpoint/format/byte_reader.h"
#include "checkpoint/pickle/pickle.h"

namespace addp {

class PickleMachine {
 public:
  PickleMachine(ByteSpan bytes, Pickle& pickle) : pickle_(pickle), in_(bytes, pickle.name) {}
  void run();

 private:
  using Kind = PickleValue::Kind;
  using Values = std::vector<PickleValue*>;

  // Each handles its group of instructions and says whether `op` belonged to it.
  bool literal(std::uint8_t op);
  bool text_literal(std::uint8_t op);
  bool string_literal(std::uint8_t op);
  bool container(std::uint8_t op);
  bool stack(std::uint8_t op);
  bool memo(std::uint8_t op);
  bool object(std::uint8_t op);

  PickleValue* make(Kind kind);
  PickleValue* make_text(Kind kind, std::string_view text);
  PickleValue* make_int(std::int64_t value);
  PickleValue* make_long(std::string_view little_endian);
  PickleValue* make_tuple(Values items);
  PickleValue* make_object(const std::string& name, Values arguments);
  void push(PickleValue* value) { stack_.push_back(value); }
  PickleValue* pop();
  PickleValue* top();
  Values pop_to_mark();
  void charge(std::size_t work);
  [[noreturn]] void fail(std::string_view what) const;

  void append(PickleValue* target, const Values& items);
  void set_items(PickleValue* target, const Values& pairs);

  // pickle_globals.cpp
  PickleValue* global(std::string_view module, std::string_view name);
  PickleValue* call(PickleValue* callable, PickleValue* arguments);
  PickleValue* call_known(const std::string& name, const Values& args);
  PickleValue* to_container(const std::string& name, const Values& args);
  PickleValue* persistent(PickleValue* id);
  PickleValue* rebuild_tensor(const Values& args, const PickleValue* dtype);
  PickleValue* numpy_scalar(const Values& args);
  void add_budget(std::uint64_t storage_bytes) { tensor_budget_ += 64 * storage_bytes; }

  Pickle& pickle_;
  ByteReader in_;
  Values stack_;
  std::vector<std::size_t> marks_;
  std::unordered_map<std::uint64_t, PickleValue*> memo_;
  std::unordered_map<std::string, std::size_t> storage_index_;
  std::size_t work_ = 0;
  // Names may share a storage and strides may repeat elements, so a small file can describe tensors
  // without end; honest files stay far below this.
  std::uint64_t tensor_budget_ = std::uint64_t{1} << 28;
};

}  // namespace addp
