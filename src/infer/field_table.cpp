#include "infer/field_table.h"

#include <algorithm>

using namespace llvm;

namespace blackout {

KeyNo FieldTable::of(const std::string& key) {
  auto [at, fresh] = numbers_.try_emplace(key, keys_.endId());
  if (!fresh) return at->second;
  KeyNo no = at->second;
  keys_.push_back(key);
  structs_.push_back(no);
  std::string structure = blackout::structOf(key);
  if (structure != key) {
    KeyNo parent = of(structure);
    structs_[no] = parent;
  }
  return no;
}

Keys FieldTable::in(const Metadata* list) {
  Keys keys;
  const auto* node = dyn_cast_or_null<MDNode>(list);
  if (node == nullptr || node->getNumOperands() > kMostKeys) return keys;
  for (const MDOperand& operand : node->operands()) {
    const auto* text = dyn_cast_or_null<MDString>(operand.get());
    if (text == nullptr || text->getString().empty()) return {};
    // Which class an object has is no data of the program's.
    if (text->getString().contains("._vptr$")) return {};
    keys.push_back(of(text->getString().str()));
  }
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys;
}

Keys FieldTable::argument(const CallBase& call, unsigned number) {
  const MDNode* node = call.getMetadata(kArgumentsNode);
  if (node == nullptr || number >= node->getNumOperands()) return {};
  return in(node->getOperand(number).get());
}

void addKeys(Keys& keys, const Keys& more) {
  if (more.empty()) return;
  Keys all;
  std::set_union(keys.begin(), keys.end(), more.begin(), more.end(), std::back_inserter(all));
  keys = std::move(all);
}

}  // namespace blackout
