// An array that grows, after PMDK's example: a write beyond its end makes a longer one in a transaction (tx.h), with
// the length beside the pointer.
//
// BUG=1..3 each bring in one mistake.
#include <blackout/lin.hpp>

#include "tx.h"

namespace {

constexpr std::size_t kSize = 20;  // the longest
constexpr std::uint64_t kFirst = 4;

struct Array {
  std::uint64_t length;                // elements that there is room for; those beyond are 0
  TX_ALIGNED std::uint64_t* elements;  // in a line of its own
};

class Elements {
 public:
  static Elements* open(const char* path) {
    auto* e = new Elements;
    e->pool_ = tx_open(path);
    if (e->pool_->root == nullptr) {
      tx_begin();
      auto* array = static_cast<Array*>(tx_alloc(sizeof(Array)));
      array->length = kFirst;
      array->elements = static_cast<std::uint64_t*>(tx_alloc(kFirst * sizeof(std::uint64_t)));
      tx_add(&e->pool_->root, sizeof e->pool_->root);
      e->pool_->root = array;
      tx_commit();
    }
    e->array_ = static_cast<Array*>(e->pool_->root);
    return e;
  }

  std::size_t size() const { return kSize; }

  std::uint64_t read(std::size_t i) const { return i < array_->length ? array_->elements[i] : 0; }

  void write(std::size_t i, std::uint64_t value) {
    if (i >= array_->length) grow(i);
    PM_PUBLISH(array_->elements[i], value);  // @LOST 3
#if BUG == 3
    // ID, missing flush: the element is stored outside of a transaction, and nobody flushes it.
#else
    pm_persist(&array_->elements[i], sizeof value);
#endif
  }

 private:
  void grow(std::size_t i) {
    std::uint64_t length = array_->length;
    while (length <= i) length *= 2;
#if BUG == 1
    // UD, outside of the transaction: the new length counts before there is room for it. A crash in between leaves an
    // array that reads past its end.
    PM_PUBLISH(array_->length, length);  // @LOST 1
    pm_persist(&array_->length, sizeof array_->length);
    tx_begin();
#else
    tx_begin();
    tx_add(&array_->length, sizeof array_->length);
    std::uint64_t old = array_->length;
    array_->length = length;
#endif
#if BUG == 1
    std::uint64_t old = kFirst;
    while (old * 2 < length && array_->elements != nullptr) old *= 2;
#endif
    auto* elements = static_cast<std::uint64_t*>(tx_alloc(length * sizeof(std::uint64_t)));
#if BUG == 2
    // ID: the elements are not copied before the new ones count. They come after the transaction.
    std::uint64_t* before = array_->elements;
    tx_add(&array_->elements, sizeof array_->elements);
    array_->elements = elements;
    tx_commit();
    for (std::uint64_t n = 0; n < old; ++n) PM_PUBLISH(elements[n], before[n]);  // @LOST 2
    pm_persist(elements, old * sizeof(std::uint64_t));
#else
    for (std::uint64_t n = 0; n < old; ++n) elements[n] = array_->elements[n];
    tx_add(&array_->elements, sizeof array_->elements);
    array_->elements = elements;  // @LOST 1
    tx_commit();
#endif
  }

  tx_pool* pool_ = nullptr;
  Array* array_ = nullptr;
};

}  // namespace

BLACKOUT_ARRAY(Elements)
