// What a claim and a fact do as values, compiled here for all.
#include "findings/facts.h"

namespace blackout {

template <class Variant>
OneOf<Variant>::OneOf() = default;
template <class Variant>
OneOf<Variant>::OneOf(const OneOf&) = default;
template <class Variant>
OneOf<Variant>::OneOf(OneOf&&) noexcept = default;
template <class Variant>
OneOf<Variant>& OneOf<Variant>::operator=(const OneOf&) = default;
template <class Variant>
OneOf<Variant>& OneOf<Variant>::operator=(OneOf&&) noexcept = default;
template <class Variant>
OneOf<Variant>::~OneOf() = default;
template <class Variant>
bool OneOf<Variant>::operator==(const OneOf& other) const {
  return static_cast<const Variant&>(*this) == static_cast<const Variant&>(other);
}

template class OneOf<Claims>;
template class OneOf<Facts>;

}  // namespace blackout
