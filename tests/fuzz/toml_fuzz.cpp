// Recipes are foreign bytes too: any text must end in options that were set or in an Error.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "base/option/options.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::int64_t steps = 1;
  double rate = 0.5;
  bool flag = false;
  std::string name;
  std::vector<std::int64_t> list;
  addp::Options options;
  options.add("steps", steps, "").range(1, 1000);
  options.add("rate", rate, "");
  options.add("flag", flag, "");
  options.add("name", name, "").choices({"a", "b"});
  options.add("encoder-list", list, "");
  try {
    options.load_toml_text(text, "fuzz.toml");
  } catch (const addp::Error&) {
  }
  return 0;
}
