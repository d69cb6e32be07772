/* SPDX-License-Identifier: BSD-3-Clause */
#include "bindings/mpi/elements.h"

/* MPI's kinds of types: which operators they have, and what their bits are. */
enum kind { C_SIGNED, C_UNSIGNED, FORTRAN_INTEGER, BYTE, LOGICAL, FLOAT, COMPLEX, PAIR };

struct type_row {
  MPI_Datatype mpi;
  enum kind kind;
  tributary_type pair; /* of a PAIR; of the others the size says which type it is */
};

static const struct type_row types[] = {
    {MPI_SIGNED_CHAR, C_SIGNED, 0},
    {MPI_SHORT, C_SIGNED, 0},
    {MPI_INT, C_SIGNED, 0},
    {MPI_LONG, C_SIGNED, 0},
    {MPI_LONG_LONG, C_SIGNED, 0},
    {MPI_INT8_T, C_SIGNED, 0},
    {MPI_INT16_T, C_SIGNED, 0},
    {MPI_INT32_T, C_SIGNED, 0},
    {MPI_INT64_T, C_SIGNED, 0},
    {MPI_UNSIGNED_CHAR, C_UNSIGNED, 0},
    {MPI_UNSIGNED_SHORT, C_UNSIGNED, 0},
    {MPI_UNSIGNED, C_UNSIGNED, 0},
    {MPI_UNSIGNED_LONG, C_UNSIGNED, 0},
    {MPI_UNSIGNED_LONG_LONG, C_UNSIGNED, 0},
    {MPI_UINT8_T, C_UNSIGNED, 0},
    {MPI_UINT16_T, C_UNSIGNED, 0},
    {MPI_UINT32_T, C_UNSIGNED, 0},
    {MPI_UINT64_T, C_UNSIGNED, 0},
    /* These are integers of C and of Fortran, and have the operators of both. */
    {MPI_AINT, C_SIGNED, 0},
    {MPI_OFFSET, C_SIGNED, 0},
    {MPI_COUNT, C_SIGNED, 0},
    {MPI_INTEGER, FORTRAN_INTEGER, 0},
#ifdef MPI_INTEGER1
    {MPI_INTEGER1, FORTRAN_INTEGER, 0},
#endif
#ifdef MPI_INTEGER2
    {MPI_INTEGER2, FORTRAN_INTEGER, 0},
#endif
#ifdef MPI_INTEGER4
    {MPI_INTEGER4, FORTRAN_INTEGER, 0},
#endif
#ifdef MPI_INTEGER8
    {MPI_INTEGER8, FORTRAN_INTEGER, 0},
#endif
    {MPI_BYTE, BYTE, 0},
    /* Both libraries know truths by their being zero or not, and so does Tributary. */
    {MPI_C_BOOL, LOGICAL, 0},
    {MPI_CXX_BOOL, LOGICAL, 0},
    {MPI_LOGICAL, LOGICAL, 0},
    {MPI_FLOAT, FLOAT, 0},
    {MPI_DOUBLE, FLOAT, 0},
    {MPI_REAL, FLOAT, 0},
    {MPI_DOUBLE_PRECISION, FLOAT, 0},
#ifdef MPI_REAL4
    {MPI_REAL4, FLOAT, 0},
#endif
#ifdef MPI_REAL8
    {MPI_REAL8, FLOAT, 0},
#endif
    {MPI_C_FLOAT_COMPLEX, COMPLEX, 0},
    {MPI_C_DOUBLE_COMPLEX, COMPLEX, 0},
    {MPI_CXX_FLOAT_COMPLEX, COMPLEX, 0},
    {MPI_CXX_DOUBLE_COMPLEX, COMPLEX, 0},
    {MPI_COMPLEX, COMPLEX, 0},
    {MPI_DOUBLE_COMPLEX, COMPLEX, 0},
#ifdef MPI_COMPLEX8
    {MPI_COMPLEX8, COMPLEX, 0},
#endif
#ifdef MPI_COMPLEX16
    {MPI_COMPLEX16, COMPLEX, 0},
#endif
    {MPI_FLOAT_INT, PAIR, TRIBUTARY_F32_I32},
    {MPI_DOUBLE_INT, PAIR, TRIBUTARY_F64_I32},
    {MPI_2INT, PAIR, TRIBUTARY_I32_I32},
    {MPI_2INTEGER, PAIR, TRIBUTARY_I32_I32},
#if __SIZEOF_LONG__ == 8
    {MPI_LONG_INT, PAIR, TRIBUTARY_I64_I32},
#endif
};

struct op_row {
  MPI_Op mpi;
  tributary_operator op;
  unsigned kinds; /* that have it, and for which it is the same one; a bit of each */
};

#define HAS(kind) (1U << (kind))
#define INTEGERS (HAS(C_SIGNED) | HAS(C_UNSIGNED) | HAS(FORTRAN_INTEGER))
/* The order of unsigned integers is not that of the signed ones as which they go. */
#define ORDERED (HAS(C_SIGNED) | HAS(FORTRAN_INTEGER) | HAS(FLOAT))
#define TRUTHS (HAS(C_SIGNED) | HAS(C_UNSIGNED) | HAS(LOGICAL))

