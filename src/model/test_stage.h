// The stages of an exploration that begins with the states a guess calls worst (Durinn, section 5.3), in their order;
// and at which of them something was found.
#pragma once

#include <cstdint>
#include <string_view>

namespace blackout {

enum class TestStage : std::uint8_t {
  IncompletelyDurable,  // the store that makes an operation visible is durable, and nothing else that need not be
  UnrecoveredDurable,   // everything is durable but that store
  LikelyPoint,          // any other state at the points where these two were tried
  OtherPoint,           // any state at any other point
  None,                 // there were no stages
};

constexpr std::string_view nameOf(TestStage stage) {
  switch (stage) {
    case TestStage::IncompletelyDurable:
      return "incompletely-durable";
    case TestStage::UnrecoveredDurable:
      return "unrecovered-durable";
    case TestStage::LikelyPoint:
      return "likely-point";
    case TestStage::OtherPoint:
      return "other-point";
    case TestStage::None:
      return "none";
  }
  return {};
}

}  // namespace blackout
