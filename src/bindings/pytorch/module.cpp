// SPDX-License-Identifier: BSD-3-Clause
// What tributary/torch.py makes a backend of.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <torch/csrc/utils/pybind.h>

#include "bindings/pytorch/c10d.h"
#include "bindings/pytorch/group.h"

namespace {

namespace py = pybind11;
using namespace py::literals;
using tributary::pytorch::Group;
using tributary::pytorch::group_base_name;
using tributary::pytorch::GroupBase;
using tributary::pytorch::Place;

}  // namespace

PYBIND11_MODULE(_torch, module) {
  module.doc() = "The process group of torch.distributed over Tributary";
  const auto c10d = py::module_::import("torch._C._distributed_c10d");
  using Class = py::class_<Group, c10::intrusive_ptr<Group>>;
  Class(module, "ProcessGroupTributary", c10d.attr(group_base_name))
      .def(py::init([](const c10::intrusive_ptr<c10d::Store>& store, int rank, int size,
                       bool is_part, std::map<std::string, std::string> variables,
                       const c10::intrusive_ptr<GroupBase>& rest) {
             return c10::make_intrusive<Group>(
                 store, Place{rank, size, is_part, std::move(variables)}, rest);
           }),
           "store"_a, "rank"_a, "size"_a, "is_part"_a, "variables"_a, "rest"_a,
           py::call_guard<py::gil_scoped_release>())
      .def("close", &Group::close, py::call_guard<py::gil_scoped_release>())
      .def("algorithm", &Group::algorithm)
      .def("statistics", &Group::statistic, "name"_a, py::call_guard<py::gil_scoped_release>());
}
