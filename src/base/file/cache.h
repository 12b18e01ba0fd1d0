// Where things live that are made once and shared by all runs: ${XDG_CACHE_HOME:-~/.cache}/addp.
#pragma once

#include <filesystem>

namespace addp {

std::filesystem::path cache_folder();  // not created

// A path that an environment variable gives; empty where it is not set.
std::filesystem::path environment_path(const char* name);

}  // namespace addp
