// What the names in a pickle become. Nothing is called: the names that torch.save and argparse use
// for data are rebuilt as values here, any other is kept as a name with its arguments, except those
// that pickle_names.cpp refuses.
#include <array>
#include <optional>

#include "base/error.h"
#include "checkpoint/pickle/pickle_machine.h"
#include "checkpoint/pickle/pickle_names.h"

namespace addp {
namespace {

using Kind = PickleValue::Kind;
constexpr std::size_t kMaxDimensions = 64;  // torch's own limit

std::optional<std::vector<std::int64_t>> integers(const PickleValue& value) {
  if (value.items.size() > kMaxDimensions) return std::nullopt;
  std::vector<std::int64_t> numbers;
  for (const PickleValue* item : value.items) {
    if (!item->is(Kind::kInt) || item->integer < 0) return std::nullopt;
    numbers.push_back(item->integer);
  }
  return numbers;
}

// The number of elements from the first to the last one that shape and strides reach, or nothing
// where that overflows.
std::optional<std::int64_t> extent(const std::vector<std::int64_t>& shape,
                                   const std::vector<std::int64_t>& strides) {
  std::int64_t last = 0;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0) return 0;
    std::int64_t step = 0;
    if (__builtin_mul_overflow(shape[i] - 1, strides[i], &step) ||
        __builtin_add_overflow(last, step, &last)) {
      return std::nullopt;
    }
  }
  if (__builtin_add_overflow(last, std::int64_t{1}, &last)) return std::nullopt;
  return last;
}

}  // namespace

bool PickleMachine::object(std::uint8_t op) {
  switch (op) {
    case 'c': {
      const std::string_view module = in_.take_line();
      push(global(module, in_.take_line()));
      return true;
    }
    case 0x93: {
      const PickleValue* name = pop();
      const PickleValue* module = pop();
      if (!name->is(Kind::kString) || !module->is(Kind::kString))
        fail("has a name that is no text");
      push(global(module->text, name->text));
      return true;
    }
    case 'i': {
      const std::string_view module = in_.take_line();
      PickleValue* callable = global(module, in_.take_line());
      push(call(callable, make_tuple(pop_to_mark())));
      return true;
    }
    case 'o': {
      Values items = pop_to_mark();
      if (items.empty()) fail("makes an object of nothing");
      PickleValue* callable = items.front();
      items.erase(items.begin());
      push(call(callable, make_tuple(std::move(items))));
      return true;
    }
    case 0x92:
      pop();  // keyword arguments of __new__: no known class has any
      [[fallthrough]];
    case 'R':
    case 0x81: {
      PickleValue* arguments = pop();
      PickleValue* callable = pop();
      push(call(callable, arguments));
      return true;
    }
    case 'b': {
      PickleValue* state = pop();
      top()->state = state;
      return true;
    }
    case 'Q': {
      PickleValue* id = pop();
      push(persistent(id));
      return true;
    }
    default:
      return false;
  }
}

PickleValue* PickleMachine::global(std::string_view module, std::string_view name) {
  if (module.size() + name.size() > 1000) fail("has a name of more than 1000 letters");
  const std::string full = fmt::format("{}.{}", module, name);
  const NameStanding standing = name_standing(module, name);
  if (standing == NameStanding::kRefused) {
    throw DataError(
        "{}: asks to call '{}', which no checkpoint needs and an attack would; nothing was "
        "executed. Do not open this file in Python; get it from its publisher",
        in_.name(), clean_utf8(full));
  }
  if (standing == NameStanding::kForeign) pickle_.foreign.insert(clean_utf8(full));
  charge(full.size() / 16);
  return make_text(Kind::kGlobal, full);
}

PickleValue* PickleMachine::call(PickleValue* callable, PickleValue* arguments) {
  if (!arguments->is(Kind::kTuple)) fail("calls something without a tuple of arguments");
  const bool named = callable->is(Kind::kGlobal);
  if (named) {
    if (PickleValue* value = call_known(callable->text, arguments->items)) return value;
  }
  return make_object(named ? callable->text : "result of a call", arguments->items);
}

