// SPDX-License-Identifier: BSD-3-Clause
// tributary/torch.py makes a backend of this.
#include <functional>
#include <memory>
#include <pybind11/functional.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <torch/csrc/utils/pybind.h>

#include "bindings/pytorch/c10d.h"
#include "bindings/pytorch/group.h"
#include "bindings/pytorch/watch.h"
#include "bindings/pytorch/without_gil.h"

namespace {

namespace py = pybind11;
using namespace py::literals;
using tributary::pytorch::Group;
using tributary::pytorch::group_base_name;
using tributary::pytorch::GroupBase;
using tributary::pytorch::Place;
using tributary::pytorch::Watch;
using tributary::pytorch::WithoutGil;

// This watch is for a communicator that belongs to no group of ours. Its thread may want Python's
// lock when it ends.
class ClosableWatch {
 public:
  ClosableWatch(const c10::intrusive_ptr<GroupBase>& connections, std::function<void()> on_gone) {
    if (connections->getSize() > 1) {
      watch_ = std::make_unique<Watch>(connections, std::move(on_gone));
    }
  }
  ClosableWatch(const ClosableWatch&) = delete;
  ClosableWatch& operator=(const ClosableWatch&) = delete;
  ~ClosableWatch() { close(); }

  std::string gone() const { return watch_ ? watch_->gone() : ""; }
  void close() {
    auto watch = std::move(watch_);
    const WithoutGil without_gil;
    watch.reset();
  }

 private:
  std::unique_ptr<Watch> watch_;
};

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
      .def("algorithm", &Group::algorithm, py::call_guard<py::gil_scoped_release>())
      .def("statistics", &Group::statistic, "name"_a, py::call_guard<py::gil_scoped_release>());
  py::class_<ClosableWatch>(module, "Watch")
      .def(py::init<c10::intrusive_ptr<GroupBase>, std::function<void()>>(), "connections"_a,
           "on_gone"_a)
      .def("gone", &ClosableWatch::gone)
      .def("close", &ClosableWatch::close);
}
