#include "base/version.h"

namespace addp {

std::string_view version() { return ADDP_VERSION; }

}  // namespace addp
