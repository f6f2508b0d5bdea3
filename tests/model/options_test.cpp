// The options table: parsing, printing, refusing.
#include <gtest/gtest.h>

#include "model/persistency_model.h"

namespace blackout::test {
namespace {

TEST(ModelOptions, DefaultsAreThoseOfTheSemantics) {
  EXPECT_EQ(describe(*parseModelOptions("")), "model=x86,wide-order=address,nt-order=program,rmw-fences=on,tso=off");
}

TEST(ModelOptions, PrintingParsesBack) {
  auto options = parseModelOptions("model=eadr,nt-order=any,wide-order=any,rmw-fences=off");
  ASSERT_TRUE(options.has_value());
  EXPECT_EQ(options->kind, ModelKind::Eadr);
  EXPECT_EQ(options->ntOrder, NtOrder::Any);
  EXPECT_EQ(options->wideOrder, WideOrder::Any);
  EXPECT_FALSE(options->rmwFences);
  EXPECT_EQ(*parseModelOptions(describe(*options)), *options);
}

TEST(ModelOptions, EveryRowOfTheHelpIsAccepted) {
  for (const ModelOptionHelp& row : modelOptionHelp()) {
    int defaults = 0;
    for (const auto& choice : row.choices) {
      ModelOptions options;
      std::string setting = std::string(row.name) + "=" + std::string(choice.text);
      EXPECT_TRUE(setModelOption(options, setting).has_value()) << setting;
      EXPECT_EQ(makeModel(options).has_value(), choice.ready) << setting;
      defaults += choice.isDefault ? 1 : 0;
    }
    EXPECT_EQ(defaults, 1) << row.name;
  }
}

TEST(ModelOptions, WrongSettingsAreNamedWithTheCure) {
  auto value = parseModelOptions("nt-order=maybe");
  ASSERT_FALSE(value.has_value());
  EXPECT_EQ(value.error().sentence, "'maybe' is not a value of nt-order; write nt-order=program|any");
  auto name = parseModelOptions("order=any");
  ASSERT_FALSE(name.has_value());
  EXPECT_EQ(name.error().sentence,
            "no model option is called 'order'; there are: model, wide-order, nt-order, rmw-fences, tso");
  EXPECT_FALSE(parseModelOptions("tso").has_value());
}

TEST(ModelOptions, WhatIsNotReadyIsRefusedInOneSentence) {
  for (const char* setting : {"model=msync", "model=cxl"}) {
    auto made = makeModel(*parseModelOptions(setting));
    ASSERT_FALSE(made.has_value());
    EXPECT_NE(made.error().sentence.find(setting), std::string::npos);
    EXPECT_NE(made.error().sentence.find("not ready"), std::string::npos);
  }
}

}  // namespace
}  // namespace blackout::test
