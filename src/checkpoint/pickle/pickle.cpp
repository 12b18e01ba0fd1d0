#include "checkpoint/pickle/pickle.h"

#include <fmt/format.h>

#include <cmath>
#include <unordered_set>

#include "base/error.h"
#include "base/json_text.h"

namespace addp {
namespace {

using Kind = PickleValue::Kind;
using Json = nlohmann::json;

constexpr int kMaxDepth = 32;

class JsonMaker {
 public:
  JsonMaker(const Pickle& pickle, PickleBudget& budget) : pickle_(pickle), budget_(budget) {}

  Json make(const PickleValue& value, int depth) {
    if (depth > kMaxDepth || !spend(8)) return "...";
    switch (value.kind) {
      case Kind::kNone:
        return nullptr;
      case Kind::kBool:
        return value.integer != 0;
      case Kind::kInt:
        return value.integer;
      case Kind::kFloat:
        return number(value.real);
      case Kind::kString:
        return text(value.text);
      case Kind::kBigInt:
      case Kind::kBytes:
        return fmt::format("{} bytes", value.text.size());
      case Kind::kGlobal:
        return text(value.text);
      case Kind::kList:
      case Kind::kTuple:
      case Kind::kSet:
        return list(value, depth);
      case Kind::kDict:
        return dict(value, depth);
      case Kind::kStorage:
        return "a storage";
      case Kind::kTensor: {
        const TensorView& tensor = pickle_.tensor(value);
        spend(8 * tensor.shape.size());
        return Json{{"tensor", dtype_name(tensor.dtype)}, {"shape", tensor.shape}};
      }
      case Kind::kObject:
        return object(value, depth);
    }
    return nullptr;
  }

 private:
  bool spend(std::size_t size) {
    if (size > budget_.text) budget_.text = 0;
    if (budget_.text == 0) return false;
    budget_.text -= size;
    return true;
  }

  // JSON has no NaN and no infinity.
  static Json number(double real) {
    if (std::isfinite(real)) return real;
    return std::isnan(real) ? "nan" : real > 0 ? "inf" : "-inf";
  }

  Json text(const std::string& raw) {
    if (!spend(raw.size())) return "...";
    return clean_utf8(raw);
  }

  Json list(const PickleValue& value, int depth) {
    Json out = Json::array();
    for (const PickleValue* item : value.items) {
      out.push_back(make(*item, depth + 1));
      if (budget_.text == 0) break;
    }
    return out;
  }

  Json dict(const PickleValue& value, int depth) {
    Json out = Json::object();
    for (std::size_t i = 0; i + 1 < value.items.size() && budget_.text > 0; i += 2) {
      const Json key = make(*value.items[i], depth + 1);
      out[key.is_string() ? key.get<std::string>() : key_text(key)] =
          make(*value.items[i + 1], depth + 1);
    }
    return out;
  }

  // Text inside text: with each dictionary that is a key of another its quotes double.
  std::string key_text(const Json& key) {
    std::string written = json_text(key);
    return spend(written.size()) ? written : "...";
  }

  // argparse.Namespace and its like: the attributes. torch.device("cpu"): the arguments.
  Json object(const PickleValue& value, int depth) {
    Json out = Json::object();
    if (value.state != nullptr && value.state->is(Kind::kDict)) {
      out = dict(*value.state, depth);
    } else if (value.state != nullptr) {
      out["state"] = make(*value.state, depth + 1);
    }
    if (value.content != nullptr) out["content"] = make(*value.content, depth + 1);
    if (!value.items.empty()) out["arguments"] = list(value, depth);
    if (value.text != "argparse.Namespace") out["class"] = text(value.text);
    return out;
  }

  const Pickle& pickle_;
  PickleBudget& budget_;
};

}  // namespace

const PickleValue* PickleValue::find(std::string_view key) const {
  if (!is(Kind::kDict)) return nullptr;
  for (std::size_t i = items.size() / 2; i-- > 0;) {
    if (items[2 * i]->is(Kind::kString) && items[2 * i]->text == key) return items[2 * i + 1];
  }
  return nullptr;
}

void Pickle::bind_storages(const std::function<void(PickleStorage&)>& fill) {
  for (PickleStorage& storage : storages) {
    fill(storage);
    const auto size = static_cast<std::uint64_t>(storage.numel) * dtype_size(storage.dtype);
    if (storage.bytes.size() != size) {
      throw DataError(
          "{}: storage '{}' should have {} bytes and has {}; the file is cut off or damaged, fetch "
          "it again",
          name, clean_utf8(storage.key), size, storage.bytes.size());
    }
  }
  for (PickleTensor& tensor : tensors) {
    const PickleStorage& storage = storages[tensor.storage];
    const std::size_t start =
        static_cast<std::size_t>(tensor.offset) * dtype_size(tensor.view.dtype);
    tensor.view.bytes = storage.bytes.subspan(start);
    tensor.view.owner = storage.owner;
  }
}

Json pickle_to_json(const Pickle& pickle, const PickleValue& value, PickleBudget& budget) {
  return JsonMaker(pickle, budget).make(value, 0);
}

std::size_t count_tensors(const PickleValue& value, PickleBudget& budget) {
  std::unordered_set<const PickleValue*> seen{&value};
  std::vector<const PickleValue*> open{&value};
  std::size_t count = 0;
  while (!open.empty() && budget.visits > 0) {
    const PickleValue* next = open.back();
    open.pop_back();
    count += next->is(Kind::kTensor);
    const auto visit = [&](const PickleValue* child) {
      if (budget.visits > 0) --budget.visits;
      if (child != nullptr && seen.insert(child).second) open.push_back(child);
    };
    for (const PickleValue* item : next->items) visit(item);
    visit(next->state);
    visit(next->content);
  }
  return count;
}

std::string clean_utf8(const std::string& text) {
  // nlohmann's serialiser has a checked decoder; ours would be a second one.
  const std::string quoted = json_text(Json(text));
  return Json::parse(quoted).get<std::string>();
}

}  // namespace addp
