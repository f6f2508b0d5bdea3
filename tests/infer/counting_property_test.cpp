// Random small programs over an array and two numbers beside it: what the analysis calls proven of a read holds in
// every execution of an interpreter.
#include <rapidcheck.h>

#include <iostream>
#include <map>
#include <memory>
#include <sstream>

#include "infer/analysis.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

namespace blackout {
namespace {

using U = std::uint64_t;
using S = std::int64_t;

struct Expr {
  enum Base { Constant, Count, Other, Argument, Variable } base = Constant;
  S plus = 0;
};
enum class Cmp { Ult, Ule, Ugt, Ne, Slt, Sge };
const char* const kCmpNames[] = {"ult", "ule", "ugt", "ne", "slt", "sge"};

struct Statement;
using Statements = std::vector<Statement>;
struct Statement {
  enum Kind { Read, Write, SetCount, SetOther, If, For, DoWhile } kind = Read;
  Expr a, b;  // index, value, or the two sides of a condition; of a loop: start and bound
  Cmp cmp{};
  S step = 1;
  Statements body;
  bool leaves = false;  // a loop that ends when an element is the argument
  unsigned line = 0;
};

// --- as code ---

class Code {
 public:
  std::string of(const Statements& program) {
    out_ << "%N = type { i64, i64, [8 x i64] }\n"
            "define void @f(ptr %n, i64 %arg) !dbg !22 {\nentry:\n";
    block_ = "entry";
    emit(program, "0");
    out_ << "  ret void\n}\n"
            "define void @update(ptr %n) {\n"
            "  %p = getelementptr %N, ptr %n, i64 0, i32 2\n"
            "  %e = getelementptr [8 x i64], ptr %p, i64 0, i64 1, !blackout.array !3\n"
            "  store i64 1, ptr %e, !blackout.field !3\n"
            "  store i64 1, ptr %n, !blackout.field !1\n"
            "  %o = getelementptr %N, ptr %n, i64 0, i32 1\n"
            "  store i64 1, ptr %o, !blackout.field !2\n  ret void\n}\n"
            "declare void @llvm.x86.clwb(ptr)\n"
            "define void @flush(ptr %p) {\n  call void @llvm.x86.clwb(ptr %p), !blackout.field !10\n  ret void\n}\n"
            "!blackout.prepared = !{!0}\n!0 = !{i32 1}\n!10 = !{!\"N\"}\n"
            "!1 = !{!\"N.count\"}\n!2 = !{!\"N.other\"}\n!3 = !{!\"N.item[]\"}\n"
            "!llvm.module.flags = !{!19}\n!19 = !{i32 2, !\"Debug Info Version\", i32 3}\n"
            "!llvm.dbg.cu = !{!20}\n"
            "!20 = distinct !DICompileUnit(language: DW_LANG_C99, file: !21, emissionKind: FullDebug)\n"
            "!21 = !DIFile(filename: \"p.c\", directory: \"/\")\n"
            "!22 = distinct !DISubprogram(name: \"f\", scope: !21, file: !21, line: 1, type: !23, spFlags: "
            "DISPFlagDefinition, unit: !20)\n"
            "!23 = !DISubroutineType(types: !24)\n!24 = !{null}\n";
    for (unsigned line : lines_) out_ << "!" << 100 + line << " = !DILocation(line: " << line << ", scope: !22)\n";
    return out_.str();
  }

 private:
  std::string fresh() { return "%v" + std::to_string(next_++); }
  std::string label() { return "b" + std::to_string(next_++); }
  void begin(const std::string& name) {
    out_ << name << ":\n";
    block_ = name;
  }

  std::string address(int field) {
    std::string p = fresh();
    out_ << "  " << p << " = getelementptr %N, ptr %n, i64 0, i32 " << field << "\n";
    return p;
  }

  std::string value(const Expr& e, const std::string& variable) {
    std::string v = variable;
    if (e.base == Expr::Constant) return std::to_string(e.plus);
    if (e.base == Expr::Argument) v = "%arg";
    if (e.base == Expr::Count || e.base == Expr::Other) {
      int field = e.base == Expr::Count ? 0 : 1;
      std::string p = address(field);
      v = fresh();
      out_ << "  " << v << " = load i64, ptr " << p << ", !blackout.field !" << field + 1 << "\n";
    }
    if (e.plus == 0) return v;
    std::string sum = fresh();
    out_ << "  " << sum << " = add i64 " << v << ", " << e.plus << "\n";
    return sum;
  }

  std::string element(const std::string& index) {
    std::string items = address(2), p = fresh();
    out_ << "  " << p << " = getelementptr [8 x i64], ptr " << items << ", i64 0, i64 " << index
         << ", !blackout.array !3\n";
    return p;
  }

