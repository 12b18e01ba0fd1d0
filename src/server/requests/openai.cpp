#include "server/requests/openai.h"

#include <algorithm>
#include <cctype>

#include "server/http/http_error.h"

namespace addp {
namespace {

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

bool is_word_letter(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

bool has_word(const std::string& text, const std::string& word) {
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !is_word_letter(text[at - 1])) &&
        (end == text.size() || !is_word_letter(text[end]))) {
      return true;
    }
  }
  return false;
}

}  // namespace

OpenAiRequest take_openai_fields(Fields& fields) {
  OpenAiRequest request;
  request.response_format = "b64_json";
  const auto take = [&](const char* name, std::string& into) {
    const auto found = fields.texts.find(name);
    if (found == fields.texts.end()) return;
    into = found->second;
    fields.texts.erase(found);
  };
  take("prompt", request.prompt);
  take("size", request.size);
  take("response-format", request.response_format);
  if (request.response_format != "b64_json" && request.response_format != "url") {
    throw HttpError(400, "response_format '{}': b64_json and url are understood",
                    request.response_format);
  }
  std::string format = "png", ignored;
  take("output-format", format);
  if (format != "png") throw HttpError(400, "output_format '{}': only png is made", format);
  // These mean nothing here and change nothing.
  for (const char* name : {"user", "quality", "style", "background", "moderation",
                           "output-compression", "input-fidelity"}) {
    take(name, ignored);
  }
  if (fields.texts.contains("stream") && fields.texts["stream"] == "false") {
    fields.texts.erase("stream");
  }
  if (fields.texts.contains("stream")) {
    throw HttpError(400, "stream: not in this form; /api/generate and /api/inpaint stream");
  }
  return request;
}

std::optional<std::string> class_in_prompt(const std::string& prompt,
                                           const std::vector<std::string>& classes) {
  const std::string text = lower(prompt);
  std::optional<std::string> best;
  for (const std::string& name : classes) {
    if (name.empty() || (best && name.size() <= best->size())) continue;
    if (has_word(text, lower(name))) best = name;
  }
  return best;
}

void check_size(const std::string& size, int width, int height) {
  if (size.empty() || size == "auto" || size == fmt::format("{}x{}", width, height)) return;
  throw HttpError(400, "size '{}': this picture has {}x{}; omit the size or give that", size, width,
                  height);
}

}  // namespace addp
