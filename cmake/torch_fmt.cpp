// The compiled part of the fmt that libtorch's headers bring along. They come before the system's
// fmt, are of another version, and the wheel exports none of its functions.
#include <fmt/format-inl.h>

template FMT_API auto fmt::detail::thousands_sep_impl(locale_ref) -> thousands_sep_result<char>;
template FMT_API auto fmt::detail::decimal_point_impl(locale_ref) -> char;
template FMT_API auto fmt::detail::dragonbox::to_decimal(float) noexcept
    -> dragonbox::decimal_fp<float>;
template FMT_API auto fmt::detail::dragonbox::to_decimal(double) noexcept
    -> dragonbox::decimal_fp<double>;
template FMT_API void fmt::detail::buffer<char>::append(const char*, const char*);
