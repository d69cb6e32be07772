// SPDX-License-Identifier: BSD-3-Clause
#include "bindings/pytorch/kind.h"

namespace tributary::pytorch {
namespace {

std::optional<tributary_type> type_of(at::ScalarType type) {
  switch (type) {
    case at::ScalarType::Float:
      return TRIBUTARY_F32;
    case at::ScalarType::Double:
      return TRIBUTARY_F64;
    case at::ScalarType::Half:
      return TRIBUTARY_F16;
    case at::ScalarType::BFloat16:
      return TRIBUTARY_BF16;
    case at::ScalarType::Byte:
    case at::ScalarType::Bool:
    case at::ScalarType::Char:
      return TRIBUTARY_I8;
    case at::ScalarType::Short:
      return TRIBUTARY_I16;
    case at::ScalarType::Int:
      return TRIBUTARY_I32;
    case at::ScalarType::Long:
      return TRIBUTARY_I64;
    default:
      return std::nullopt;
  }
}

std::optional<tributary_operator> operator_of(const c10d::ReduceOp& op) {
  switch (static_cast<c10d::ReduceOp::RedOpType>(op)) {
    case c10d::ReduceOp::SUM:
    case c10d::ReduceOp::AVG:
      return TRIBUTARY_SUM;
    case c10d::ReduceOp::PRODUCT:
      return TRIBUTARY_PROD;
    case c10d::ReduceOp::MIN:
      return TRIBUTARY_MIN;
    case c10d::ReduceOp::MAX:
      return TRIBUTARY_MAX;
    case c10d::ReduceOp::BAND:
      return TRIBUTARY_BIT_AND;
    case c10d::ReduceOp::BOR:
      return TRIBUTARY_BIT_OR;
    case c10d::ReduceOp::BXOR:
      return TRIBUTARY_BIT_XOR;
    default:
      return std::nullopt;
  }
}

// Bytes are signed on the wire: two of 200 would be compared as negative ones.
bool is_compared_wrongly(at::ScalarType type, tributary_operator op) {
  return type == at::ScalarType::Byte && (op == TRIBUTARY_MIN || op == TRIBUTARY_MAX);
}

// The sum of truths is one: a byte that is neither 0 nor 1 would be none.
bool is_truth(at::ScalarType type, tributary_operator op) {
  return type == at::ScalarType::Bool && op == TRIBUTARY_SUM;
}

}  // namespace

std::optional<Kind> kind_of(at::ScalarType type, const c10d::ReduceOp& op) {
  const auto wire_type = type_of(type);
  auto wire_op = operator_of(op);
  const bool divides = static_cast<c10d::ReduceOp::RedOpType>(op) == c10d::ReduceOp::AVG;
  if (!wire_type || !wire_op || tributary_has_operator(*wire_type, *wire_op) == 0 ||
      is_compared_wrongly(type, *wire_op) || (is_truth(type, *wire_op) && divides)) {
    return std::nullopt;
  }
  wire_op = is_truth(type, *wire_op) ? TRIBUTARY_LOGICAL_OR : *wire_op;
  return Kind{*wire_type, *wire_op, divides};
}

std::string name_of(const c10d::ReduceOp& op) {
  constexpr const char* names[] = {"sum", "avg", "product", "min", "max", "band", "bor", "bxor"};
  const auto number = static_cast<std::size_t>(static_cast<c10d::ReduceOp::RedOpType>(op));
  return number < std::size(names) ? names[number] : "another operator";
}

}  // namespace tributary::pytorch
