// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// These are the kinds of rows of a table of options. All have the key, when a change takes effect,
// what values there are, and help.
#include "control/option_numbers.h"
#include "control/option_texts.h"