  std::string read(const std::string& index, unsigned line) {
    std::string p = element(index), v = fresh();
    out_ << "  " << v << " = load i64, ptr " << p << ", !dbg !" << 100 + line << ", !blackout.field !3\n";
    lines_.push_back(line);
    return v;
  }

  std::string condition(const std::string& a, Cmp cmp, const std::string& b) {
    std::string c = fresh();
    out_ << "  " << c << " = icmp " << kCmpNames[static_cast<int>(cmp)] << " i64 " << a << ", " << b << "\n";
    return c;
  }

  void emit(const Statements& list, const std::string& variable) {
    for (const Statement& s : list) emit(s, variable);
  }

  void emit(const Statement& s, const std::string& variable) {
    switch (s.kind) {
      case Statement::Read:
        read(value(s.a, variable), s.line);
        return;
      case Statement::Write: {
        std::string v = value(s.b, variable), p = element(value(s.a, variable));
        out_ << "  store i64 " << v << ", ptr " << p << ", !blackout.field !3\n";
        return;
      }
      case Statement::SetCount:
      case Statement::SetOther: {
        std::string v = value(s.a, variable), p = address(s.kind == Statement::SetCount ? 0 : 1);
        out_ << "  store i64 " << v << ", ptr " << p << ", !blackout.field !" << (s.kind == Statement::SetCount ? 1 : 2)
             << "\n";
        return;
      }
      case Statement::If: {
        std::string a = value(s.a, variable), b = value(s.b, variable), c = condition(a, s.cmp, b);
        std::string yes = label(), end = label();
        out_ << "  br i1 " << c << ", label %" << yes << ", label %" << end << "\n";
        begin(yes);
        emit(s.body, variable);
        out_ << "  br label %" << end << "\n";
        begin(end);
        return;
      }
      case Statement::For:
      case Statement::DoWhile: {
        std::string start = value(s.a, variable), head = label(), body = label(), latch = label(), end = label();
        std::string i = fresh(), moved = fresh(), before = block_;
        out_ << "  br label %" << head << "\n";
        begin(head);
        out_ << "  " << i << " = phi i64 [ " << start << ", %" << before << " ], [ " << moved << ", %" << latch
             << " ]\n";
        if (s.kind == Statement::For) {
          std::string c = condition(i, s.cmp, value(s.b, i));
          out_ << "  br i1 " << c << ", label %" << body << ", label %" << end << "\n";
        } else {
          out_ << "  br label %" << body << "\n";
        }
        begin(body);
        emit(s.body, i);
        if (s.leaves) {
          std::string c = condition(read(i, s.line), Cmp::Ne, "%arg"), on = label();
          out_ << "  br i1 " << c << ", label %" << on << ", label %" << end << "\n";
          begin(on);
        }
        if (s.kind == Statement::DoWhile) {
          std::string after = fresh();
          out_ << "  " << after << " = add i64 " << i << ", " << s.step << "\n";
          std::string c = condition(after, s.cmp, value(s.b, after));
          out_ << "  br i1 " << c << ", label %" << latch << ", label %" << end << "\n";
        } else {
          out_ << "  br label %" << latch << "\n";
        }
        begin(latch);
        out_ << "  " << moved << " = add i64 " << i << ", " << s.step << "\n  br label %" << head << "\n";
        begin(end);
        return;
      }
    }
  }

  std::ostringstream out_;
  std::string block_;
  std::vector<unsigned> lines_;
  unsigned next_ = 0;
};

// --- as it runs ---

struct SeenRead {
  unsigned line;
  U index, count, other;
};

class Interpreter {
 public:
  U count = 0, other = 0, argument = 0;
  std::vector<SeenRead> reads;

  void run(const Statements& list, U variable) {
    for (const Statement& s : list) {
      if (steps_ > 300) return;
      run(s, variable);
    }
  }

 private:
  U value(const Expr& e, U variable) const {
    const U bases[] = {0, count, other, argument, variable};
    return bases[e.base] + static_cast<U>(e.plus);
  }
  static bool holds(U a, Cmp cmp, U b) {
    switch (cmp) {
      case Cmp::Ult:
        return a < b;
      case Cmp::Ule:
        return a <= b;
      case Cmp::Ugt:
        return a > b;
      case Cmp::Ne:
        return a != b;
      case Cmp::Slt:
        return static_cast<S>(a) < static_cast<S>(b);
      case Cmp::Sge:
        return static_cast<S>(a) >= static_cast<S>(b);
    }
    return false;
  }
  U read(U index, unsigned line) {
    reads.push_back({line, index, count, other});
    return items_[index];
  }
  void run(const Statement& s, U variable) {
    ++steps_;
    switch (s.kind) {
      case Statement::Read:
        read(value(s.a, variable), s.line);
        return;
      case Statement::Write:
        items_[value(s.a, variable)] = value(s.b, variable);
        return;
      case Statement::SetCount:
        count = value(s.a, variable);
        return;
      case Statement::SetOther:
        other = value(s.a, variable);
        return;
      case Statement::If:
        if (holds(value(s.a, variable), s.cmp, value(s.b, variable))) run(s.body, variable);
        return;
      case Statement::For:
      case Statement::DoWhile:
        for (U i = value(s.a, variable); steps_ <= 300; i += static_cast<U>(s.step)) {
          if (s.kind == Statement::For && !holds(i, s.cmp, value(s.b, i))) return;
          run(s.body, i);
          if (steps_ > 300 || (s.leaves && read(i, s.line) == argument)) return;
          U after = i + static_cast<U>(s.step);
          if (s.kind == Statement::DoWhile && !holds(after, s.cmp, value(s.b, after))) return;
          ++steps_;
        }
        return;
    }
  }

