#include "checkpoint/pickle/pickle_machine.h"

#include <charconv>
#include <cmath>
#include <cstdlib>

#include "base/error.h"
#include "checkpoint/pickle/pickle_names.h"

namespace addp {
namespace {

constexpr std::size_t kMaxWork = std::size_t{1} << 22;  // values and references in all

}  // namespace

void PickleMachine::fail(std::string_view what) const {
  throw DataError("{}: its pickle {} (at byte {}); the file is damaged or no checkpoint",
                  in_.name(), what, in_.position());
}

void PickleMachine::charge(std::size_t work) {
  work_ += work;
  if (work_ > kMaxWork) fail("holds more values than a checkpoint needs");
}

PickleValue* PickleMachine::make(Kind kind) {
  charge(1);
  PickleValue& value = pickle_.values.emplace_back();
  value.kind = kind;
  return &value;
}

PickleValue* PickleMachine::make_text(Kind kind, std::string_view text) {
  PickleValue* value = make(kind);
  value->text = text;
  return value;
}

PickleValue* PickleMachine::make_int(std::int64_t number) {
  PickleValue* value = make(Kind::kInt);
  value->integer = number;
  return value;
}

PickleValue* PickleMachine::make_long(std::string_view bytes) {
  while (bytes.size() > 8 && bytes.back() == 0 && (bytes[bytes.size() - 2] & 0x80) == 0) {
    bytes.remove_suffix(1);  // leading zeros
  }
  if (bytes.size() > 8) return make_text(Kind::kBigInt, bytes);
  const bool negative = !bytes.empty() && (bytes.back() & 0x80) != 0;
  std::int64_t number = negative ? -1 : 0;
  std::memcpy(&number, bytes.data(), bytes.size());
  return make_int(number);
}

PickleValue* PickleMachine::make_tuple(Values items) {
  PickleValue* value = make(Kind::kTuple);
  charge(items.size());
  value->items = std::move(items);
  return value;
}

PickleValue* PickleMachine::make_object(const std::string& name, Values arguments) {
  PickleValue* value = make_text(Kind::kObject, name);
  charge(arguments.size() + name.size() / 16);
  value->items = std::move(arguments);
  return value;
}

PickleValue* PickleMachine::pop() {
  PickleValue* value = top();
  stack_.pop_back();
  return value;
}

PickleValue* PickleMachine::top() {
  if (stack_.size() <= (marks_.empty() ? 0 : marks_.back())) fail("takes from an empty stack");
  return stack_.back();
}

PickleMachine::Values PickleMachine::pop_to_mark() {
  if (marks_.empty()) fail("looks for a mark that is not there");
  Values items(stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back()), stack_.end());
  stack_.resize(marks_.back());
  marks_.pop_back();
  return items;
}

void PickleMachine::append(PickleValue* target, const Values& items) {
  if (target->is(Kind::kObject)) {
    if (target->content == nullptr) target->content = make(Kind::kList);
    target = target->content;
  }
  if (!target->is(Kind::kList) && !target->is(Kind::kSet))
    fail("appends to something else than a list");
  charge(items.size());
  target->items.insert(target->items.end(), items.begin(), items.end());
}

void PickleMachine::set_items(PickleValue* target, const Values& pairs) {
  if (pairs.size() % 2 != 0) fail("sets a key without a value");
  if (target->is(Kind::kObject)) {
    if (target->content == nullptr) target->content = make(Kind::kDict);
    target = target->content;
  }
  if (!target->is(Kind::kDict)) fail("sets keys of something else than a dict");
  charge(pairs.size());
  target->items.insert(target->items.end(), pairs.begin(), pairs.end());
}

bool PickleMachine::literal(std::uint8_t op) {
  switch (op) {
    case 'N':
      push(make(Kind::kNone));
      return true;
    case 0x88:
    case 0x89:
      push(make(Kind::kBool));
      stack_.back()->integer = op == 0x88;
      return true;
    case 'J':
      push(make_int(in_.take_little<std::int32_t>()));
      return true;
    case 'K':
      push(make_int(in_.take_little<std::uint8_t>()));
      return true;
    case 'M':
      push(make_int(in_.take_little<std::uint16_t>()));
      return true;
    case 0x8a:
      push(make_long(in_.take_text(in_.take_little<std::uint8_t>())));
      return true;
    case 0x8b:
      push(make_long(in_.take_text(in_.take_little<std::uint32_t>())));
      return true;
    case 'G': {
      const auto bits = __builtin_bswap64(in_.take_little<std::uint64_t>());
      push(make(Kind::kFloat));
      std::memcpy(&stack_.back()->real, &bits, sizeof(bits));
      return true;
    }
    default:
      return text_literal(op) || string_literal(op);
  }
}

bool PickleMachine::text_literal(std::uint8_t op) {
  if (op == 'F') {
    const std::string line(in_.take_line());
    push(make(Kind::kFloat));
    stack_.back()->real = std::strtod(line.c_str(), nullptr);
    return true;
  }
  if (op != 'I' && op != 'L') return false;
  std::string_view line = in_.take_line();
  if (op == 'I' && (line == "00" || line == "01")) {
    push(make(Kind::kBool));
    stack_.back()->integer = line == "01";
    return true;
  }
  if (op == 'L' && line.ends_with('L')) line.remove_suffix(1);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), number);
  if (error != std::errc() || end != line.data() + line.size()) fail("has a number that is none");
  push(make_int(number));
  return true;
}

