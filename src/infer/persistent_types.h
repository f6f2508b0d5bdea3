// Which structs are persistent: those of which something is flushed, by an instruction, by a library, or by a
// function of the program to which they are passed; and, from those, what they contain, what contains them and what
// they point to. If a program flushes nothing that is known, all are.
#pragma once

#include <vector>

#include "infer/program_code.h"

namespace blackout {

class PersistentTypes {
 public:
  PersistentTypes(ProgramCode& code, bool all);
  bool isPersistent(KeyNo key) const;
  // Whether a flush of a known type was found at all.
  bool anyFlush() const { return anyFlush_; }

 private:
  void readTypes(const ProgramCode& code);
  void readUses(const ProgramCode& code);
  Keys pointees(const llvm::Value* pointer) const;
  void addFlushed(Keys keys, const llvm::Value* pointer);
  void close();

  ProgramCode& code_;
  bool all_, anyFlush_ = false;
  IdVector<KeyNo, char> structs_;
  IdVector<KeyNo, char> fields_;                   // what a pointer in a volatile struct leads to
  IdVector<KeyNo, std::vector<KeyNo>> related_;    // by struct: what is persistent with it
  std::unordered_map<KeyNo, KeyNo> pointers_;      // by member: the struct that it points to
  llvm::DenseMap<const llvm::Value*, Keys> uses_;  // by root: the structs that accesses through it reach
};

}  // namespace blackout
