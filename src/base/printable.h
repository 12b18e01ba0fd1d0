// Text for terminals, whatever it is made of and wherever it goes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace addp {

// Text that does to a terminal what it says and no more: control characters and what is
// not UTF-8 are shown as \xNN.
std::string printable(std::string_view text);
// Names of files are bytes: what is not UTF-8 becomes U+FFFD.
std::string valid_utf8(std::string_view text);
// The code point that starts at text[at], and its length; a length of 0 for what is not UTF-8.
std::pair<std::uint32_t, std::size_t> decode_utf8(std::string_view text, std::size_t at);
// Never throws: with a full disk or a closed stderr there is nobody left to tell.
void write_stderr(std::string_view text);

}  // namespace addp
