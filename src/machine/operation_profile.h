// What a piece of work asks of the machine, as torch sees its operations come by: time,
// floating-point operations and bytes by kind of layer.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace addp {

// The work of one kind. Time is the kind's own: what an operation calls that is of another kind is
// counted there.
struct OperationRow {
  std::string kind;
  std::int64_t calls = 0;
  double seconds = 0;
  double flop = 0;   // of products and convolutions; a multiplication and an addition are two
  double bytes = 0;  // of the tensors that go in and come out
};

// Watches this thread from its construction on. One at a time.
class OperationProfile {
 public:
  OperationProfile();
  ~OperationProfile();
  OperationProfile(const OperationProfile&) = delete;
  OperationProfile& operator=(const OperationProfile&) = delete;

  double products() const;      // floating-point operations, those of attention among them
  double convolutions() const;  // the same of convolutions
  std::vector<OperationRow> rows() const;  // the slowest kind first

 private:
  std::uint64_t callback_;
};

}  // namespace addp
