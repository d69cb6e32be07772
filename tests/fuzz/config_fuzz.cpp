// SPDX-License-Identifier: BSD-3-Clause
// Any text is a configuration, and a fabric, or a list of placed errors; what loads equals itself.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "control/config_diff.h"
#include "control/loader.h"
#include "controller/fabric_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto fabric = tributary::controller::parse_fabric(text, "fuzz.toml");
  if (!fabric && (fabric.error().empty() || to_string(fabric.error()).empty())) {
    std::abort();
  }
  const auto loaded = tributary::control::parse_config(text, "fuzz.toml");
  if (!loaded) {
    if (loaded.error().empty() || to_string(loaded.error()).empty()) {
      std::abort();  // refused without a reason
    }
    return 0;
  }
  if (!tributary::control::diff(*loaded, *loaded).empty()) {
    std::abort();
  }
  return 0;
}
