// SPDX-License-Identifier: BSD-3-Clause
#include "options.h"

#include <chrono>
#include <cstdlib>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <CLI/CLI.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "parameters.h"

namespace tributary::bench::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class BenchOptions : public testing::Test {
 protected:
  BenchOptions() { clear(); }
  ~BenchOptions() override { clear(); }

  // Rank 0 of two, with these arguments besides.
  static Parsed parse(std::vector<std::string> arguments, const char* collective = "allreduce") {
    std::vector<std::string> all = {"tributary-bench", collective, "--rank",       "0",
                                    "--world",         "2",        "--rendezvous", "10.0.0.1:1"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    std::vector<char*> argv;
    for (auto& argument : all) {
      argv.push_back(argument.data());
    }
    return bench::parse(static_cast<int>(argv.size()), argv.data());
  }

 private:
  static void clear() {
    for (const auto* name : {"RANK", "TRIBUTARY_STALL_TIMEOUT", "TRIBUTARY_DEADLINE"}) {
      ::unsetenv(name);
    }
  }
};

TEST_F(BenchOptions, WithoutLimitsTheDefaultsOfTheLibraryHold) {
  const auto parsed = parse({});
  ASSERT_TRUE(parsed.options);
  EXPECT_FALSE(parsed.options->communicator.stall_timeout);
  EXPECT_FALSE(parsed.options->communicator.deadline);
}

TEST_F(BenchOptions, WhatIsNotANumberIsRefused) {
  for (const auto* option : {"--stall-timeout", "--deadline", "--interval", "--density"}) {
    EXPECT_FALSE(parse({option, "nan"}, "sparse_allreduce").options) << option;
    EXPECT_TRUE(parse({option, "0.5"}, "sparse_allreduce").options) << option;
  }
}

TEST_F(BenchOptions, WhatWouldHaveNoEffectIsRefused) {
  EXPECT_TRUE(parse({"--counts", "10"}).options);
  for (const auto* const size : {"-b", "-e"}) {
    EXPECT_FALSE(parse({"--counts", "10", size, "4K"}).options) << size;
  }
  EXPECT_TRUE(parse({"--layout", "osu"}).options);
  for (const auto* const document : {"--json", "--csv"}) {
    EXPECT_FALSE(parse({"--layout", "osu", document}).options) << document;
  }
}

TEST_F(BenchOptions, AStallTimeoutIsNoDeadline) {
  const auto parsed = parse({"--stall-timeout", "2.5"});
  ASSERT_TRUE(parsed.options);
  EXPECT_EQ(parsed.options->communicator.stall_timeout, 2500ms);
  EXPECT_FALSE(parsed.options->communicator.deadline);
}

TEST_F(BenchOptions, ADeadlineIsFixed) {
  const auto parsed = parse({"--deadline", "90"});
  ASSERT_TRUE(parsed.options);
  EXPECT_EQ(parsed.options->communicator.deadline, 90s);
  EXPECT_FALSE(parsed.options->communicator.stall_timeout);
}

TEST_F(BenchOptions, TheEnvironmentCountsAlsoWhereTheCommandLineTellsThePlace) {
  ::setenv("TRIBUTARY_DEADLINE", "90s", 1);
  const auto parsed = parse({});
  ASSERT_TRUE(parsed.options);
  EXPECT_EQ(parsed.options->communicator.deadline, 90s);
  EXPECT_EQ(parsed.options->communicator.rank, 0u);
  EXPECT_EQ(parse({"--deadline", "2"}).options->communicator.deadline, 2s);
  ::setenv("TRIBUTARY_DEADLINE", "soon", 1);
  testing::internal::CaptureStderr();
  EXPECT_FALSE(parse({}).options);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("TRIBUTARY_DEADLINE"));
}

