#include "pass/key_table.h"

#include <algorithm>

#include "llvm/IR/DebugInfoMetadata.h"

using namespace llvm;

namespace blackout {

void KeyTable::add(const Instruction& i, const std::vector<Access>& accesses, const std::vector<Field>& keys) {
  const DILocation* loc = i.getDebugLoc().get();
  if (loc == nullptr) return;
  std::vector<SourcePlace> chain = chainOf(loc);
  Entry entry{chain, 0, "", ""};
  if (keys.size() == 1) {
    entry.key = keys[0].key;
    // A key is the name of its struct, then what begins with a dot or a bracket.
    entry.object = entry.key.substr(0, entry.key.size() - keys[0].path.size());
  }
  for (const Access& a : accesses) {
    entry.size = a.size;
    entries_[{chain[0], a.cls}].insert(entry);
  }
}

std::string KeyTable::at(const SourceChain& source, std::uint64_t size) const {
  auto found = entries_.find({source.chain[0], source.cls});
  if (found == entries_.end()) return "";
  auto common = [&](const Entry* e) {
    auto ends = std::mismatch(e->chain.begin(), e->chain.end(), source.chain.begin(), source.chain.end());
    return static_cast<std::size_t>(ends.first - e->chain.begin());
  };
  // What was inlined by another call is another access, whatever it touches.
  std::vector<const Entry*> left;
  for (const Entry& e : found->second)
    if (common(&e) == std::min(e.chain.size(), source.chain.size())) left.push_back(&e);
  if (left.empty()) return "";
  auto keep = [&](auto predicate) {
    std::vector<const Entry*> some;
    std::copy_if(left.begin(), left.end(), std::back_inserter(some), predicate);
    if (!some.empty()) left = std::move(some);
  };
  keep([&](const Entry* e) { return e->size == size; });
  bool sameSize = left[0]->size == size;
  std::size_t longest = 0;
  for (const Entry* e : left) longest = std::max(longest, common(e));
  keep([&](const Entry* e) { return common(e) == longest; });
  const Entry& first = *left[0];
  bool oneObject = std::all_of(left.begin(), left.end(), [&](const Entry* e) { return e->object == first.object; });
  // What is wider than anything that was written here has taken in others: more than one field of the object.
  bool wider = size != 0 &&
               std::all_of(left.begin(), left.end(), [&](const Entry* e) { return e->size != 0 && e->size < size; });
  if (wider) return oneObject ? first.object : "";
  if (std::all_of(left.begin(), left.end(), [&](const Entry* e) { return e->key == first.key; })) return first.key;
  // A copy of a struct that was taken apart in the prepared copy.
  return oneObject && !sameSize ? first.object : "";
}

}  // namespace blackout