static const struct op_row ops[] = {
    {MPI_SUM, TRIBUTARY_SUM, INTEGERS | HAS(FLOAT) | HAS(COMPLEX)},
    {MPI_PROD, TRIBUTARY_PROD, INTEGERS | HAS(FLOAT)},
    {MPI_MIN, TRIBUTARY_MIN, ORDERED},
    {MPI_MAX, TRIBUTARY_MAX, ORDERED},
    {MPI_BAND, TRIBUTARY_BIT_AND, INTEGERS | HAS(BYTE)},
    {MPI_BOR, TRIBUTARY_BIT_OR, INTEGERS | HAS(BYTE)},
    {MPI_BXOR, TRIBUTARY_BIT_XOR, INTEGERS | HAS(BYTE)},
    {MPI_LAND, TRIBUTARY_LOGICAL_AND, TRUTHS},
    {MPI_LOR, TRIBUTARY_LOGICAL_OR, TRUTHS},
    {MPI_LXOR, TRIBUTARY_LOGICAL_XOR, TRUTHS},
    {MPI_MINLOC, TRIBUTARY_MINLOC, HAS(PAIR)},
    {MPI_MAXLOC, TRIBUTARY_MAXLOC, HAS(PAIR)},
};

static const struct type_row* row_of(MPI_Datatype type) {
  /* MPI libraries without Fortran have null in place of its types. */
  for (size_t i = 0; type != MPI_DATATYPE_NULL && i < sizeof types / sizeof *types; ++i) {
    if (types[i].mpi == type) {
      return &types[i];
    }
  }
  return NULL;
}

static bool integer_of(int bytes, tributary_type* type) {
  switch (bytes) {
    case 1:
      *type = TRIBUTARY_I8;
      return true;
    case 2:
      *type = TRIBUTARY_I16;
      return true;
    case 4:
      *type = TRIBUTARY_I32;
      return true;
    case 8:
      *type = TRIBUTARY_I64;
      return true;
    default:
      return false;
  }
}

static bool float_of(int bytes, tributary_type* type) {
  *type = bytes == 4 ? TRIBUTARY_F32 : TRIBUTARY_F64;
  return bytes == 4 || bytes == 8;
}

/* The bytes of a type are what the compilers, of Fortran too, made of it. */
static bool type_of(const struct type_row* row, tributary_type* type) {
  int bytes = 0;
  if (row->kind == PAIR) {
    MPI_Aint begin = 0;
    MPI_Aint extent = 0;
    *type = row->pair;
    return PMPI_Type_get_extent(row->mpi, &begin, &extent) == MPI_SUCCESS && begin == 0 &&
           (size_t)extent == tributary_type_size(row->pair);
  }
  if (PMPI_Type_size(row->mpi, &bytes) != MPI_SUCCESS) {
    return false;
  }
  switch (row->kind) {
    case FLOAT:
      return float_of(bytes, type);
    case COMPLEX:
      return float_of(bytes / 2, type);
    default:
      return integer_of(bytes, type);
  }
}

bool tributary_mpi_elements_of(MPI_Datatype mpi_type, MPI_Op op,
                               struct tributary_mpi_elements* elements) {
  const struct type_row* row = row_of(mpi_type);
  tributary_type type;
  if (row == NULL || !type_of(row, &type)) {
    return false;
  }
  for (size_t i = 0; i < sizeof ops / sizeof *ops; ++i) {
    if (ops[i].mpi == op && (ops[i].kinds & HAS(row->kind)) != 0) {
      elements->type = type;
      elements->op = ops[i].op;
      elements->each = row->kind == COMPLEX ? 2 : 1;
      return true;
    }
  }
  return false;
}

size_t tributary_mpi_bytes(MPI_Datatype type, int count) {
  MPI_Count each = 0;
  /* The null type is MPI's to refuse, by the communicator's error handler. */
  if (type == MPI_DATATYPE_NULL || count <= 0 || PMPI_Type_size_x(type, &each) != MPI_SUCCESS ||
      each <= 0) {
    return 0;
  }
  return (size_t)each * (size_t)count;
}

static bool is_named(MPI_Datatype type) {
  int combiner = MPI_COMBINER_DUP;
#if MPI_VERSION >= 4 /* the other call refuses types that were made with large counts */
  MPI_Count integers = 0;
  MPI_Count addresses = 0;
  MPI_Count large_counts = 0;
  MPI_Count types_in_it = 0;
  return PMPI_Type_get_envelope_c(type, &integers, &addresses, &large_counts, &types_in_it,
                                  &combiner) == MPI_SUCCESS &&
         combiner == MPI_COMBINER_NAMED;
#else
  int integers = 0;
  int addresses = 0;
  int types_in_it = 0;
  return PMPI_Type_get_envelope(type, &integers, &addresses, &types_in_it, &combiner) ==
             MPI_SUCCESS &&
         combiner == MPI_COMBINER_NAMED;
#endif
}

bool tributary_mpi_is_plain(MPI_Datatype type) {
  MPI_Count bytes = 0;
  MPI_Aint lower_bound = 0;
  MPI_Aint extent = 0;
  return is_named(type) && PMPI_Type_size_x(type, &bytes) == MPI_SUCCESS &&
         PMPI_Type_get_extent(type, &lower_bound, &extent) == MPI_SUCCESS && lower_bound == 0 &&
         bytes == extent;
}