TEST_F(BenchOptions, SizesAndRatesHaveUnits) {
  const auto sizes_of = [](std::vector<std::string> arguments) {
    const auto parsed = parse(std::move(arguments));
    return parsed.options ? parsed.options->sizes : std::vector<std::size_t>();
  };
  EXPECT_EQ(sizes_of({"-b", "4K", "-e", "16KiB"}), (std::vector<std::size_t>{4096, 8192, 16384}));
  EXPECT_EQ(sizes_of({"-b", "1m", "-e", "2M", "-i", "512K"}),
            (std::vector<std::size_t>{1 << 20, 3 << 19, 1 << 21}));
  EXPECT_EQ(sizes_of({"-b", "0", "-e", "2"}), (std::vector<std::size_t>{0, 1, 2}));
  EXPECT_EQ(sizes_of({}).front(), 4096u);
  EXPECT_EQ(sizes_of({}).back(), 16u << 20);
  for (const auto* text : {"4X", "K4", "-1", "2T"}) {
    EXPECT_FALSE(parse({"-e", text}).options) << text;
  }
  EXPECT_FALSE(parse({"-i", "0"}).options);
  EXPECT_FALSE(parse({"-b", "8K", "-e", "4K"}).options);
  EXPECT_EQ(parse({"--line-rate", "200Mbit"}).options->line_rate_bps, 200'000'000u);
  for (const auto* text : {"200", "200MB", "0Mbit", "-5Mbit"}) {
    EXPECT_FALSE(parse({"--line-rate", text}).options) << text;
  }
}

TEST_F(BenchOptions, AWordThatIsNoCommandIsAnswered) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(parse({}, "allreduc").exit_code, 2);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("did you mean `allreduce`?"));
}

TEST_F(BenchOptions, AStallTimeoutIsPositive) {
  EXPECT_FALSE(parse({"--stall-timeout", "0"}).options);
  EXPECT_FALSE(parse({"--stall-timeout", "soon"}).options);
}

TEST_F(BenchOptions, SumsAreReproducibleIfAskedFor) {
  EXPECT_FALSE(parse({}).options->communicator.reproducible);
  EXPECT_TRUE(parse({"--reproducible"}).options->communicator.reproducible);
}

TEST_F(BenchOptions, WordsStandForValues) {
  const auto parsed =
      parse({"--datatype", "half,i8", "--op", "sum,max", "--algorithm", "ring,canary"});
  ASSERT_TRUE(parsed.options);
  EXPECT_EQ(parsed.options->types, (std::vector{wire::ElementType::f16, wire::ElementType::i8}));
  EXPECT_EQ(parsed.options->operators, (std::vector{wire::Operator::sum, wire::Operator::max}));
  EXPECT_EQ(parsed.options->algorithms, (std::vector<std::string>{"ring", "canary"}));
  EXPECT_EQ(parse({"--datatype", "all"}).options->types.size(), wire::built_in_type_count);
  EXPECT_FALSE(parse({"--datatype", "f31"}).options);
  EXPECT_FALSE(parse({"--datatype", "f64_i32"}).options) << "has no sum";
  EXPECT_TRUE(parse({"--datatype", "f64_i32", "--op", "maxloc"}).options);
  EXPECT_TRUE(parse({"--datatype", "f64_i32"}, "broadcast").options);
  EXPECT_FALSE(parse({"--algorithm", "all"}).options);
  EXPECT_FALSE(parse({"--algorithm", "canary,panama"}).options) << "a run each";
}

