// SPDX-License-Identifier: BSD-3-Clause
#include "bindings/python/options.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <string_view>

#include "bindings/python/errors.h"

namespace tributary::python {

namespace py = pybind11;

namespace {

// These are torchrun's variables; all others begin with TRIBUTARY_.
constexpr std::array<std::string_view, 5> of_torchrun{"RANK", "WORLD_SIZE", "MASTER_ADDR",
                                                      "MASTER_PORT", "LOCAL_WORLD_SIZE"};

std::string variable_of(std::string name) {
  std::ranges::transform(name, name.begin(), [](unsigned char letter) {
    return static_cast<char>(std::toupper(letter));
  });
  return std::ranges::find(of_torchrun, name) == of_torchrun.end() ? "TRIBUTARY_" + name : name;
}

std::string text_of(const std::string& variable, const py::handle& value) {
  if (py::isinstance<py::bool_>(value)) {
    const bool is_true = value.cast<bool>();
    if (variable == "TRIBUTARY_REPRODUCIBLE") {
      return is_true ? "1" : "0";
    }
    return is_true ? "on" : "off";
  }
  if (py::isinstance<py::list>(value) || py::isinstance<py::tuple>(value)) {
    std::string all;
    for (const auto& one : value) {
      all += (all.empty() ? "" : ",") + py::str(one).cast<std::string>();
    }
    return all;
  }
  const auto timedelta = py::module_::import("datetime").attr("timedelta");
  if (py::isinstance(value, timedelta)) {
    return py::str(value.attr("total_seconds")()).cast<std::string>() + "s";
  }
  return py::str(value).cast<std::string>();
}

// Nobody catches what the callback raises: Python prints it.
void tell(void* context, const char* line) {
  const py::gil_scoped_acquire gil;
  try {
    static_cast<Notice*>(context)->told(line);
  } catch (py::error_already_set& error) {
    error.discard_as_unraisable("on_notice of a tributary.Communicator");
  }
}

}  // namespace

Options options_of(const py::dict& keywords) {
  tributary_options* created = nullptr;
  check(tributary_options_create(&created));
  Options options{decltype(Options::handle)(created), nullptr};
  for (const auto& [key, value] : keywords) {
    const auto name = key.cast<std::string>();
    if (name == "on_notice") {
      if (!value.is_none()) {
        options.notice =
            std::make_shared<Notice>(Notice{py::reinterpret_borrow<py::object>(value)});
        check(tributary_options_on_notice(created, tell, options.notice.get()));
      }
      continue;
    }
    if (name == "part") {
      if (value.cast<bool>()) {
        check(tributary_options_for_part(created));
      }
      continue;
    }
    const auto variable = variable_of(name);
    const auto text = value.is_none() ? std::string() : text_of(variable, value);
    check(
        tributary_options_set(created, variable.c_str(), value.is_none() ? nullptr : text.c_str()));
  }
  return options;
}

}  // namespace tributary::python
