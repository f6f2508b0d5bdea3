// Ids in what is printed, as text and as JSON: their numbers.
#pragma once

#include <fmt/format.h>

#include "events/id.h"

template <class Tag, class Rep>
struct fmt::formatter<blackout::Id<Tag, Rep>> : fmt::formatter<Rep> {
  template <class Context>
  auto format(blackout::Id<Tag, Rep> id, Context& context) const {
    return fmt::formatter<Rep>::format(id.value(), context);
  }
};

namespace blackout {

template <class Json, class Tag, class Rep>
void to_json(Json& json, Id<Tag, Rep> id) {
  json = id.value();
}

}  // namespace blackout
