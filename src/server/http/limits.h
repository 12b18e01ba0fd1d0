// What a client may ask of the HTTP layer. Beyond a limit the answer says which one.
#pragma once

#include <cstddef>
#include <cstdint>

namespace addp {

struct HttpLimits {
  std::size_t connections = 256;      // open at once; more are answered 503 and closed
  std::size_t header_bytes = 16384;   // request line and headers together
  std::size_t target_bytes = 2048;    // path and query
  std::size_t body_bytes = 32 << 20;  // as sent
  std::size_t parts = 64;             // of a multipart body
  std::size_t part_name_bytes = 256;
  int json_depth = 32;
  // Slow clients: the headers must be there this long after the first byte, and the body must come
  // at the rate below after a start.
  double header_seconds = 10, body_start_seconds = 10, body_bytes_per_second = 16384;
  double idle_seconds = 15;   // between the requests of a connection
  double write_seconds = 20;  // without any byte taken by the client
};

}  // namespace addp
