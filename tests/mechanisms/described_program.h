// A tiny program with described mechanisms: its stores have types, its structs have layouts.
#pragma once

#include "judged_program.h"
#include "mechanisms/invariants.h"

namespace blackout::test {

class DescribedProgram : public JudgedProgram {
 public:
  using JudgedProgram::JudgedProgram;

  struct Member {
    std::string name;
    std::uint64_t offset, size;
    std::uint64_t count = 1;
  };
  LayoutNo type(std::string name, std::uint64_t size, const std::vector<Member>& members) {
    StructLayout layout;
    layout.name = std::move(name);
    layout.size = size;
    for (const Member& m : members)
      layout.members.push_back({m.name, m.offset, m.size, m.count, m.count != 1, kNoLayout});
    return layouts.add(std::move(layout));
  }

  // A store to a field; each field has a place of its own.
  EventNo set(const std::string& field, std::uint64_t offset, std::uint64_t value, unsigned len = 8, ThreadNo t = 1) {
    auto [at, isNew] = places_.try_emplace(field);
    if (isNew) at->second = place(100 + places_.size(), SiteKind::Store, field);
    return storeAt(at->second, offset, value, len, t);
  }
  // The same, durable at once.
  void setDurable(const std::string& field, std::uint64_t offset, std::uint64_t value, unsigned len = 8,
                  ThreadNo t = 1) {
    set(field, offset, value, len, t);
    persist(offset, t);
  }

  Phases check(const std::string& text) {
    auto parsed = Description::parse(text, "test");
    EXPECT_TRUE(parsed.has_value()) << (parsed ? "" : parsed.error().sentence);
    if (!parsed) return {};
    description = std::move(*parsed);
    auto phases = checkMechanisms(index(), description, layouts);
    EXPECT_TRUE(phases.has_value()) << (phases ? "" : phases.error().sentence);
    return phases ? std::move(*phases) : Phases();
  }
  MechanismPhase phaseOf(const Phases& phases, EventNo n) { return phases.tags[index().storeOf(n)].phase; }
  bool isProtected(const Phases& phases, EventNo n) { return phases.isProtected(index().storeOf(n)); }

  StructLayouts layouts;
  Description description;

 private:
  std::map<std::string, StackId> places_;
};

inline std::uint64_t brokenOf(const Phases& phases) {
  std::uint64_t n = 0;
  for (const MechanismTransaction& t : phases.transactions) n += t.broken ? 1 : 0;
  return n;
}

// One rule is broken, and by these phases.
inline void expectBroken(const Phases& phases, MechanismRule rule, MechanismPhase first,
                         MechanismPhase second = MechanismPhase::None) {
  ASSERT_FALSE(phases.violations.empty());
  for (const Violation& v : phases.violations) {
    EXPECT_EQ(nameOf(v.rule), nameOf(rule));
    EXPECT_EQ(nameOf(v.firstPhase), nameOf(first));
    EXPECT_EQ(nameOf(v.secondPhase), nameOf(second));
  }
}
inline void expectHeld(const Phases& phases, std::size_t transactions) {
  for (const Violation& v : phases.violations)
    ADD_FAILURE() << nameOf(v.rule) << " " << nameOf(v.firstPhase) << " " << nameOf(v.secondPhase);
  EXPECT_EQ(phases.transactions.size(), transactions);
}

}  // namespace blackout::test
