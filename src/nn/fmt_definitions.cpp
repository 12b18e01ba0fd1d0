// libtorch's include folder brings the headers of its own, newer fmt, which come before the
// system's in every file that uses torch, but libtorch exports none of their functions. Here they
// are defined once, from those same headers.
#include <fmt/format-inl.h>

#if FMT_VERSION >= 110000

namespace fmt {
inline namespace v12 {
namespace detail {
template auto dragonbox::to_decimal(float x) noexcept -> dragonbox::decimal_fp<float>;
template auto dragonbox::to_decimal(double x) noexcept -> dragonbox::decimal_fp<double>;
template auto thousands_sep_impl(locale_ref) -> thousands_sep_result<char>;
template auto decimal_point_impl(locale_ref) -> char;
}  // namespace detail
}  // namespace v12
}  // namespace fmt

#endif
