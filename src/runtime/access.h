// Recording accesses: cutting them into pieces and naming their bytes by file and offset. Shared by the
// hooks and by what libc does for the program. All want an open Scope.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "events/contract.h"

namespace blackout::rt {

// [p, p + size) was or is about to be written with `bytes`. `kind` is a store event.
void recordStore(uint8_t kind, const void* p, const void* bytes, size_t size, uint32_t where, bool joined = false);

// The same for what is written by several stores, or in several places at once: their pieces are one wide store.
class Pieces {
 public:
  Pieces(uint8_t kind, uint32_t where) : kind_(kind), where_(where) {}
  ~Pieces() { finish(0); }
  Pieces(const Pieces&) = delete;
  Pieces& operator=(const Pieces&) = delete;
  void add(const void* p, const void* bytes, size_t size);
  // What rep movs or rep stos has stored, elements of this size. In pieces of 8 bytes all the same, unless every
  // repetition is wanted as a store of its own (option repbytes).
  void addElements(const void* p, const void* bytes, size_t size, size_t element);

 private:
  void finish(uint8_t flags);

  uint8_t kind_;
  uint8_t len_ = 0;  // of the piece that waits for the next one, which may be none; 0: none waits
  uint32_t where_;
  uint64_t addr_ = 0;
  uint64_t value_ = 0;
};
// The same, by PM address: for writes that come through the file.
void recordFileStore(uint32_t file, uint64_t offset, const void* bytes, size_t size, uint32_t where);
void recordLoad(const void* p, size_t size, uint32_t where);
void recordFlush(uint8_t kind, const void* p, uint32_t where);

// Writes `bytes` to PM or elsewhere, in pieces of at most 8 bytes, and records it: trace and memory agree piece by
// piece.
void storeBytes(void* to, const void* bytes, size_t size, uint32_t where);

// By one store of its own size, 1, 2, 4 or 8 bytes: libc's functions use vector registers, which may be the program's.
inline void storeAt(uintptr_t place, uint64_t value, uint32_t size) {
  switch (size) {
    case 1:
      *reinterpret_cast<volatile uint8_t*>(place) = uint8_t(value);
      break;
    case 2:
      *reinterpret_cast<volatile uint16_t*>(place) = uint16_t(value);
      break;
    case 4:
      *reinterpret_cast<volatile uint32_t*>(place) = uint32_t(value);
      break;
    default:
      *reinterpret_cast<volatile uint64_t*>(place) = value;
      break;
  }
}

}  // namespace blackout::rt