  std::map<U, U> items_;
  unsigned steps_ = 0;
};

// --- random ones ---

Expr randomExpr(bool variable) {
  Expr e;
  e.base = static_cast<Expr::Base>(*rc::gen::inRange(0, variable ? 5 : 4));
  e.plus = *rc::gen::inRange<S>(-2, 3);
  if (e.base == Expr::Constant) e.plus = e.plus < 0 ? 4 - e.plus : e.plus;
  return e;
}

Statements randomStatements(int depth, bool variable, unsigned& line) {
  Statements list;
  const int n = *rc::gen::inRange(1, 4);
  for (int k = 0; k < n; ++k) {
    Statement s;
    s.kind = static_cast<Statement::Kind>(*rc::gen::inRange(0, depth == 0 ? 4 : 7));
    s.a = randomExpr(variable);
    s.b = randomExpr(variable);
    s.cmp = static_cast<Cmp>(*rc::gen::inRange(0, 6));
    s.step = *rc::gen::element<S>(1, 1, 2, -1);
    // Counts move by little, most of the time.
    if (s.kind == Statement::SetCount && *rc::gen::inRange(0, 3) != 0) s.a.base = Expr::Count;
    const bool loop = s.kind == Statement::For || s.kind == Statement::DoWhile;
    s.leaves = loop && *rc::gen::inRange(0, 3) == 0;
    s.line = ++line;
    if (depth > 0 && (loop || s.kind == Statement::If)) s.body = randomStatements(depth - 1, variable || loop, line);
    list.push_back(std::move(s));
  }
  return list;
}

}  // namespace
}  // namespace blackout

int main() {
  using namespace blackout;
  std::uint64_t proven = 0;
  bool ok = rc::check("what is proven of a read holds in every execution", [&] {
    unsigned line = 0;
    Statements program = randomStatements(2, false, line);
    std::string text = Code().of(program);
    llvm::LLVMContext context;
    llvm::SMDiagnostic error;
    std::unique_ptr<llvm::Module> m = llvm::parseAssemblyString(text, error, context);
    if (m == nullptr) RC_FAIL(error.getMessage().str() + "\n" + text);
    ProgramBitcode bitcode;
    bitcode.units.push_back({"p.c", "p.c", {}});
    llvm::raw_string_ostream out(bitcode.units[0].bitcode);
    llvm::WriteBitcodeToFile(*m, out);
    CountingProperties found = inferCounting(bitcode);
    // By counter and line: whether it is proven, and only where the counter is not 0.
    std::map<std::pair<std::string, unsigned>, bool> claims;
    auto claim = [&](const FieldKey& counter, const std::vector<CountedRead>& reads, bool notZero) {
      for (const CountedRead& r : reads)
        if (r.proof == ReadProof::Proven && !r.at.chain.empty()) claims[{counter, r.at.chain[0].line}] = notZero;
    };
    for (const CountingProperty& p : found.properties) claim(p.counter, p.reads, p.notZero);
    for (const DroppedPair& d : found.dropped) claim(d.counter, d.reads, true);
    proven += claims.size();
    for (U round = 0; round < 60; ++round) {
      Interpreter machine;
      machine.count = round % 5;
      machine.other = round / 5 % 4;
      machine.argument = (round / 20) * 3;
      machine.run(program, 0);
      for (const SeenRead& r : machine.reads)
        for (const char* counter : {"N.count", "N.other"}) {
          auto at = claims.find({counter, r.line});
          U value = counter == std::string("N.count") ? r.count : r.other;
          // Beyond what any array can have nothing is claimed.
          if (at == claims.end() || value >= U{1} << 47 || (at->second && value == 0)) continue;
          if (static_cast<S>(r.index) >= static_cast<S>(value))
            RC_FAIL("line " + std::to_string(r.line) + ": " + counter + " = " + std::to_string(value) + ", index " +
                    std::to_string(r.index) + "\n" + text);
        }
    }
  });
  // A test that claims nothing shows nothing. How much is claimed depends on what chance makes.
  std::cout << proven << " reads proven\n";
  if (proven == 0) return 1;
  return ok ? 0 : 1;
}