PickleValue* PickleMachine::call_known(const std::string& name, const Values& args) {
  const std::string_view last = std::string_view(name).substr(name.rfind('.') + 1);
  const bool torch = name.starts_with("torch.");
  if (torch && (last == "_rebuild_tensor_v2" || last == "_rebuild_tensor")) {
    return rebuild_tensor(args, nullptr);
  }
  if (torch && last == "_rebuild_tensor_v3" && args.size() > 6)
    return rebuild_tensor(args, args[6]);
  if (torch && last.starts_with("_rebuild_parameter")) {
    if (args.empty()) fail("rebuilds a parameter of nothing");
    return args[0];
  }
  // (function, type, arguments, state): a subclass of Tensor; the numbers are what counts.
  if (torch && last == "_rebuild_from_type_v2" && args.size() == 4 &&
      !args[0]->text.ends_with("_rebuild_from_type_v2")) {
    return call_known(args[0]->text, args[2]->items);
  }
  if ((name == "copyreg._reconstructor" || name == "copy_reg._reconstructor") && args.size() == 3 &&
      args[0]->is(Kind::kGlobal)) {
    return make_object(args[0]->text, {});
  }
  // Protocol 2 spells bytes as a latin-1 text to encode.
  if (name == "_codecs.encode" && args.size() == 2 && args[0]->is(Kind::kString)) {
    charge(args[0]->text.size() / 16);
    return make_text(Kind::kBytes, latin1_bytes(args[0]->text));
  }
  if (name.starts_with("pathlib.")) {
    std::string path;
    for (const PickleValue* part : args) {
      charge(part->text.size() / 16);
      if (!path.empty() && path.back() != '/') path += '/';
      path += part->text;
    }
    return make_text(Kind::kString, path);
  }
  if (name.starts_with("numpy.") && last == "scalar") return numpy_scalar(args);
  return to_container(name, args);
}

PickleValue* PickleMachine::to_container(const std::string& name, const Values& args) {
  const auto kind = container_kind(name);
  if (!kind) return nullptr;
  PickleValue* value = make(*kind);
  for (const PickleValue* arg : args) {
    if (!arg->is(Kind::kList) && !arg->is(Kind::kTuple) && !arg->is(Kind::kDict)) continue;
    charge(arg->items.size());
    if (*kind != Kind::kDict || arg->is(Kind::kDict)) {
      value->items = arg->items;
      continue;
    }
    for (const PickleValue* pair : arg->items) {
      if (pair->items.size() != 2) fail("makes a dict of something else than pairs");
      charge(2);
      value->items.insert(value->items.end(), pair->items.begin(), pair->items.end());
    }
  }
  return value;
}

// ("storage", type, key, device, numel) and, in the old layout, a view (key, offset, size) or None.
PickleValue* PickleMachine::persistent(PickleValue* id) {
  const Values& items = id->items;
  const bool storage = id->is(Kind::kTuple) && items.size() >= 5 && items[0]->text == "storage" &&
                       items[1]->is(Kind::kGlobal) && items[4]->is(Kind::kInt);
  if (!storage) return make_object("persistent", {id});
  const auto dtype = storage_dtype(items[1]->text);
  if (!dtype) return make_object(items[1]->text, {});
  const std::string key =
      items[2]->is(Kind::kInt) ? std::to_string(items[2]->integer) : items[2]->text;
  const std::int64_t numel = items[4]->integer;
  if (numel < 0 || numel > (std::int64_t{1} << 48)) fail("has a storage of an impossible size");
  const auto [known, fresh] = storage_index_.emplace(key, pickle_.storages.size());
  if (fresh) {
    charge(1 + key.size() / 16);
    pickle_.storages.push_back({key, *dtype, numel, {}, nullptr});
    add_budget(static_cast<std::uint64_t>(numel) * dtype_size(*dtype));
  }
  const PickleStorage& same = pickle_.storages[known->second];
  if (same.dtype != *dtype || same.numel != numel) fail("describes one storage in two ways");
  PickleValue* value = make(Kind::kStorage);
  value->integer = static_cast<std::int64_t>(known->second);
  if (items.size() > 5 && items[5]->is(Kind::kTuple) && items[5]->items.size() == 3) {
    value->items = items[5]->items;
  }
  return value;
}

