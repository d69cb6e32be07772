// SPDX-License-Identifier: BSD-3-Clause
// Python sees this; src/bindings/python/tributary/__init__.pyi has the same with types.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "bindings/python/communicator.h"
#include "bindings/python/elements.h"
#include "bindings/python/endings.h"
#include "bindings/python/errors.h"
#include "bindings/python/gradient_exchange.h"
#include "bindings/python/request.h"
#include "bindings/python/sketch.h"
#include "bindings/python/whole.h"

namespace {

namespace py = pybind11;
using namespace py::literals;
using tributary::python::Communicator;
using tributary::python::Dtype;
using tributary::python::Endings;
using tributary::python::GradientExchange;
using tributary::python::Request;
using tributary::python::Root;
using tributary::python::Sketch;
using tributary::python::Whole;

using Bits = Whole<unsigned, "bits">;
using Seed = Whole<std::uint64_t, "seed">;
using Number = Whole<unsigned, "number">;  // of a handler
using Layers = std::vector<Whole<std::size_t, "layers">>;

py::object await(const py::object& request) {
  return py::module_::import("tributary.awaiting").attr("outcome")(request).attr("__await__")();
}

void leave(Communicator& self, const py::object& type, const py::object&, const py::object&) {
  if (!type.is_none() && !self.is_closed()) {
    self.abort();
  }
  self.close();
}

void leave_exchange(GradientExchange& self, const py::object& type, const py::object&,
                    const py::object&) {
  if (type.is_none()) {
    self.close();
  } else if (!self.is_closed()) {
    self.abort();
  }
}

void add_request(py::module_& module) {
  py::class_<Endings, std::shared_ptr<Endings>>(module, "_Endings")
      .def(py::init())
      .def("fileno", &Endings::descriptor)
      .def("take", &Endings::take);
  py::class_<Request>(module, "Request",
                      "A collective that was posted. It can be awaited in asyncio, too.")
      .def("test", &Request::test, "Whether it is done; raises a tributary.Error if it has failed.")
      .def("wait", &Request::wait, "timeout"_a = py::none(),
           "Returns the buffer that has the result. Raises TimeoutError after so many seconds: the "
           "collective goes on then. Raises a tributary.Error if it has failed.")
      .def("_has_ended", &Request::has_ended)
      .def("_seconds_left", &Request::seconds_left)
      .def("_tell", &Request::tell, "endings"_a, "number"_a)
      .def("__await__", &await);
  module.def("wait_any", &Request::wait_any, "requests"_a, "timeout"_a = py::none(),
             "Returns the one of these requests that ends first, be it with an error: its wait() "
             "returns or raises at once. Raises TimeoutError after so many seconds.");
}

void add_collectives(py::class_<Communicator>& type) {
  const auto none = py::none();
  type.def(
          "allreduce",
          [](Communicator& self, const py::object& buffer, const std::string& op,
             const py::object& out, const Dtype& dtype, const py::object& deadline) {
            return self.finish(self.iallreduce(buffer, op, out, dtype, deadline));
          },
          "buffer"_a, "op"_a = "sum", "out"_a = none, py::kw_only(), "dtype"_a = none,
          "deadline"_a = none,
          "Combines the buffers of all ranks, element by element, into `out`, or in place. "
          "Returns the buffer with the result.")
      .def(
          "reduce",
          [](Communicator& self, const py::object& buffer, Root root, const std::string& op,
             const py::object& out, const Dtype& dtype, const py::object& deadline) {
            return self.finish(self.ireduce(buffer, root, op, out, dtype, deadline));
          },
          "buffer"_a, "root"_a = 0, "op"_a = "sum", "out"_a = none, py::kw_only(), "dtype"_a = none,
          "deadline"_a = none, "As allreduce, with the result at `root` alone; others get None.")
      .def(
          "broadcast",
          [](Communicator& self, const py::object& buffer, Root root, const py::object& deadline) {
            return self.finish(self.ibroadcast(buffer, root, deadline));
          },
          "buffer"_a, "root"_a = 0, py::kw_only(), "deadline"_a = none,
          "Copies the buffer of `root` into that of all others.")
      .def(
          "barrier",
          [](Communicator& self, const py::object& deadline) {
            self.finish(self.ibarrier(deadline));
          },
          py::kw_only(), "deadline"_a = none, "Returns when all ranks have called it.")
      .def(
          "allgather",
          [](Communicator& self, const py::object& buffer, const py::object& out,
             const py::object& deadline) {
            return self.finish(self.iallgather(buffer, out, deadline));
          },
          "buffer"_a, "out"_a, py::kw_only(), "deadline"_a = none,
          "Puts the buffers of all ranks, by rank, into `out`, which is so many times as long.")
      .def(
          "reduce_scatter",
          [](Communicator& self, const py::object& buffer, const py::object& out,
             const std::string& op, const Dtype& dtype, const py::object& deadline) {
            return self.finish(self.ireduce_scatter(buffer, out, op, dtype, deadline));
          },
          "buffer"_a, "out"_a, "op"_a = "sum", py::kw_only(), "dtype"_a = none, "deadline"_a = none,
          "Of the combined buffers of all ranks, this rank's part into `out`.")
      .def(
          "sketched_allreduce",
          [](Communicator& self, const py::object& buffer, const Sketch& sketch,
             const py::object& out, const py::object& deadline) {
            return self.finish(self.isketched_allreduce(buffer, sketch, out, deadline));
          },
          "buffer"_a, "sketch"_a, "out"_a = none, py::kw_only(), "deadline"_a = none,
          "Adds up the buffers of all ranks, of float32, each element rounded to the sketch's "
          "bits. Returns the buffer with the result.");
}

void add_posted_collectives(py::class_<Communicator>& type) {
  const auto none = py::none();
  type.def("iallreduce", &Communicator::iallreduce, "buffer"_a, "op"_a = "sum", "out"_a = none,
           py::kw_only(), "dtype"_a = none, "deadline"_a = none,
           "As allreduce; returns a Request at once.")
      .def("ireduce", &Communicator::ireduce, "buffer"_a, "root"_a = 0, "op"_a = "sum",
           "out"_a = none, py::kw_only(), "dtype"_a = none, "deadline"_a = none,
           "As reduce; returns a Request at once.")
      .def("ibroadcast", &Communicator::ibroadcast, "buffer"_a, "root"_a = 0, py::kw_only(),
           "deadline"_a = none, "As broadcast; returns a Request at once.")
      .def("ibarrier", &Communicator::ibarrier, py::kw_only(), "deadline"_a = none,
           "As barrier; returns a Request at once.")
      .def("iallgather", &Communicator::iallgather, "buffer"_a, "out"_a, py::kw_only(),
           "deadline"_a = none, "As allgather; returns a Request at once.")
      .def("ireduce_scatter", &Communicator::ireduce_scatter, "buffer"_a, "out"_a, "op"_a = "sum",
           py::kw_only(), "dtype"_a = none, "deadline"_a = none,
           "As reduce_scatter; returns a Request at once.")
      .def("isketched_allreduce", &Communicator::isketched_allreduce, "buffer"_a, "sketch"_a,
           "out"_a = none, py::kw_only(), "deadline"_a = none,
           "As sketched_allreduce; returns a Request at once.");
}

void add_sketch(py::module_& module) {
  py::class_<Sketch>(module, "Sketch",
                     "How one of a rank's vectors, a layer's gradient say, goes sketched from call "
                     "to call. All ranks have sketches of the same count, layers, kind and bits.")
      .def(py::init<Whole<std::size_t, "count">, const std::string&, Bits, const std::string&, bool,
                    Seed>(),
           "count"_a, py::kw_only(), "kind"_a = "grid", "bits"_a = 8, "rounding"_a = "stochastic",
           "feedback"_a = true, "seed"_a = 0)
      .def_static(
          "of_layers",
          [](const Layers& layers, Bits bits, const std::string& rounding, bool feedback,
             Seed seed) {
            return Sketch::of_layers({layers.begin(), layers.end()}, bits, rounding, feedback,
                                     seed);
          },
          "layers"_a, py::kw_only(), "bits"_a = 8, "rounding"_a = "stochastic", "feedback"_a = true,
          "seed"_a = 0,
          "For vectors of layers with so many elements each, on a grid on which no two "
          "layers share a unit.")
      .def_static(
          "low_rank",
          [](Whole<std::size_t, "rows"> rows, Whole<std::size_t, "columns"> columns,
             Whole<std::size_t, "rank"> rank, Bits bits, const std::string& rounding, bool feedback,
             Seed seed) {
            return Sketch::low_rank(rows, columns, rank, bits, rounding, feedback, seed);
          },
          "rows"_a, "columns"_a, "rank"_a, py::kw_only(), "bits"_a = 8, "rounding"_a = "stochastic",
          "feedback"_a = true, "seed"_a = 0,
          "For matrices, row by row, that go as two factors of that rank, whose elements "
          "take so many bits; of 32 they are floats.")
      .def_property_readonly("count", &Sketch::count, "Elements of the vectors that it is for.")
      .def("residual", &Sketch::residual,
           "A copy of what was rounded off and is kept back for the next call; None without "
           "feedback. Not while a collective has the sketch.");
}

void add_handlers(py::module_& module) {
  module.def(
      "load_handler",
      [](Number number, const std::string& expression, const std::string& dtype) {
        tributary::python::check(tributary_handler_load(number, expression.c_str(),
                                                        tributary::python::type_named(dtype)));
      },
      "number"_a, "expression"_a, "dtype"_a,
      "From now on op='handler:NUMBER' combines elements of that type by the expression, as "
      "'acc = min(acc + in, 127);'. All ranks load the same one.");
  module.def(
      "load_handler_file",
      [](Number number, const std::string& path) {
        tributary::python::check(tributary_handler_load_file(number, path.c_str()));
      },
      "number"_a, "path"_a,
      "The same of a shared object built against tributary-handler.h, which knows its type.");
}

void add_communicator(py::module_& module) {
  py::class_<Communicator> type(
      module, "Communicator",
      "A group of processes, the ranks, that call the same collectives in the same order.\n\n"
      "Options are those of the environment (RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT and the "
      "TRIBUTARY_ variables), unless a keyword says otherwise: algorithm='ring' is "
      "TRIBUTARY_ALGORITHM=ring, rank=0 is RANK=0, and None is as if there were no such variable. "
      "on_notice is called with what people should know, a line at a time.");
  type.def(py::init<const py::kwargs&>())
      .def_property_readonly("rank", &Communicator::rank, "The number of this process.")
      .def_property_readonly("size", &Communicator::size, "How many ranks there are.")
      .def_property_readonly("algorithm", &Communicator::algorithm,
                             "By which it runs: 'canary', 'ring'.")
      .def_property_readonly("closed", &Communicator::is_closed, "Whether close() was called.")
      .def("statistics", &Communicator::statistic, "name"_a,
           "What was counted by that name, as blocks_in_network.")
      .def(
          "partial_results", &Communicator::partial_results,
          "Of the last allreduce, reduce or reduce_scatter, where sums may lack ranks (panama with "
          "share=0.88): a list of (first element, count, missing ranks). Others have all ranks in "
          "them. Ask before the next collective is posted.")
      .def(
          "split", &Communicator::split, "color"_a, "key"_a = 0,
          "All ranks call it. Those of one colour get a communicator of their own, in the order of "
          "their keys; those without one (None) get None.")
      .def("regroup", &Communicator::regroup, "size"_a = 0,
           "Of an elastic world (membership='elastic'): all members call it, behind the same "
           "collectives or after one that failed, and get the communicator of the next membership. "
           "Those that are gone are left out, who waits to join is taken in; others are waited for "
           "until there are `size` ranks. This communicator ends.")
      .def_property_readonly("membership", &Communicator::membership,
                             "Of an elastic world: a dict of 'epoch', which counts memberships "
                             "(0: the world is fixed), 'newcomers', 'waiting' and 'ended'.")
      .def("abort", &Communicator::abort,
           "Ends what is outstanding, and all that comes later, with tributary.AbortedError.")
      .def("close", &Communicator::close,
           "Waits for what was posted, and for the other ranks, up to two seconds.")
      .def("__enter__", [](const py::object& self) { return self; })
      .def("__exit__", &leave);
  add_collectives(type);
  add_posted_collectives(type);
}

// Returns null before the object was constructed, as others run meanwhile.
GradientExchange* exchange_in(PyObject* object) {
  auto* const instance = reinterpret_cast<py::detail::instance*>(object);
  if (!instance->simple_layout) {  // it has none yet
    return nullptr;
  }
  const auto held = instance->get_value_and_holder();
  return held.holder_constructed() ? static_cast<GradientExchange*>(held.value_ptr()) : nullptr;
}

// Python's garbage collector ends an exchange that only what it calls refers to.
void collect_exchanges(PyHeapTypeObject* heap_type) {
  auto& type = heap_type->ht_type;
  type.tp_flags |= Py_TPFLAGS_HAVE_GC;
  type.tp_traverse = [](PyObject* self, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(self));
    if (const auto* const exchange = exchange_in(self)) {
      Py_VISIT(exchange->what_applies().ptr());
    }
    return 0;
  };
  type.tp_clear = [](PyObject* self) {
    if (auto* const exchange = exchange_in(self)) {
      exchange->let_go();
    }
    return 0;
  };
  // pybind11 before 2.10.4 leaves it tracked, and Python runs before it is gone.
  type.tp_dealloc = [](PyObject* self) {
    PyObject_GC_UnTrack(self);
    py::detail::pybind11_object_dealloc(self);
  };
}

