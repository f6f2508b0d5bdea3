#include "infer/guardians.h"

#include <algorithm>

#include "infer/access_id.h"

namespace blackout {

std::string structOf(const FieldKey& key) {
  // The first dot outside of template arguments: "Slot<a.b>.entry.first" is a field of "Slot<a.b>".
  int depth = 0;
  for (std::size_t k = 0; k < key.size(); ++k) {
    if (key[k] == '<' || key[k] == '(') ++depth;
    if (key[k] == '>' || key[k] == ')') --depth;
    if (key[k] == '.' && depth <= 0) return key.substr(0, k);
  }
  return key;
}

const char* nameOf(Shape shape) {
  switch (shape) {
#define BLACKOUT_SHAPE(Name, text, verb) \
  case Shape::Name:                      \
    return text;
#include "infer/shapes.def"
#undef BLACKOUT_SHAPE
  }
  return "";
}

static const char* verbOf(Shape shape) {
  switch (shape) {
#define BLACKOUT_SHAPE(Name, text, verb) \
  case Shape::Name:                      \
    return verb;
#include "infer/shapes.def"
#undef BLACKOUT_SHAPE
  }
  return "";
}

static std::string placeText(const Source& source) {
  const Place* place = ownPlace(source);
  if (place == nullptr) return "?";
  if (place->file.empty()) return place->function.empty() ? "?" : place->function;
  std::string name = place->file.substr(place->file.rfind('/') + 1);
  return place->line == 0 ? name : name + ":" + std::to_string(place->line);
}

const Guardian* Guardians::of(const FieldKey& field) const {
  auto at = std::lower_bound(guardians.begin(), guardians.end(), field,
                             [](const Guardian& g, const FieldKey& f) { return g.field < f; });
  return at != guardians.end() && at->field == field ? &*at : nullptr;
}

std::string reasonOf(const Guardian& guardian, const Guarded& guarded, const Guard& guard) {
  return placeText(guard.test) + " " + verbOf(guard.shape) + " " + guardian.field + " before " + placeText(guard.read) +
         " reads " + guarded.field;
}

}  // namespace blackout
