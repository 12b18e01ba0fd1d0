#include "nn/kernel/residual.h"

#include <ATen/record_function.h>

#include "machine/parallel.h"
#include "machine/precision.h"
#include "nn/kernel/dropping_keys.h"
#include "nn/kernel/elements.h"
#include "nn/kernel/simd/norm_kernels.h"
#include "nn/torch.h"

namespace addp {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Rows whose gradients of weight and bias are added in float. The shares of the pieces are added
// in their order, so that results do not depend on the number of threads.
constexpr std::int64_t kRows = 64;
constexpr std::int64_t kElements = 1 << 14;  // worth a thread

bool fusible(const Tensor& x) { return x.is_cpu() && !reference_arithmetic(); }
bool is_stream(const Tensor& x) { return fusible(x) && x.scalar_type() == torch::kFloat32; }

// Runs work(first, count) for spans of elements.
template <class Work>
void for_spans(std::int64_t elements, const Work& work) {
  for_parts(elements, kElements,
            [&](std::int64_t begin, std::int64_t end) { work(begin, end - begin); });
}

// Runs work(Element{}, first, count) for spans of the elements of `x`, of whichever kind they are.
template <class Work>
void for_spans_of(const Tensor& x, const Work& work) {
  with_elements(x, [&](auto element) {
    for_spans(x.numel(),
              [&](std::int64_t first, std::int64_t count) { work(element, first, count); });
  });
}

// Runs work(piece, rows) for pieces of at most kRows.
template <class Work>
void for_row_pieces(const NormRows& all, const Work& work) {
  const std::int64_t pieces = (all.rows + kRows - 1) / kRows;
  for_parts(pieces, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t piece = begin; piece < end; ++piece) {
      NormRows rows = all;
      rows.first_row = piece * kRows;
      rows.rows = std::min(kRows, all.rows - rows.first_row);
      work(piece, rows);
    }
  });
}

NormRows rows_of(const Tensor& x, const Tensor& weight, const Tensor& bias, double eps) {
  const std::int64_t width = weight.numel();
  return {.rows = x.numel() / width,
          .width = width,
          .weight = weight.const_data_ptr<float>(),
          .bias = bias.defined() ? bias.const_data_ptr<float>() : nullptr,
          .eps = eps};
}

struct NormOutput {
  Tensor sum, normed, mean, inverse;
};

// `branch` may be undefined: then `sum` is x itself.
NormOutput run_norm(const Tensor& x, const Tensor& branch, const Dropping& dropping,
                    const NormWeights& norm, torch::ScalarType type) {
  const NormRows all = rows_of(x, norm.weight, norm.bias, norm.eps);
  const NormOutput result{branch.defined() ? torch::empty_like(x) : x,
                          torch::empty(x.sizes(), x.options().dtype(type)),
                          torch::empty({all.rows}), torch::empty({all.rows})};
  RECORD_FUNCTION("addp::residual, layer norm",
                  std::vector<c10::IValue>({x, branch, result.sum, result.normed}));
  with_elements(result.normed, [&](auto element) {
    using Element = decltype(element);
    for_row_pieces(all, [&](std::int64_t, const NormRows& rows) {
      const std::int64_t at = rows.first_row * rows.width;
      norm_rows(rows, x.const_data_ptr<float>() + at,
                branch.defined() ? elements<Element>(branch) + at : nullptr, dropping,
                elements<float>(result.sum) + at, elements<Element>(result.normed) + at,
                {elements<float>(result.mean) + rows.first_row,
                 elements<float>(result.inverse) + rows.first_row});
    });
  });
  return result;
}

struct NormGradients {
  Tensor x, branch, weight, bias;
};

// `through` and, where `with_branch` is false, the branch may be undefined.
NormGradients run_norm_backward(const Tensor& x, const Tensor& outer, const Tensor& through,
                                const Tensor& weight, const Tensor& mean, const Tensor& inverse,
                                const Dropping& dropping, bool with_branch) {
  const NormRows all = rows_of(x, weight, {}, 0);
  const std::int64_t pieces = (all.rows + kRows - 1) / kRows;
  NormGradients result{.x = torch::empty_like(x), .branch = {}, .weight = {}, .bias = {}};
  if (with_branch) result.branch = torch::empty_like(outer);
  RECORD_FUNCTION("addp::residual, layer norm backward",
                  std::vector<c10::IValue>({x, outer, through, result.x, result.branch}));
  const Tensor parts = torch::zeros({pieces, 2, all.width});
  with_elements(outer, [&](auto element) {
    using Element = decltype(element);
    for_row_pieces(all, [&](std::int64_t piece, const NormRows& rows) {
      const std::int64_t at = rows.first_row * rows.width;
      float* own = elements<float>(parts) + piece * 2 * rows.width;
      norm_rows_backward(
          rows, elements<float>(x) + at, elements<Element>(outer) + at,
          through.defined() ? elements<float>(through) + at : nullptr,
          {elements<float>(mean) + rows.first_row, elements<float>(inverse) + rows.first_row},
          dropping, elements<float>(result.x) + at,
          with_branch ? elements<Element>(result.branch) + at : nullptr, own, own + rows.width);
    });
  });
  const Tensor sums = parts.sum(0);
  result.weight = sums[0];
  result.bias = sums[1];
  return result;
}

class FusedNorm : public torch::autograd::Function<FusedNorm> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& x, const Tensor& weight,
                        const Tensor& bias, double eps, torch::ScalarType type) {
    const NormOutput done = run_norm(x, {}, {}, {weight, bias, eps}, type);
    context->save_for_backward({x, weight, done.mean, done.inverse});
    return done.normed;
  }

  static variable_list backward(AutogradContext* context, variable_list outer) {
    const auto saved = context->get_saved_variables();
    const NormGradients g = run_norm_backward(saved[0], outer[0].contiguous(), {}, saved[1],
                                              saved[2], saved[3], {}, false);
    return {g.x, g.weight, g.bias, Tensor(), Tensor()};
  }
};

