// The expressions of a description: numbers, fields of structs, their addresses and sizes, and + - * / % with
// parentheses. "journal.base + journal.head"; "&bank.entries + bank.valid * sizeof(entry)".
//
// A field's value is what persistent memory holds there, as an unsigned number. What an expression gives for an address
// is one of the process if it lies in a mapping of a pool, else an offset in the pool of the object that it is about.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "binary/struct_layouts.h"
#include "events/error.h"

namespace blackout {

// A struct and a path of members from it: "bank", "entries"; "pool", "entry[].place".
struct FieldRef {
  std::string structName;
  std::string path;  // empty: the object itself
  // Once names are known:
  LayoutNo layout = kNoLayout;
  FieldPlace place;
  std::string text() const { return path.empty() ? structName : structName + "." + path; }
};

class Expression {
 public:
  // Bounded in length and depth.
  static Result<Expression> parse(std::string_view text);

  // Looks up all names; a sentence with the nearest name if one is wrong.
  Result<void> bind(const StructLayouts& layouts);

  const std::vector<FieldRef>& fields() const { return fields_; }
  const std::string& text() const { return text_; }
  // The one field that it is, if it is no more than that.
  const FieldRef* onlyField() const {
    return code_.size() == 1 && code_[0].what == Step::Value ? &fields_[code_[0].field] : nullptr;
  }

  // `address` gives the address of a field's object (as a number that addresses are made of), `value` what a field
  // holds; none if there is no such object. None too for a division by zero.
  struct Source {
    std::function<std::optional<std::uint64_t>(const FieldRef&)> address;
    std::function<std::optional<std::uint64_t>(const FieldRef&)> value;
  };
  std::optional<std::uint64_t> evaluate(const Source& source) const;

 private:
  friend class ExpressionParser;
  struct Step {
    enum What : std::uint8_t { Number, Value, Address, Size, Add, Subtract, Multiply, Divide, Remainder } what;
    std::uint64_t number = 0;
    std::size_t field = 0;
  };
  std::string text_;
  std::vector<Step> code_;  // operands before their operator
  std::vector<FieldRef> fields_;
};

// Looks up the names of a field; a sentence with the nearest right one if one is wrong.
Result<void> bindField(FieldRef& field, const StructLayouts& layouts);
// "struct.path", "struct.path[].path".
Result<FieldRef> parseField(std::string_view text);

}  // namespace blackout