void add_gradient_exchange(py::module_& module) {
  py::class_<GradientExchange>(
      module, "GradientExchange", py::custom_type_setup(collect_exchanges),
      "Gradients of ranks that train at speeds of their own, added up layer by layer of those that "
      "have them: synchrony='bsp', 'ssp' (nobody is more than `staleness` iterations behind) or "
      "'asp'.\n\n"
      "All ranks make it, with the same layers (the elements of each), and have the communicator "
      "back when it is closed. apply(layer, values, contributors, iteration) is called for each "
      "sum, the same ones in the same order on all ranks, within enter() and close(): the values "
      "are float32, the contributors the ranks that are in it, each once, and the iteration that "
      "of their gradients, the latest if they are of several. `parameters` is the float32 memory "
      "of everything that apply changes; asp and stale='drop' need it. With fewer than 32 bits the "
      "sums are of sketches of the gradients, as in Sketch.")
      .def(py::init([](const Communicator& communicator, const Layers& layers, py::object apply,
                       const py::object& parameters, const std::string& synchrony,
                       Whole<std::uint32_t, "staleness"> staleness, double proportion,
                       const std::string& stale, Whole<std::uint32_t, "catch_up"> catch_up,
                       Whole<std::uint32_t, "regroup"> regroup, const py::object& pause,
                       const py::object& stall_warning, Bits bits, const std::string& kind,
                       const std::string& rounding, bool feedback, Seed seed) {
             constexpr unsigned bits_of_floats = 32;
             const auto sketch =
                 tributary::python::sketch_options_of(kind, bits, rounding, feedback, seed);
             return std::make_unique<GradientExchange>(
                 communicator, std::vector<std::size_t>(layers.begin(), layers.end()),
                 std::move(apply), parameters,
                 tributary::python::exchange_options_of(synchrony, staleness, proportion, stale,
                                                        catch_up, regroup, pause, stall_warning),
                 bits == bits_of_floats ? std::nullopt : std::optional(sketch));
           }),
           py::keep_alive<1, 2>(), "communicator"_a, "layers"_a, "apply"_a,
           "parameters"_a = py::none(), py::kw_only(), "synchrony"_a = "bsp", "staleness"_a = 3,
           "proportion"_a = 1.0, "stale"_a = "wait", "catch_up"_a = 4, "regroup"_a = 0,
           "pause"_a = 0.002, "stall_warning"_a = 10, "bits"_a = 32, "kind"_a = "grid",
           "rounding"_a = "stochastic", "feedback"_a = true, "seed"_a = 0)
      .def("enter", &GradientExchange::enter,
           "Applies the sums so far, and begins the next iteration, whose number it returns, once "
           "the other ranks are far enough.")
      .def(
          "offer",
          [](GradientExchange& self, Whole<std::size_t, "layer"> layer,
             const py::object& gradient) { self.offer(layer, gradient); },
          "layer"_a, "gradient"_a,
          "Gives the gradient of a layer, of float32: once in an iteration. It does not wait, and "
          "the gradient may change as soon as it returns.")
      .def("finish", &GradientExchange::finish,
           "Waits until all gradients of this iteration are in sums; False if what was left of "
           "them was stale, and dropped.")
      .def("close", &GradientExchange::close,
           "Waits for the other ranks to close, and applies their sums.")
      .def("abort", &GradientExchange::abort, "Ends it, and the communicator.")
      .def_property_readonly("closed", &GradientExchange::is_closed, "Whether close() was called.")
      .def("gei", &GradientExchange::gei,
           "The Gradient Exchange Index of the last 256 iterations: by iteration, of each layer "
           "the ranks whose gradients are in sums.")
      .def("statistics", &GradientExchange::statistic, "name"_a,
           "What was counted by that name, as layers_contributed.")
      .def("__enter__", [](const py::object& self) { return self; })
      .def("__exit__", &leave_exchange);
}

}  // namespace

PYBIND11_MODULE(_core, module) {
  module.doc() = "Collectives that switches add up on the way";
  add_request(module);
  add_sketch(module);
  add_handlers(module);
  add_communicator(module);
  add_gradient_exchange(module);
}