class FusedAddNorm : public torch::autograd::Function<FusedAddNorm> {
 public:
  static variable_list forward(AutogradContext* context, const Tensor& x, const Tensor& branch,
                               const Tensor& weight, const Tensor& bias, double eps,
                               const Dropping& dropping) {
    const NormOutput done =
        run_norm(x, branch, dropping, {weight, bias, eps}, branch.scalar_type());
    context->save_for_backward({done.sum, weight, done.mean, done.inverse});
    context->set_materialize_grads(false);
    remember(context, dropping);
    return {done.sum, done.normed};
  }

  static variable_list backward(AutogradContext* context, variable_list outer) {
    const auto saved = context->get_saved_variables();
    const Dropping dropping = remembered(context);
    const Tensor through = outer[0].defined() ? outer[0].contiguous() : Tensor();
    const NormGradients g = run_norm_backward(saved[0], outer[1].contiguous(), through, saved[1],
                                              saved[2], saved[3], dropping, true);
    return {g.x, g.branch, g.weight, g.bias, Tensor(), Tensor()};
  }
};

class FusedAdd : public torch::autograd::Function<FusedAdd> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& x, const Tensor& branch,
                        const Dropping& dropping) {
    remember(context, dropping);
    context->saved_data["type"] = branch.scalar_type();
    const Tensor sum = torch::empty_like(x);
    RECORD_FUNCTION("addp::residual", std::vector<c10::IValue>({x, branch, sum}));
    for_spans_of(branch, [&]<class Element>(Element, std::int64_t first, std::int64_t count) {
      add_span(elements<float>(x) + first, elements<Element>(branch) + first,
               elements<float>(sum) + first, first, count, dropping);
    });
    return sum;
  }

  static variable_list backward(AutogradContext* context, variable_list outer) {
    const Dropping dropping = remembered(context);
    const Tensor g = outer[0].contiguous();
    const Tensor branch =
        torch::empty(g.sizes(), g.options().dtype(context->saved_data["type"].toScalarType()));
    RECORD_FUNCTION("addp::residual backward", std::vector<c10::IValue>({g, branch}));
    for_spans_of(branch, [&]<class Element>(Element, std::int64_t first, std::int64_t count) {
      keep_span(elements<float>(g) + first, elements<Element>(branch) + first, first, count,
                dropping);
    });
    return {g, branch, Tensor()};
  }
};

class FusedGelu : public torch::autograd::Function<FusedGelu> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& x, const Dropping& dropping) {
    remember(context, dropping);
    context->save_for_backward({x});
    const Tensor out = torch::empty_like(x);
    RECORD_FUNCTION("addp::gelu", std::vector<c10::IValue>({x, out}));
    for_spans_of(x, [&]<class Element>(Element, std::int64_t first, std::int64_t count) {
      gelu_span(elements<Element>(x) + first, elements<Element>(out) + first, first, count,
                dropping);
    });
    return out;
  }

  static variable_list backward(AutogradContext* context, variable_list outer) {
    const Tensor x = context->get_saved_variables()[0];
    const Dropping dropping = remembered(context);
    const Tensor g = outer[0].contiguous();
    const Tensor out = torch::empty_like(x);
    RECORD_FUNCTION("addp::gelu backward", std::vector<c10::IValue>({x, g, out}));
    for_spans_of(x, [&]<class Element>(Element, std::int64_t first, std::int64_t count) {
      gelu_span_backward(elements<Element>(x) + first, elements<Element>(g) + first,
                         elements<Element>(out) + first, first, count, dropping);
    });
    return {out, Tensor()};
  }
};

}  // namespace

Tensor norm_for_product(const Tensor& x, const NormWeights& norm) {
  if (!is_stream(x))
    return at::layer_norm(x, norm.weight.sizes(), norm.weight, norm.bias, norm.eps);
  return FusedNorm::apply(x.contiguous(), norm.weight, norm.bias, norm.eps, product_type(x));
}

ResidualNorm add_and_norm(const Tensor& x, const Tensor& branch, double rate, DropoutKeys* keys,
                          const NormWeights& norm) {
  if (!is_stream(x) || !has_known_elements(branch) || branch.scalar_type() != product_type(x)) {
    const Tensor sum = add_branch(x, branch, rate, keys);
    return {sum, norm_for_product(sum, norm)};
  }
  const variable_list both =
      FusedAddNorm::apply(x.contiguous(), branch.contiguous(), norm.weight, norm.bias, norm.eps,
                          next_dropping(rate, keys, branch.numel()));
  return {both[0], both[1]};
}

Tensor add_branch(const Tensor& x, const Tensor& branch, double rate, DropoutKeys* keys) {
  if (!is_stream(x) || !has_known_elements(branch)) return x + dropout(branch, rate, keys);
  return FusedAdd::apply(x.contiguous(), branch.contiguous(),
                         next_dropping(rate, keys, branch.numel()));
}

Tensor gelu_dropout(const Tensor& x, double rate, DropoutKeys* keys) {
  const bool drops = keys != nullptr && rate > 0;
  const bool faster = drops || x.scalar_type() == torch::kBFloat16;
  if (!faster || !fusible(x) || !has_known_elements(x)) return dropout(at::gelu(x), rate, keys);
  return FusedGelu::apply(x.contiguous(), next_dropping(rate, keys, x.numel()));
}

}  // namespace addp
