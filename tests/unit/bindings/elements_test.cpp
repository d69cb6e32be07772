// SPDX-License-Identifier: BSD-3-Clause
#include "bindings/mpi/elements.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

namespace tributary::bindings {
namespace {

struct Mapped {
  tributary_type type;
  tributary_operator op;
  std::size_t each;
  bool operator==(const Mapped&) const = default;
};

std::optional<Mapped> map(MPI_Datatype type, MPI_Op op) {
  tributary_mpi_elements elements{};
  if (!tributary_mpi_elements_of(type, op, &elements)) {
    return std::nullopt;
  }
  return Mapped{elements.type, elements.op, elements.each};
}

const std::vector<MPI_Op>& all_operators() {
  static const std::vector<MPI_Op> all{MPI_SUM,  MPI_PROD, MPI_MIN,    MPI_MAX,
                                       MPI_BAND, MPI_BOR,  MPI_BXOR,   MPI_LAND,
                                       MPI_LOR,  MPI_LXOR, MPI_MINLOC, MPI_MAXLOC};
  return all;
}

void expect_just(MPI_Datatype type, tributary_type ours, const std::vector<MPI_Op>& operators,
                 std::size_t each = 1) {
  for (const auto op : all_operators()) {
    const bool expected = std::ranges::find(operators, op) != operators.end();
    const auto mapped = map(type, op);
    ASSERT_EQ(mapped.has_value(), expected);
    if (mapped) {
      EXPECT_EQ(mapped->type, ours);
      EXPECT_EQ(mapped->each, each);
      EXPECT_EQ(tributary_has_operator(mapped->type, mapped->op), 1);
    }
  }
}

const std::vector<MPI_Op> of_bits{MPI_BAND, MPI_BOR, MPI_BXOR};
const std::vector<MPI_Op> of_truths{MPI_LAND, MPI_LOR, MPI_LXOR};
const std::vector<MPI_Op> of_signed{MPI_SUM, MPI_PROD, MPI_MIN,  MPI_MAX, MPI_BAND,
                                    MPI_BOR, MPI_BXOR, MPI_LAND, MPI_LOR, MPI_LXOR};
const std::vector<MPI_Op> of_unsigned{MPI_SUM,  MPI_PROD, MPI_BAND, MPI_BOR,
                                      MPI_BXOR, MPI_LAND, MPI_LOR,  MPI_LXOR};
const std::vector<MPI_Op> of_floats{MPI_SUM, MPI_PROD, MPI_MIN, MPI_MAX};
const std::vector<MPI_Op> of_pairs{MPI_MINLOC, MPI_MAXLOC};

TEST(MpiElements, SignedIntegersHaveAllOperatorsButThoseOfPairs) {
  expect_just(MPI_SIGNED_CHAR, TRIBUTARY_I8, of_signed);
  expect_just(MPI_SHORT, TRIBUTARY_I16, of_signed);
  expect_just(MPI_INT, TRIBUTARY_I32, of_signed);
  expect_just(MPI_LONG, sizeof(long) == 8 ? TRIBUTARY_I64 : TRIBUTARY_I32, of_signed);
  expect_just(MPI_INT64_T, TRIBUTARY_I64, of_signed);
}

TEST(MpiElements, UnsignedIntegersHaveNoOrder) {
  expect_just(MPI_UNSIGNED_CHAR, TRIBUTARY_I8, of_unsigned);
  expect_just(MPI_UINT16_T, TRIBUTARY_I16, of_unsigned);
  expect_just(MPI_UNSIGNED, TRIBUTARY_I32, of_unsigned);
  expect_just(MPI_UNSIGNED_LONG_LONG, TRIBUTARY_I64, of_unsigned);
}

TEST(MpiElements, BytesHaveBitsAndBooleansTruths) {
  expect_just(MPI_BYTE, TRIBUTARY_I8, of_bits);
  expect_just(MPI_C_BOOL, TRIBUTARY_I8, of_truths);
}

TEST(MpiElements, FloatsAndComplexNumbers) {
  expect_just(MPI_FLOAT, TRIBUTARY_F32, of_floats);
  expect_just(MPI_DOUBLE, TRIBUTARY_F64, of_floats);
  expect_just(MPI_C_FLOAT_COMPLEX, TRIBUTARY_F32, {MPI_SUM}, 2);
  expect_just(MPI_C_DOUBLE_COMPLEX, TRIBUTARY_F64, {MPI_SUM}, 2);
  expect_just(MPI_LONG_DOUBLE, TRIBUTARY_F64, {});
}

TEST(MpiElements, PairsLieAsTributaryHasThem) {
  expect_just(MPI_FLOAT_INT, TRIBUTARY_F32_I32, of_pairs);
  expect_just(MPI_DOUBLE_INT, TRIBUTARY_F64_I32, of_pairs);
  expect_just(MPI_2INT, TRIBUTARY_I32_I32, of_pairs);
  expect_just(MPI_LONG_INT, TRIBUTARY_I64_I32, of_pairs);
  expect_just(MPI_SHORT_INT, TRIBUTARY_I32_I32, {});
  expect_just(MPI_LONG_DOUBLE_INT, TRIBUTARY_F64_I32, {});
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  MPI_Type_get_extent(MPI_DOUBLE_INT, &lower, &extent);
  EXPECT_EQ(static_cast<std::size_t>(extent), tributary_type_size(TRIBUTARY_F64_I32));
}

TEST(MpiElements, WhatIsNotPredefinedIsNotMapped) {
  MPI_Datatype four = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(4, MPI_INT, &four);
  MPI_Type_commit(&four);
  EXPECT_EQ(map(four, MPI_SUM), std::nullopt);
  EXPECT_EQ(map(MPI_CHAR, MPI_SUM), std::nullopt);
  EXPECT_EQ(map(MPI_DATATYPE_NULL, MPI_SUM), std::nullopt);
  EXPECT_EQ(map(MPI_INT, MPI_REPLACE), std::nullopt);
  EXPECT_EQ(tributary_mpi_bytes(four, 3), 48U);
  EXPECT_FALSE(tributary_mpi_is_plain(four));
  MPI_Type_free(&four);
}

TEST(MpiElements, WhatHasGapsIsNotPlain) {
  EXPECT_TRUE(tributary_mpi_is_plain(MPI_INT));
  EXPECT_TRUE(tributary_mpi_is_plain(MPI_2INT));
  EXPECT_FALSE(tributary_mpi_is_plain(MPI_DOUBLE_INT));
}

}  // namespace
}  // namespace tributary::bindings
