// Descriptions of consistency mechanisms: which structs and fields are a journal, a log, replicas, pointers that are
// swapped. TOML, no code; names are those of the program's debug information, or of structs that are described here by
// their offsets. What is not described is simply unprotected.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mechanisms/expression.h"

namespace blackout {

enum class MechanismKind : std::uint8_t { Undo, Redo, Log, Replicas, CopyOnWrite };
std::string_view nameOf(MechanismKind kind);  // "undo journal"

struct AreaDescription {
  Expression at;
  Expression size;
};

// What an entry of a journal or log is made of.
struct EntryDescription {
  std::optional<FieldRef> type;      // a struct, or an element of an array: "log_entry", "pool.entry[]"
  std::optional<Expression> target;  // the address of the bytes in place
  std::optional<Expression> size;    // how many they are
  std::optional<FieldRef> data;      // where the entry has their old or new contents
  std::optional<Expression> length;  // of the entry itself; none: that of its struct
  // The number of the transaction that it belongs to, where several are in one journal at a time.
  std::optional<Expression> transaction;
};

// A field that says whether the entries count: while it has the value (or any but 0), or while it equals another one.
// As a record it is a field of an entry, which says that this is no entry but the end of its transaction: of an undo
// journal, all is in place by then; of a redo journal, its entries count from then on.
struct CommitDescription {
  FieldRef field;
  std::optional<std::uint64_t> value;
  std::optional<Expression> generation;
  bool record = false;
  // It is a checksum of the entry, which counts if that is right: its parts need no order. Outside entries: of all of
  // them, until it is 0.
  bool checksum = false;
};

struct MechanismDescription {
  std::string name;  // as the table has it: "journal.undo"
  MechanismKind kind{};

  // Journals and logs.
  std::optional<Expression> head;
  std::optional<Expression> tail;
  std::optional<AreaDescription> area;
  EntryDescription entry;
  std::optional<CommitDescription> commit;
  std::vector<FieldRef> inPlace;  // fields that a transaction changes, where entries don't say it
  bool preallocated = false;
  // Logs: a log is made of units of this size, each of which leads to the next by a field of its own.
  std::uint64_t unit = 0;
  std::optional<FieldRef> link;

  // Replicas.
  std::vector<Expression> copies;
  std::optional<Expression> size;
  std::optional<FieldRef> checksum;
  bool majority = false;

  // Copy-on-write.
  std::optional<FieldRef> pointer;
  std::optional<Expression> target;  // none: what the pointer holds
  std::vector<FieldRef> links;       // pointers inside what is copied
};

// A struct that the program has no debug information for, and where it lies.
struct DescribedStruct {
  StructLayout layout;
  std::vector<std::uint64_t> at;  // offsets in the first pool
};

struct Description {
  std::vector<MechanismDescription> mechanisms;
  std::vector<DescribedStruct> structs;

  // The name is for sentences.
  static Result<Description> parse(std::string_view text, const std::string& name);
  static Result<Description> read(const std::string& path);
  // Adds the structs that it describes, and looks up all names.
  Result<void> bind(StructLayouts& layouts);
};

}  // namespace blackout
