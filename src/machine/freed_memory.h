// What the allocator keeps of freed memory.
#pragma once

namespace addp {

// Gives it back to the system: after many large pieces were freed between others that stay.
void return_freed_memory();

}  // namespace addp
