// SPDX-License-Identifier: BSD-3-Clause
#include "bindings/nccl/elements.h"

#include <algorithm>
#include <array>

namespace tributary::nccl {
namespace {

struct TypeRow {
  Type nccl;
  tributary_type type;
  // Sums and products of unsigned elements are those of signed ones; what is least and greatest is
  // not.
  bool is_unsigned;
};
constexpr std::array<TypeRow, 12> types{{
    {Type::i8, TRIBUTARY_I8, false},
    {Type::u8, TRIBUTARY_I8, true},
    {Type::i32, TRIBUTARY_I32, false},
    {Type::u32, TRIBUTARY_I32, true},
    {Type::i64, TRIBUTARY_I64, false},
    {Type::u64, TRIBUTARY_I64, true},
    {Type::f16, TRIBUTARY_F16, false},
    {Type::f32, TRIBUTARY_F32, false},
    {Type::f64, TRIBUTARY_F64, false},
    {Type::bf16, TRIBUTARY_BF16, false},
    {Type::f8e4m3, TRIBUTARY_F8E4M3, false},
    {Type::f8e5m2, TRIBUTARY_F8E5M2, false},
}};

struct OperatorRow {
  Operator nccl;
  tributary_operator op;
  bool compares;
};
constexpr std::array<OperatorRow, 4> operators{{
    {Operator::sum, TRIBUTARY_SUM, false},
    {Operator::prod, TRIBUTARY_PROD, false},
    {Operator::max, TRIBUTARY_MAX, true},
    {Operator::min, TRIBUTARY_MIN, true},
}};

}  // namespace

std::optional<Kind> kind_of(Type type, Operator op) {
  const auto* const of = std::ranges::find(types, type, &TypeRow::nccl);
  const auto* const by = std::ranges::find(operators, op, &OperatorRow::nccl);
  if (of == types.end() || by == operators.end() || (of->is_unsigned && by->compares) ||
      tributary_has_operator(of->type, by->op) == 0) {
    return std::nullopt;
  }
  return Kind{of->type, by->op};
}

}  // namespace tributary::nccl
