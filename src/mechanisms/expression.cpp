#include "mechanisms/expression.h"

#include <fmt/format.h>

#include <cctype>
#include <charconv>

namespace blackout {

namespace {

constexpr std::size_t kLongest = 1024;
constexpr int kDeepest = 32;

bool isNameCharacter(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

}  // namespace

class ExpressionParser {
 public:
  ExpressionParser(std::string_view text, Expression& out) : text_(text), out_(out) {}

  Result<void> run() {
    if (text_.size() > kLongest) return fail(fmt::format("it is longer than {} characters", kLongest));
    if (auto ok = sum(0); !ok) return ok;
    skip();
    if (at_ != text_.size()) return wrong();
    return {};
  }

 private:
  using Step = Expression::Step;

  tl::unexpected<Error> wrong() {
    if (at_ >= text_.size()) return fail("it ends where a number or a field is wanted");
    return fail(
        fmt::format("'{}' is not understood; it is made of numbers, fields (struct.field), &field, "
                    "sizeof(field), + - * / % and parentheses",
                    text_.substr(at_, 16)));
  }
  void skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }
  bool take(char c) {
    skip();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  Result<void> sum(int depth) {
    if (auto ok = product(depth); !ok) return ok;
    for (;;) {
      bool plus = take('+');
      if (!plus && !take('-')) return {};
      if (auto ok = product(depth); !ok) return ok;
      out_.code_.push_back({plus ? Step::Add : Step::Subtract});
    }
  }
  Result<void> product(int depth) {
    if (auto ok = operand(depth); !ok) return ok;
    for (;;) {
      Step::What what = take('*')   ? Step::Multiply
                        : take('/') ? Step::Divide
                        : take('%') ? Step::Remainder
                                    : Step::Number;
      if (what == Step::Number) return {};
      if (auto ok = operand(depth); !ok) return ok;
      out_.code_.push_back({what});
    }
  }
  Result<void> operand(int depth) {
    if (depth > kDeepest) return fail("its parentheses are nested too deep");
    if (take('(')) {
      if (auto ok = sum(depth + 1); !ok) return ok;
      return take(')') ? Result<void>() : fail("a ')' is missing");
    }
    if (take('&')) return field(Step::Address);
    skip();
    if (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])) != 0) return number();
    if (text_.substr(at_).starts_with("sizeof")) {
      std::size_t begin = at_;
      at_ += 6;
      if (take('(')) {
        if (auto ok = field(Step::Size); !ok) return ok;
        return take(')') ? Result<void>() : fail("a ')' is missing");
      }
      at_ = begin;
    }
    return field(Step::Value);
  }
  Result<void> number() {
    bool hex = text_.substr(at_).starts_with("0x");
    const char* begin = text_.data() + at_ + (hex ? 2 : 0);
    std::uint64_t n = 0;
    auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), n, hex ? 16 : 10);
    if (error != std::errc() || (end < text_.data() + text_.size() && isNameCharacter(*end))) return wrong();
    at_ = static_cast<std::size_t>(end - text_.data());
    out_.code_.push_back({Step::Number, n});
    return {};
  }
  Result<void> field(Step::What what) {
    skip();
    // Names of C++ have colons, and templates angle brackets with anything in them.
    std::size_t begin = at_;
    int depth = 0;
    while (at_ < text_.size()) {
      char c = text_[at_];
      if (c == '<' && at_ > begin)
        ++depth;
      else if (c == '>' && depth > 0)
        --depth;
      else if (depth == 0 && !isNameCharacter(c) && c != '.' && c != ':' && c != '[' && c != ']')
        break;
      ++at_;
    }
    if (at_ == begin) return wrong();
    auto parsed = parseField(text_.substr(begin, at_ - begin));
    if (!parsed) return tl::unexpected(parsed.error());
    if (what == Step::Value && parsed->path.empty())
      return fail(fmt::format("'{}' is no field; fields are written as struct.field", parsed->structName));
    out_.code_.push_back({what, 0, out_.fields_.size()});
    out_.fields_.push_back(std::move(*parsed));
    return {};
  }

  std::string_view text_;
  std::size_t at_ = 0;
  Expression& out_;
};

Result<FieldRef> parseField(std::string_view text) {
  FieldRef field;
  int depth = 0;
  std::size_t dot = std::string_view::npos;
  for (std::size_t i = 0; i < text.size() && dot == std::string_view::npos; ++i) {
    if (text[i] == '<') ++depth;
    if (text[i] == '>') --depth;
    if (text[i] == '.' && depth == 0) dot = i;
  }
  field.structName = text.substr(0, dot);
  if (dot != std::string_view::npos) field.path = text.substr(dot + 1);
  if (field.structName.empty() || (dot != std::string_view::npos && field.path.empty()))
    return fail(fmt::format("'{}' is no field; fields are written as struct.field", text));
  return field;
}

