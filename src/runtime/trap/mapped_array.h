// A growing array of plain values in pages of its own, for what is counted only while a file is being searched: the
// runtime has no allocator, and must not use the program's.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/own_memory.h"

namespace blackout::rt {

template <typename T>
class MappedArray {
 public:
  MappedArray() = default;
  MappedArray(const MappedArray&) = delete;
  MappedArray& operator=(const MappedArray&) = delete;
  ~MappedArray() {
    if (data_ != nullptr) syscall(SYS_munmap, data_, bytes_);
  }

  size_t size() const { return size_; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  T& operator[](size_t i) { return data_[i]; }
  void shrink(size_t n) { size_ = n; }

  // False: no memory.
  bool push(const T& value) {
    if ((size_ + 1) * sizeof(T) > bytes_ && !reserve(bytes_ == 0 ? 65536 : 2 * bytes_)) return false;
    data_[size_++] = value;
    return true;
  }
  // n zeros.
  bool zeros(size_t n) {
    if (n * sizeof(T) > bytes_ && !reserve((n * sizeof(T) + 65535) / 65536 * 65536)) return false;
    size_ = n;
    for (T& value : *this) value = {};
    return true;
  }

 private:
  bool reserve(size_t bytes) {
    auto* larger = static_cast<T*>(takeMemory(bytes));
    if (larger == nullptr) return false;
    for (size_t i = 0; i < size_; ++i) larger[i] = data_[i];
    if (data_ != nullptr) syscall(SYS_munmap, data_, bytes_);
    data_ = larger;
    bytes_ = bytes;
    return true;
  }

  T* data_ = nullptr;
  size_t size_ = 0;
  size_t bytes_ = 0;
};

}  // namespace blackout::rt
