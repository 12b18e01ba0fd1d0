// OpenAI's shape of requests for pictures, with this program's fields beside its own.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "server/http/fields.h"
#include "server/requests/requests.h"

namespace addp {

struct OpenAiRequest {
  std::string prompt, size, response_format;

  bool as_url() const { return response_format == "url"; }
};

// Takes OpenAI's own fields out of `fields`; what remains is a MakeRequest or an EditRequest.
OpenAiRequest take_openai_fields(Fields& fields);

// The class that a prompt names: the longest name that occurs in it as a word, whatever its case.
std::optional<std::string> class_in_prompt(const std::string& prompt,
                                           const std::vector<std::string>& classes);

// Of a picture that is edited: an HttpError where "WxH" is asked for and it has another size.
void check_size(const std::string& size, int width, int height);

}  // namespace addp
