// SPDX-License-Identifier: BSD-3-Clause
#include "control/handler_methods.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/dispatcher.h"
#include "fake_backend.h"
#include "support/unload_handlers.h"

namespace tributary::control {
namespace {

using nlohmann::json;
using testing::HasSubstr;

const json saturating_add{
    {"number", 7}, {"expression", "acc = min(acc + in, 127)"}, {"type", "i8"}};

class HandlerMethodsTest : public testing::Test {
 protected:
  tl::expected<json, Failure> call(const std::string& method, json params = json::object()) {
    return parse_reply(dispatch(request_text({1, method, std::move(params)}), backend_), 1);
  }
  Failure refusal(const std::string& method, json params) {
    const auto result = call(method, std::move(params));
    EXPECT_FALSE(result);
    return result ? Failure{} : result.error();
  }

  tributary::test::UnloadHandlers unload_handlers_;
  FakeBackend backend_;
};

TEST_F(HandlerMethodsTest, what_is_loaded_is_listed_and_unloaded) {
  const auto loaded = call("handler.load", saturating_add);
  ASSERT_TRUE(loaded) << loaded.error().message;
  const auto listed = call("handler.list");
  ASSERT_TRUE(listed);
  EXPECT_EQ((*listed)["rows_total"], 1);
  json row = (*listed)["rows"][0];
  EXPECT_EQ(row, *loaded);
  EXPECT_THAT(row["mark"].get<std::string>(), testing::MatchesRegex("0x[0-9a-f]{16}"));
  row.erase("mark");
  const json expected{{"number", 7},       {"kind", "expression"},
                      {"type", "i8"},      {"name", "acc = min(acc + in, 127)"},
                      {"origin", "hand"},  {"closed", false},
                      {"too_slow", false}, {"ns_per_kib", nullptr}};
  EXPECT_EQ(row, expected);
  EXPECT_EQ((*call("daemon.status"))["handlers"], 1);
  ASSERT_TRUE(call("handler.unload", {{"number", 7}}));
  EXPECT_EQ((*call("handler.list"))["rows_total"], 0);
}

TEST_F(HandlerMethodsTest, the_list_has_a_limit) {
  for (const unsigned number : {3u, 1u, 2u}) {
    json params = saturating_add;
    params["number"] = number;
    ASSERT_TRUE(call("handler.load", params));
  }
  const auto listed = call("handler.list", {{"limit", 2}});
  ASSERT_TRUE(listed);
  EXPECT_EQ((*listed)["rows"].size(), 2u);
  EXPECT_EQ((*listed)["rows"][0]["number"], 1);
  EXPECT_EQ((*listed)["rows_total"], 3);
}

TEST_F(HandlerMethodsTest, one_of_the_file_says_so) {
  HandlerConfig wanted;
  wanted.type = wire::ElementType::f32;
  wanted.expression = "acc = max(acc, in)";
  ASSERT_TRUE(backend_.loader.apply({wanted}));
  EXPECT_EQ((*call("handler.list"))["rows"][0]["origin"], "file");
}

TEST_F(HandlerMethodsTest, parameters_that_are_wrong_are_refused) {
  const auto with = [](const char* key, json value) {
    json params = saturating_add;
    params[key] = std::move(value);
    return params;
  };
  const auto without = [](const char* key) {
    json params = saturating_add;
    params.erase(key);
    return params;
  };
  const json wrong[] = {json::object(),
                        with("number", 64),
                        with("number", -1),
                        with("number", "7"),
                        with("type", "i7"),
                        with("type", 8),
                        with("expression", 1),
                        with("file", "sum.so"),
                        with("more", 1),
                        without("type"),
                        without("number"),
                        without("expression"),
                        {{"number", 7}, {"file", ""}}};
  for (const json& params : wrong) {
    EXPECT_EQ(refusal("handler.load", params).code, ErrorCode::invalid_params) << params;
  }
  EXPECT_THAT(refusal("handler.load", with("type", "i7")).message, HasSubstr("f32"));
  EXPECT_EQ(refusal("handler.unload", json::object()).code, ErrorCode::invalid_params);
  EXPECT_EQ((*call("handler.list"))["rows_total"], 0);
}

TEST_F(HandlerMethodsTest, hostile_texts_are_refused_and_the_daemon_goes_on) {
  for (const std::string& text : {std::string(), std::string(900'000, 'a'), std::string(4000, '('),
                                  std::string("acc = "), "acc = " + std::string(4000, '-') + "in",
                                  std::string("acc = in \x01"), std::string("acc = \xc3\xa4")}) {
    const json params{{"number", 7}, {"expression", text}, {"type", "f32"}};
    EXPECT_EQ(refusal("handler.load", params).code, ErrorCode::refused);
  }
  EXPECT_TRUE(call("handler.load", saturating_add));
}

TEST_F(HandlerMethodsTest, a_shared_object_is_refused_without_a_directory) {
  const auto failure = refusal("handler.load", {{"number", 7}, {"file", "/tmp/sum.so"}});
  EXPECT_EQ(failure.code, ErrorCode::refused);
  EXPECT_THAT(failure.message, HasSubstr("handler_directory"));
}

TEST_F(HandlerMethodsTest, unloading_what_is_not_there_says_so) {
  for (const unsigned number : {7u, 64u, 4'000'000'000u}) {
    const auto failure = refusal("handler.unload", {{"number", number}});
    EXPECT_EQ(failure.code, ErrorCode::refused);
    EXPECT_THAT(failure.message, HasSubstr("`tributaryctl handler list`"));
  }
}

TEST_F(HandlerMethodsTest, with_a_late_core_it_is_closed_and_can_be_unloaded_later) {
  ASSERT_TRUE(call("handler.load", saturating_add));
  backend_.core_late = "the packet core on CPU 3 did not answer";
  const auto failure = refusal("handler.unload", {{"number", 7}});
  EXPECT_EQ(failure.code, ErrorCode::late);
  EXPECT_THAT(failure.message, HasSubstr(backend_.core_late));
  EXPECT_EQ((*call("handler.list"))["rows"][0]["closed"], true);
  backend_.core_late.clear();
  EXPECT_TRUE(call("handler.unload", {{"number", 7}}));
}

TEST_F(HandlerMethodsTest, loading_and_unloading_change_state) {
  EXPECT_TRUE(changes_state("handler.load"));
  EXPECT_TRUE(changes_state("handler.unload"));
  EXPECT_FALSE(changes_state("handler.list"));
}

}  // namespace
}  // namespace tributary::control
