// What lies where: told by stores, over time.
#include "binary/typed_objects.h"

#include "described_program.h"
#include "events/trace.h"

namespace blackout::test {
namespace {

class Typed : public ::testing::Test {
 protected:
  void SetUp() override {
    p.type("node", 64, {{"key", 0, 8}, {"value", 8, 8}, {"name", 16, 1, 48}});
    p.type("free_block", 64, {{"next", 0, 8}, {"size", 8, 8}});
    StructLayout open;
    open.name = "record";
    open.size = 8;
    open.members = {{"length", 0, 8, 1, false, kNoLayout}, {"bytes", 8, 1, 0, true, kNoLayout}};
    p.layouts.add(std::move(open));
  }
  std::vector<std::string> names() {
    TypedObjects objects(p.trace(), p.layouts);
    std::vector<std::string> out;
    for (EventNo n = 0; n < p.trace().end(); n = p.trace().next(n)) {
      if (!isStore(p.trace()[n])) continue;
      objects.store(n);
      out.push_back(objects.nameOf(n));
    }
    return out;
  }
  DescribedProgram p;
};

TEST_F(Typed, ByTheObjectWhereTheInstructionKnowsNothing) {
  p.set("node.key", 256, 1);
  p.store(1, 264, 2, 8);
  p.store(1, 272, 3, 8);
  p.store(1, 512, 4, 8);
  EXPECT_EQ(names(), (std::vector<std::string>{"node.key", "node.value", "node.name[]", ""}));
}

TEST_F(Typed, ABlockThatIsUsedAgain) {
  p.set("node.key", 256, 1);
  p.store(1, 264, 2, 8);
  p.set("free_block.next", 256, 1);
  p.store(1, 264, 2, 8);
  p.set("node.key", 256, 1);
  p.store(1, 264, 2, 8);
  EXPECT_EQ(names(), (std::vector<std::string>{"node.key", "node.value", "free_block.next", "free_block.size",
                                               "node.key", "node.value"}));
}

TEST_F(Typed, ARecordThatIsAsLongAsItLikes) {
  p.set("record.length", 256, 100);
  p.store(1, 264, 2, 8);
  p.store(1, 344, 2, 8);
  EXPECT_EQ(names(), (std::vector<std::string>{"record.length", "record.bytes[]", "record.bytes[]"}));
}

TEST_F(Typed, WhatLiesInOpaqueBytesStays) {
  p.type("heap", 1024, {{"top", 0, 8}, {"bytes", 64, 1, 960}});
  p.set("node.key", 256, 1);
  p.set("heap.top", 0, 1);
  p.store(1, 264, 2, 8);
  p.store(1, 512, 2, 8);
  EXPECT_EQ(names(), (std::vector<std::string>{"node.key", "heap.top", "node.value", "heap.bytes[]"}));
}

}  // namespace
}  // namespace blackout::test
