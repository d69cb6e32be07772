// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdio>
#include <exception>
#include <iterator>
#include <memory>
#include <string_view>
#include <vector>

#include "background.h"
#include "exit_codes.h"
#include "measure.h"
#include "model.h"
#include "options.h"
#include "reduce/kernel.h"
#include "report.h"
#include "wire/ethernet.h"

namespace tributary::bench {
namespace {

Setting setting_of(const Communicator& communicator, const Options& options) {
  constexpr std::size_t ethernet =
      sizeof(wire::EthernetHeader) + wire::ethernet_line_overhead_bytes;
  const auto packet = communicator.full_packet();
  return {options.collective, communicator.world_size(), packet.elements, packet.total + ethernet,
          options.line_rate_bps};
}

// Returns the operators that the type has. A collective that does not reduce goes by any of them.
std::vector<wire::Operator> operators_of(const Options& options, wire::ElementType type) {
  if (!options.has_operator()) {
    return {wire::any_operator(type)};
  }
  std::vector<wire::Operator> operators;
  std::copy_if(options.operators.begin(), options.operators.end(), std::back_inserter(operators),
               [type](wire::Operator op) {
                 return wire::is_valid(type, op) && reduce::find_kernel(type, op) != nullptr;
               });
  return operators;
}

// Returns the element counts of one type, in order.
std::vector<std::size_t> counts_of(const Options& options, wire::ElementType type) {
  if (!options.counts.empty()) {
    return options.counts;
  }
  std::vector<std::size_t> counts;
  for (const std::size_t size : options.sizes) {
    counts.push_back(size / wire::element_bytes(type));
  }
  return counts;
}

class Run {
 public:
  Run(const Options& options, Communicator& communicator)
      : options_(options), communicator_(communicator) {}

  Result<void> all() {
    if (auto ready = open_hierarchies().and_then([this] { return open_reports(); }); !ready) {
      return ready;
    }
    for (const auto& report : reports_) {
      report->begin();
    }
    for (const wire::ElementType type : options_.types) {
      for (const wire::Operator op : operators_of(options_, type)) {
        for (const std::size_t count : counts_of(options_, type)) {
          if (auto done = size(type, op, count); !done) {
            return done;
          }
        }
      }
    }
    const auto totals = totals_of(communicator_);
    if (!totals) {
      return tl::unexpected(totals.error());
    }
    for (const auto& report : reports_) {
      if (auto written = report->end(*totals); !written) {
        return written;
      }
    }
    return {};
  }

  std::uint64_t wrong() const { return wrong_; }

 private:
  Result<void> open_hierarchies() {
    for (const Hierarchy hierarchy : options_.hierarchies) {
      auto made = ParallelCommunicator::create(
          {options_.between_machines(), options_.local_rank, options_.local_world_size, hierarchy});
      if (!made) {
        return tl::unexpected(made.error());
      }
      hierarchies_.push_back(std::move(*made));
    }
    for (const auto& algorithm : options_.algorithms) {
      ways_.push_back({algorithm});
    }
    for (auto& hierarchy : hierarchies_) {
      ways_.push_back({"auto", &hierarchy});
    }
    return {};
  }

  Result<void> open_reports() {
    if (communicator_.rank() != 0) {
      return {};
    }
    const Setting setting = setting_of(communicator_, options_);
    reports_.push_back(Report::make(options_, setting));
    if (!options_.record.empty()) {
      reports_.push_back(Report::make_record(options_, setting));
      if (!reports_.back()) {
        return fail(Error::Code::invalid_argument, "cannot write --record " + options_.record);
      }
    }
    return {};
  }

  Result<void> size(wire::ElementType type, wire::Operator op, std::size_t count) {
    const Problem problem{type,
                          op,
                          count,
                          communicator_.rank(),
                          communicator_.world_size(),
                          options_.density,
                          communicator_.payload_bytes_max() / wire::element_bytes(type)};
    const auto sample = sample_of(options_, problem);
    for (const Way& way : ways_) {
      auto row = measure({communicator_, options_, way, problem, sample.get()});
      if (!row) {
        return tl::unexpected(row.error());
      }
      wrong_ += row->wrong();
      for (const auto& report : reports_) {
        report->row(*row);
      }
    }
    return {};
  }

  const Options& options_;
  Communicator& communicator_;
  std::vector<ParallelCommunicator> hierarchies_;
  std::vector<Way> ways_;
  std::vector<std::unique_ptr<Report>> reports_;  // none but on rank 0
  std::uint64_t wrong_ = 0;
};

// Sums are not verified if nobody can tell which ranks they have.
Result<void> find_out_what_to_check(Options& options, const Communicator& communicator) {
  if (!options.may_lack_ranks()) {
    return {};
  }
  const auto partial = communicator.partial_results();
  if (options.check && options.must_check && !partial) {
    return tl::unexpected(
        Error{partial.error().code, "--check 1: " + partial.error().message + ", or say 0"});
  }
  options.check = options.check && partial.has_value();
  return {};
}

int failed(const Error& error) {
  std::fflush(stdout);
  std::fprintf(stderr, "tributary-bench: %s\n", error.message.c_str());
  return apps::exit_failed;
}

int bench(int argc, char** argv) {
  const std::string_view subcommand = argc > 1 ? argv[1] : "";
  if (subcommand == "background") {
    return background(argc - 1, argv + 1);  // neither this nor the model needs a communicator
  }
  if (subcommand == "model") {
    return model(argc - 1, argv + 1);
  }
  Parsed parsed = parse(argc, argv);
  if (!parsed.options) {
    return parsed.exit_code;
  }
  auto& options = *parsed.options;
  if (auto loaded = load(options.handlers, options.operators, options.types); !loaded) {
    return failed(loaded.error());
  }
  auto communicator = Communicator::create(options.communicator);
  if (!communicator) {
    return failed(communicator.error());
  }
  if (auto found = find_out_what_to_check(options, *communicator); !found) {
    return failed(found.error());
  }
  Run run(options, *communicator);
  if (auto done = run.all(); !done) {
    return failed(done.error());
  }
  return run.wrong() == 0 ? 0 : apps::exit_failed;
}

// Returns the exit code of a command, or another one if its report is lost.
int reported(int code) {
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    return failed(
        {Error::Code::internal, "the report cannot be written to standard output in full"});
  }
  return code;
}

}  // namespace
}  // namespace tributary::bench

int main(int argc, char** argv) {
  try {
    return tributary::bench::reported(tributary::bench::bench(argc, argv));
  } catch (const std::exception& error) {  // memory for the buffers, mostly
    std::fprintf(stderr, "tributary-bench: %s\n", error.what());
    return tributary::apps::exit_failed;
  }
}
