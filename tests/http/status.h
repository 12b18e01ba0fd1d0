// What a client would be answered.
#pragma once

#include "base/error.h"
#include "server/http/http_error.h"

namespace addp::testing {

// The status of the error that the call throws; 0 where it throws none.
template <class Call>
int status(const Call& call) {
  try {
    call();
    return 0;
  } catch (const HttpError& error) {
    return error.status();
  } catch (const DataError&) {
    return 400;
  }
}

}  // namespace addp::testing