Result<Expression> Expression::parse(std::string_view text) {
  Expression out;
  out.text_ = text;
  if (auto ok = ExpressionParser(text, out).run(); !ok)
    return fail(fmt::format("\"{}\": {}", text.substr(0, 200), ok.error().sentence));
  return out;
}

Result<void> bindField(FieldRef& field, const StructLayouts& layouts) {
  field.layout = layouts.find(field.structName);
  if (field.layout == kNoLayout) {
    if (layouts.hasTwoShapes(field.structName))
      return fail(fmt::format("there are two structs called '{}', which differ; rename one of them", field.structName));
    std::vector<std::string> names = layouts.names();
    if (names.empty())
      return fail(fmt::format(
          "there is no struct '{}': the program has no debug information; build it with -g, or describe the struct "
          "with [struct.{}]",
          field.structName, field.structName));
    std::string near = nearestName(field.structName, names);
    return fail(fmt::format("the program has no struct '{}'{}", field.structName,
                            near.empty() ? std::string("; 'blackout trace --types' shows those that it stores to")
                                         : fmt::format("; did you mean '{}'?", near)));
  }
  if (field.path.empty()) {
    field.place = {0, layouts[field.layout].size, 0, 1, 0, field.layout};
    return {};
  }
  auto place = layouts.field(field.layout, field.path);
  if (place) {
    field.place = *place;
    return {};
  }
  // The first name of the path that is wrong.
  std::string_view path = field.path;
  std::string right;
  LayoutNo in = field.layout;
  while (!path.empty()) {
    std::string part(path.substr(0, path.find('.')));
    path = part.size() == path.size() ? std::string_view() : path.substr(part.size() + 1);
    auto found = layouts.field(in, part);
    if (!found) {
      std::string name = part.substr(0, part.find('['));
      auto plain = layouts.field(in, name);
      if (plain)
        return fail(fmt::format("'{}.{}{}': {}", field.structName, right, part,
                                part.find('[') == std::string::npos ? "an element is written as name[] or name[0]"
                                                                    : "it is no array, or has fewer elements"));
      std::string near = nearestName(name, layouts.fieldsOf(in));
      return fail(fmt::format("'{}' has no field '{}'{}", field.structName + (right.empty() ? "" : "." + right), name,
                              near.empty() ? std::string() : fmt::format("; did you mean '{}'?", near)));
    }
    right += (right.empty() ? "" : ".") + part;
    in = found->type;
  }
  return fail(fmt::format("'{}': only one element of an array may be left open, and elements are written as name[]",
                          field.text()));
}

Result<void> Expression::bind(const StructLayouts& layouts) {
  for (FieldRef& field : fields_)
    if (auto ok = bindField(field, layouts); !ok) return fail(fmt::format("\"{}\": {}", text_, ok.error().sentence));
  for (const Step& step : code_)
    if (step.what == Step::Value && fields_[step.field].place.size > 8)
      return fail(fmt::format("\"{}\": '{}' has {} bytes and is no number; &{} is its address", text_,
                              fields_[step.field].text(), fields_[step.field].place.size, fields_[step.field].text()));
  return {};
}

std::optional<std::uint64_t> Expression::evaluate(const Source& source) const {
  std::vector<std::uint64_t> stack;
  for (const Step& step : code_) {
    std::optional<std::uint64_t> result;
    switch (step.what) {
      case Step::Number:
        result = step.number;
        break;
      case Step::Value:
        result = source.value(fields_[step.field]);
        break;
      case Step::Address:
        result = source.address(fields_[step.field]);
        break;
      case Step::Size:
        result = fields_[step.field].place.size;
        break;
      default: {
        std::uint64_t b = stack.back();
        stack.pop_back();
        std::uint64_t a = stack.back();
        stack.pop_back();
        bool divides = step.what == Step::Divide || step.what == Step::Remainder;
        if (divides && b == 0) return std::nullopt;
        result = step.what == Step::Add        ? a + b
                 : step.what == Step::Subtract ? a - b
                 : step.what == Step::Multiply ? a * b
                 : step.what == Step::Divide   ? a / b
                                               : a % b;
      }
    }
    if (!result) return std::nullopt;
    stack.push_back(*result);
  }
  return stack.back();
}

}  // namespace blackout
