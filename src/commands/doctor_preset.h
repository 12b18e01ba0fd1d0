// The heavy half of `addp doctor --preset`: it builds the networks, so it lives in libaddp.so.
#pragma once

#include "commands/doctor.h"

namespace addp {

void run_doctor_preset(const DoctorOptions& options, const RunContext& context);

}  // namespace addp
