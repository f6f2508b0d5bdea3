// Bytes written and read in order: what trace payloads, histories and saved files are made of. Every read is bounded;
// the first one that does not fit makes it and all later ones empty, so a reader of bytes that nobody trusts asks once,
// at its end, whether all of it was there.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace blackout {

class ByteWriter {
 public:
  // As it lies in memory.
  template <class T>
    requires std::is_trivially_copyable_v<T>
  void fixed(const T& v) {
    out_.append(reinterpret_cast<const char*>(&v), sizeof v);
  }
  // LEB128: small numbers take a byte.
  void number(std::uint64_t v) {
    for (; v >= 128; v >>= 7) out_.push_back(static_cast<char>(v | 128));
    out_.push_back(static_cast<char>(v));
  }
  void bytes(std::string_view s) { out_.append(s); }
  // Its size and its bytes.
  void text(std::string_view s) {
    number(s.size());
    bytes(s);
  }
  // Up to the first zero byte, and one.
  void terminated(std::string_view s) {
    bytes(s.substr(0, s.find('\0')));
    out_.push_back('\0');
  }
  // The bytes, and zeros up to a multiple of eight.
  void padded(std::string_view s) {
    bytes(s);
    out_.append((8 - s.size() % 8) % 8, '\0');
  }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : rest_(bytes) {}

  bool ok() const { return ok_; }
  bool atEnd() const { return rest_.empty(); }
  // All was there, and nothing else.
  bool finished() const { return ok_ && atEnd(); }
  std::size_t left() const { return rest_.size(); }
  // What was read makes no sense.
  void reject() {
    ok_ = false;
    rest_ = {};
  }

  template <class T>
    requires std::is_trivially_copyable_v<T>
  T fixed() {
    T v{};
    std::string_view s = bytes(sizeof v);
    if (ok_) s.copy(reinterpret_cast<char*>(&v), sizeof v);
    return v;
  }
  std::uint64_t number(std::uint64_t largest = UINT64_MAX) {
    std::uint64_t v = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      auto b = fixed<std::uint8_t>();
      v |= std::uint64_t{b & 127U} << shift;
      if (b >= 128) continue;
      if (v <= largest) return v;
      break;
    }
    reject();
    return 0;
  }
  std::uint32_t small() { return static_cast<std::uint32_t>(number(UINT32_MAX)); }
  bool flag() { return number(1) != 0; }
  // How many records follow that take at least `size` bytes each.
  std::size_t count(std::size_t size = 1) {
    std::uint64_t n = number();
    if (n <= rest_.size() / size) return n;
    reject();
    return 0;
  }
  // They live as long as what is read.
  std::string_view bytes(std::size_t size) {
    if (size > rest_.size()) reject();
    std::string_view s = rest_.substr(0, size);
    rest_.remove_prefix(s.size());
    return s;
  }
  std::string text() { return std::string(bytes(count())); }
  std::string terminated() {
    std::size_t end = rest_.find('\0');
    std::string s(bytes(end));
    bytes(1);
    return ok_ ? s : std::string();
  }
  std::string_view padded(std::size_t size) {
    std::string_view s = bytes(size);
    bytes((8 - size % 8) % 8);
    return s;
  }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace blackout