bool PickleMachine::string_literal(std::uint8_t op) {
  const auto take = [&](Kind kind, std::uint64_t length) {
    push(make_text(kind, in_.take_text(length)));
    return true;
  };
  switch (op) {
    case 'X':
    case 'T':
      return take(Kind::kString, in_.take_little<std::uint32_t>());
    case 0x8c:
    case 'U':
      return take(Kind::kString, in_.take_little<std::uint8_t>());
    case 0x8d:
      return take(Kind::kString, in_.take_little<std::uint64_t>());
    case 'B':
      return take(Kind::kBytes, in_.take_little<std::uint32_t>());
    case 'C':
      return take(Kind::kBytes, in_.take_little<std::uint8_t>());
    case 0x8e:
    case 0x96:
      return take(Kind::kBytes, in_.take_little<std::uint64_t>());
    case 'V':
      push(make_text(Kind::kString, unescape_text(in_.take_line())));
      return true;
    case 'S': {
      std::string_view line = in_.take_line();
      if (line.size() < 2 || line.front() != line.back() || (line[0] != '\'' && line[0] != '"')) {
        fail("has a text without quotation marks");
      }
      push(make_text(Kind::kString, unescape_text(line.substr(1, line.size() - 2))));
      return true;
    }
    default:
      return false;
  }
}

bool PickleMachine::container(std::uint8_t op) {
  switch (op) {
    case ']':
      push(make(Kind::kList));
      return true;
    case ')':
      push(make(Kind::kTuple));
      return true;
    case '}':
      push(make(Kind::kDict));
      return true;
    case 0x8f:
      push(make(Kind::kSet));
      return true;
    case 't':
      push(make_tuple(pop_to_mark()));
      return true;
    case 0x85:
    case 0x86:
    case 0x87: {
      Values items(op - std::size_t{0x84});
      for (auto item = items.rbegin(); item != items.rend(); ++item) *item = pop();
      push(make_tuple(std::move(items)));
      return true;
    }
    case 'l':
    case 'd':
    case 0x91: {
      const Values items = pop_to_mark();
      push(make(op == 'l' ? Kind::kList : op == 'd' ? Kind::kDict : Kind::kSet));
      op == 'd' ? set_items(top(), items) : append(top(), items);
      return true;
    }
    case 'a': {
      PickleValue* item = pop();
      append(top(), {item});
      return true;
    }
    case 'e':
    case 0x90: {
      const Values items = pop_to_mark();
      append(top(), items);
      return true;
    }
    case 's': {
      PickleValue* value = pop();
      PickleValue* key = pop();
      set_items(top(), {key, value});
      return true;
    }
    case 'u': {
      const Values items = pop_to_mark();
      set_items(top(), items);
      return true;
    }
    default:
      return false;
  }
}

bool PickleMachine::stack(std::uint8_t op) {
  switch (op) {
    case '(':
      marks_.push_back(stack_.size());
      return true;
    case '0':
      if (!marks_.empty() && marks_.back() == stack_.size()) {
        marks_.pop_back();
      } else {
        pop();
      }
      return true;
    case '1':
      pop_to_mark();
      return true;
    case '2':
      push(top());
      return true;
    case 0x80:
      if (in_.take_little<std::uint8_t>() > 5) fail("is of a protocol later than 5");
      return true;
    case 0x95:
      in_.take_little<std::uint64_t>();
      return true;  // a frame's length, a hint for readers
    case 0x98:
      return true;  // marks a buffer read-only
    default:
      return false;
  }
}

bool PickleMachine::memo(std::uint8_t op) {
  const auto index = [&]() -> std::uint64_t {
    if (op == 'q' || op == 'h') return in_.take_little<std::uint8_t>();
    if (op == 'r' || op == 'j') return in_.take_little<std::uint32_t>();
    const std::string_view line = in_.take_line();
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), number);
    if (error != std::errc() || end != line.data() + line.size()) fail("has a bad memo number");
    return number;
  };
  switch (op) {
    case 'p':
    case 'q':
    case 'r':
      memo_[index()] = top();
      return true;
    case 0x94:
      memo_[memo_.size()] = top();
      return true;
    case 'g':
    case 'h':
    case 'j': {
      const auto found = memo_.find(index());
      if (found == memo_.end()) fail("recalls a value that was never kept");
      push(found->second);
      return true;
    }
    default:
      return false;
  }
}

void PickleMachine::run() {
  for (;;) {
    const auto op = in_.take_little<std::uint8_t>();
    if (op == '.') break;
    if (!literal(op) && !container(op) && !memo(op) && !stack(op) && !object(op)) {
      fail(fmt::format("has the instruction 0x{:02x}, which no checkpoint needs", op));
    }
  }
  pickle_.root = pop();
  pickle_.length = in_.position();
}

std::unique_ptr<Pickle> parse_pickle(ByteSpan bytes, const std::string& name) {
  auto pickle = std::make_unique<Pickle>();
  pickle->name = name;
  PickleMachine(bytes, *pickle).run();
  return pickle;
}

}  // namespace addp
