// What --help prints, from the same declarations that parse the command line.
#pragma once

#include <string>

#include "cli/command.h"

namespace addp {

std::string overview_text();
// `options` has been described by the command and by the flags of every command. Without `all`, the
// advanced options are counted only.
std::string command_help_text(const Command& command, const Options& options, bool all);
// For a word that may be the beginning of several commands ("train").
std::string family_help_text(const std::string& first_word);

}  // namespace addp