TEST_F(BenchOptions, HandlersAreExpressionsOrFiles) {
  const auto parsed = parse({"--type", "i8", "--op", "handler:3", "--handler",
                             "3=acc = min(acc + in, 127);", "--handler", "7=./kahan.so"});
  ASSERT_TRUE(parsed.options);
  EXPECT_EQ(parsed.options->operators, std::vector{wire::handler_operator(3)});
  const auto& handlers = parsed.options->handlers;
  ASSERT_EQ(handlers.size(), 2u);
  EXPECT_EQ(handlers[0].number, 3u);
  const auto* const expression = std::get_if<HandlerExpression>(&handlers[0].source);
  ASSERT_NE(expression, nullptr);
  EXPECT_EQ(expression->text, "acc = min(acc + in, 127);");
  EXPECT_EQ(expression->type, wire::ElementType::i8);
  const auto* const file = std::get_if<HandlerFile>(&handlers[1].source);
  ASSERT_NE(file, nullptr);
  EXPECT_EQ(file->path, "./kahan.so");
}

TEST_F(BenchOptions, HandlersHaveANumberAndExpressionsAType) {
  EXPECT_FALSE(parse({"--handler", "acc + in"}).options);
  EXPECT_FALSE(parse({"--handler", "64=./x.so"}).options);
  EXPECT_FALSE(parse({"--handler", "x=./x.so"}).options);
  EXPECT_FALSE(parse({"--type", "i8,i16", "--handler", "3=acc = acc + in;"}).options);
  EXPECT_TRUE(parse({"--type", "i8,i16", "--handler", "3=./x.so"}).options);
  EXPECT_FALSE(parse({"--op", "handler:64"}).options);
}

TEST_F(BenchOptions, ParametersOfProtocolsAreTakenAsText) {
  const auto trees_of = [](std::vector<std::string> arguments) {
    return parse(std::move(arguments)).options->communicator.parameters.at("trees");
  };
  EXPECT_EQ(trees_of({"--trees", "239.0.0.1,239.0.0.2"}), "239.0.0.1,239.0.0.2");
  EXPECT_EQ(trees_of({"--trees", "239.0.0.1", "239.0.0.2"}), "239.0.0.1,239.0.0.2");
  EXPECT_EQ(trees_of({"--trees", "239.0.0.1", "--trees", "239.0.0.2"}), "239.0.0.1,239.0.0.2");
}

TEST_F(BenchOptions, ErrorsNameTheOption) {
  testing::internal::CaptureStderr();
  EXPECT_FALSE(parse({"--attempts", "16"}).options);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr("--attempts: 16 is not a number from 1 to 15"));
}

TEST_F(BenchOptions, HelpTellsRangesAndDefaults) {
  testing::internal::CaptureStdout();
  EXPECT_FALSE(parse({"--help"}).options);
  const auto help = testing::internal::GetCapturedStdout();
  EXPECT_THAT(help, HasSubstr("a number from 1 to 15, default 4"));
  EXPECT_THAT(help, HasSubstr("on or off, default on"));
  EXPECT_THAT(help, Not(HasSubstr("`")));
}

// Whether ranks can be found out to be missing is known when they have met.
TEST_F(BenchOptions, SumsThatMayLackMachinesAreNotVerified) {
  const auto checks = [](std::vector<std::string> arguments, const char* collective) {
    arguments.insert(arguments.end(), {"--trees", "239.0.0.1", "--share", "0.5"});
    const auto parsed = parse(std::move(arguments), collective);
    return !parsed.options              ? "refused"
           : !parsed.options->check     ? "no"
           : parsed.options->must_check ? "must"
                                        : "yes";
  };
  EXPECT_STREQ(checks({"--algorithm", "panama"}, "allreduce"), "yes");
  EXPECT_STREQ(checks({"--algorithm", "panama", "-c", "1"}, "allreduce"), "must");
  EXPECT_STREQ(checks({"--algorithm", "panama", "-c", "0"}, "allreduce"), "no");
  const std::vector<std::string> between = {"--algorithm", "ring", "--between", "panama"};
  EXPECT_STREQ(checks(between, "allreduce"), "yes") << "nobody goes between machines";
  auto hierarchy = between;
  hierarchy.insert(hierarchy.end(), {"--hierarchy", "tencent"});
  EXPECT_STREQ(checks(hierarchy, "allreduce"), "no");
  hierarchy.insert(hierarchy.end(), {"-c", "1"});
  EXPECT_STREQ(checks(hierarchy, "allreduce"), "refused");
}