// (storage, offset, size, stride, ...): offset and stride in elements.
PickleValue* PickleMachine::rebuild_tensor(const Values& args, const PickleValue* dtype) {
  if (args.size() < 4) fail("rebuilds a tensor from too few values");
  if (!args[0]->is(Kind::kStorage)) return make_object("torch.Tensor", {args[0]});
  PickleTensor tensor;
  tensor.storage = static_cast<std::size_t>(args[0]->integer);
  const PickleStorage& storage = pickle_.storages[tensor.storage];
  const auto type = dtype == nullptr ? storage.dtype : torch_dtype(dtype->text);
  if (!type) return make_object("torch.Tensor", {args[0]});
  const auto shape = integers(*args[2]);
  const auto strides = integers(*args[3]);
  const auto count = shape ? checked_numel(*shape) : std::nullopt;
  if (!count || !strides || shape->size() != strides->size()) fail("has a tensor of a bad shape");
  tensor.offset = args[1]->integer;
  const PickleValue* view = args[0]->items.empty() ? nullptr : args[0]->items[1];
  if (!args[1]->is(Kind::kInt) || tensor.offset < 0 || (view != nullptr && view->integer < 0) ||
      (view != nullptr && __builtin_add_overflow(tensor.offset, view->integer, &tensor.offset))) {
    fail("has a tensor that starts nowhere");
  }
  const auto reach = extent(*shape, *strides);
  const std::int64_t room = storage.numel * static_cast<std::int64_t>(dtype_size(storage.dtype)) /
                            static_cast<std::int64_t>(dtype_size(*type));
  if (!reach || *reach > room || tensor.offset > room - *reach) {
    fail("has a tensor that reaches beyond its storage");
  }
  const std::uint64_t size = static_cast<std::uint64_t>(*count) * dtype_size(*type);
  if (static_cast<std::uint64_t>(*count) > tensor_budget_ || size > tensor_budget_) {
    fail("describes many times more numbers than the file can hold");
  }
  tensor_budget_ -= size;
  tensor.view = {*type, *shape, *strides, {}, nullptr};
  pickle_.tensors.push_back(std::move(tensor));
  PickleValue* value = make(Kind::kTensor);
  value->integer = static_cast<std::int64_t>(pickle_.tensors.size()) - 1;
  return value;
}

// numpy.core.multiarray.scalar(dtype, bytes)
PickleValue* PickleMachine::numpy_scalar(const Values& args) {
  if (args.size() != 2 || args[0]->items.empty() || !args[1]->is(Kind::kBytes)) return nullptr;
  const std::string& type = args[0]->items[0]->text;
  const std::string& bytes = args[1]->text;
  if (type.size() != 2 || bytes.size() != static_cast<std::size_t>(type[1] - '0')) return nullptr;
  if (type == "f8" || type == "f4") {
    PickleValue* value = make(Kind::kFloat);
    float single = 0;
    std::memcpy(type == "f8" ? static_cast<void*>(&value->real) : &single, bytes.data(),
                bytes.size());
    if (type == "f4") value->real = single;
    return value;
  }
  if (type[0] == 'i') return make_long(bytes);
  if (type[0] == 'u') return make_long(bytes + '\0');
  if (type != "b1") return nullptr;
  PickleValue* value = make(Kind::kBool);
  value->integer = bytes[0] != 0;
  return value;
}

}  // namespace addp
