// Reads a large JSON file record by record: {"name": [record, record, ...], ...} or [record, ...].
// Only one record is in memory at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "base/file/file_io.h"

namespace addp {

// Called with the name of the array (empty for an array at the top) and each of its elements.
using RecordVisitor = std::function<void(const std::string& array, nlohmann::json& record)>;

// Returns the names of the arrays that were seen. A DataError names the file and the place
// of bad JSON.
std::set<std::string> read_json_records(ByteSpan json, const std::string& name,
                                        const RecordVisitor& visit);

}  // namespace addp