TEST_F(BenchOptions, OnlySumsOfWholeVectorsMayLackRanks) {
  const auto may = [](const char* collective) {
    return parse({"--trees", "239.0.0.1", "--algorithm", "panama"}, collective)
        .options->may_lack_ranks();
  };
  EXPECT_TRUE(may("allreduce"));
  EXPECT_TRUE(may("reduce"));
  for (const auto* const other : {"broadcast", "barrier", "sparse_allreduce"}) {
    EXPECT_FALSE(may(other)) << other;
  }
}

TEST_F(BenchOptions, HierarchiesAreNamed) {
  const auto parsed = parse({"--hierarchy", "parallel,tencent"});
  ASSERT_TRUE(parsed.options);
  EXPECT_EQ(parsed.options->hierarchies, (std::vector{Hierarchy::parallel, Hierarchy::tencent}));
  EXPECT_FALSE(parse({"--hierarchy", "auto"}).options);
}

TEST_F(BenchOptions, AnyLauncherSaysWhoIsOfThisMachine) {
  ::setenv("OMPI_COMM_WORLD_LOCAL_RANK", "1", 1);
  ::setenv("OMPI_COMM_WORLD_LOCAL_SIZE", "2", 1);
  const auto parsed = parse({});
  const auto told = parse({"--local-rank", "3", "--local-world", "4"});
  ::unsetenv("OMPI_COMM_WORLD_LOCAL_RANK");
  ::unsetenv("OMPI_COMM_WORLD_LOCAL_SIZE");
  ASSERT_TRUE(parsed.options && told.options);
  EXPECT_EQ(parsed.options->local_rank, 1u);
  EXPECT_EQ(parsed.options->local_world_size, 2u);
  EXPECT_EQ(parsed.options->communicator.local_world_size, 2u);
  EXPECT_EQ(told.options->local_rank, 3u);
  EXPECT_EQ(told.options->communicator.local_world_size, 4u);
}

TEST_F(BenchOptions, TheCommandLineGoesBeforeTheEnvironment) {
  const std::vector<std::pair<const char*, const char*>> variables = {
      {"RANK", "1"},
      {"WORLD_SIZE", "4"},
      {"MASTER_ADDR", "10.9.9.9"},
      {"MASTER_PORT", "99"},
      {"TRIBUTARY_FALLBACK", "error"},
      {"TRIBUTARY_WINDOW", "7"}};
  for (const auto& [name, value] : variables) {
    ::setenv(name, value, 1);
  }
  const auto parsed = parse({"--encapsulation", "ethernet", "--congestion-control", "off",
                             "--share", "0.5", "--fallback", "allow", "--algorithm", "panama"});
  for (const auto& [name, value] : variables) {
    ::unsetenv(name);
  }
  ASSERT_TRUE(parsed.options);
  const auto& communicator = parsed.options->communicator;
  EXPECT_EQ(communicator.rank, 0u);
  EXPECT_EQ(communicator.world_size, 2u);
  EXPECT_EQ(communicator.rendezvous, "10.0.0.1:1");
  EXPECT_EQ(communicator.window, 7u);
  EXPECT_EQ(communicator.encapsulation, wire::Encapsulation::ethernet);
  EXPECT_EQ(communicator.fallback, Fallback::allow);
  EXPECT_EQ(communicator.parameters.at("congestion_control"), "off");
  EXPECT_TRUE(parsed.options->check);
}

