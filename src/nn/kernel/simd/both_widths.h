// The file of bodies that ADDP_BODIES names, for both lengths of vectors. No include guard:
// included once by each file of kernels, in its anonymous namespace.

namespace eight {
using namespace simd::eight;
#include ADDP_BODIES
}  // namespace eight

namespace sixteen {
using namespace simd::sixteen;
#include ADDP_BODIES
}  // namespace sixteen

#undef ADDP_BODIES
