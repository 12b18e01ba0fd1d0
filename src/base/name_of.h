// The name of a value of an enumeration, from a table of all of them.
#pragma once

#include <cstddef>

namespace addp {

template <class Value>
struct Named {
  Value value;
  const char* name;
};

template <class Value, std::size_t Count>
constexpr const char* name_of(const Named<Value> (&table)[Count], Value value) {
  for (const Named<Value>& row : table) {
    if (row.value == value) return row.name;
  }
  return "";
}

}  // namespace addp