TEST_F(BenchOptions, ADensityIsForSparseVectors) {
  EXPECT_EQ(parse({}, "sparse_allreduce").options->density, 0.01);
  const auto parsed = parse({"--density", "0.25"}, "sparse_allreduce");
  ASSERT_TRUE(parsed.options);
  EXPECT_EQ(parsed.options->density, 0.25);
  EXPECT_EQ(parsed.options->operators, (std::vector{wire::Operator::sum}));
  EXPECT_FALSE(parse({"--density", "1.5"}, "sparse_allreduce").options);
  EXPECT_FALSE(parse({"--op", "max"}, "sparse_allreduce").options);
  EXPECT_FALSE(parse({"--density", "0.25"}).options);
  EXPECT_EQ(parse({}).options->density, 1);
}

TEST_F(BenchOptions, ASketchIsOfFloatsAndHasBits) {
  const auto usual = parse({}, "sketched_allreduce").options;
  ASSERT_TRUE(usual);
  EXPECT_EQ(usual->sketch.kind, SketchKind::grid);
  EXPECT_EQ(usual->sketch.bits, 8u);
  EXPECT_EQ(usual->sketch.rounding, Rounding::stochastic);
  EXPECT_FALSE(usual->sketch.feedback) << "each sum is one of its own";
  const auto other =
      parse({"--sketch", "quantiles", "--bits", "2", "--rounding", "nearest"}, "sketched_allreduce")
          .options;
  ASSERT_TRUE(other);
  EXPECT_EQ(other->sketch.kind, SketchKind::quantiles);
  EXPECT_EQ(other->sketch.bits, 2u);
  EXPECT_EQ(other->sketch.rounding, Rounding::nearest);
  EXPECT_FALSE(parse({"--bits", "5"}, "sketched_allreduce").options);
  EXPECT_FALSE(parse({"--bits", "32"}, "sketched_allreduce").options);
  EXPECT_FALSE(parse({"--type", "f64"}, "sketched_allreduce").options);
  EXPECT_FALSE(parse({"--misalign", "1"}, "sketched_allreduce").options);
  EXPECT_TRUE(parse({"--misalign", "4"}, "sketched_allreduce").options);
}

TEST_F(BenchOptions, MatricesAreAsNearToSquaresAsTheyCanBe) {
  const auto parsed = parse({"--low-rank", "4", "--bits", "32"}, "sketched_allreduce").options;
  ASSERT_TRUE(parsed);
  const auto shape = [&](std::size_t count) {
    const auto matrix = parsed->matrix_of(count).value();
    EXPECT_EQ(matrix.rank, 4u);
    return std::pair(matrix.rows, matrix.columns);
  };
  EXPECT_EQ(shape(1024), std::pair(32ul, 32ul));
  EXPECT_EQ(shape(2048), std::pair(32ul, 64ul));
  EXPECT_EQ(shape(100003), std::pair(1ul, 100003ul));
  EXPECT_EQ(shape(0).first, 0u);
  const auto wide =
      parse({"--low-rank", "4", "--columns", "100", "--counts", "300,1000"}, "sketched_allreduce")
          .options;
  ASSERT_TRUE(wide);
  EXPECT_EQ(wide->matrix_of(1000)->rows, 10u);
  EXPECT_FALSE(parse({"--low-rank", "4", "--columns", "7", "--counts", "300"}, "sketched_allreduce")
                   .options);
  EXPECT_FALSE(parse({"--low-rank", "4", "--sketch", "quantiles"}, "sketched_allreduce").options);
  EXPECT_FALSE(parse({"--columns", "100", "--counts", "300"}, "sketched_allreduce").options);
  EXPECT_FALSE(parse({}, "sketched_allreduce").options->matrix_of(1024));
}

TEST(BenchParameters, AreOfAlgorithmsThatThereAre) {
  CLI::App app;
  CommunicatorOptions options;
  declare_parameters(app, options);
  EXPECT_THAT(app.get_option("--interfaces")->get_description(),
              StartsWith("bcube, mesh, bcube-switches, mesh-switches: names or addresses"));
  EXPECT_THAT(app.get_option("--trees")->get_description(), StartsWith("panama: "));
}

}  // namespace
}  // namespace tributary::bench::test
