#include "infer/array_levels.h"

#include <algorithm>

#include "ir/prepared.h"
#include "llvm/IR/GetElementPtrTypeIterator.h"
#include "llvm/IR/Operator.h"

using namespace llvm;

namespace blackout {

namespace {

// An index that belongs to an array which is met further down.
struct Pending {
  std::vector<const Use*> indices;
  std::int64_t constant = 0;
  std::uint64_t size = 0;  // of an element; 0: there is none
  bool fits(std::uint64_t other) const { return size == 0 || size == other; }
};

void addIndex(Pending& p, const Use& use) {
  if (const auto* c = dyn_cast<ConstantInt>(use.get()))
    p.constant += c->getSExtValue();
  else
    p.indices.push_back(&use);
}

// What a pointer that a loop moves began as: the one value that comes from outside of it. Null: it is none such.
// `step` is the type that it moves over.
const Use* beginningOf(const PHINode& phi, Type*& step) {
  const Use* outside = nullptr;
  for (const Use& incoming : phi.incoming_values()) {
    const Value* v = incoming.get();
    Type* over = nullptr;
    while (const auto* gep = dyn_cast<GEPOperator>(v)) {
      over = gep->getSourceElementType();
      v = gep->getPointerOperand();
    }
    if (v == &phi) {
      step = over;
      continue;
    }
    if (outside != nullptr) return nullptr;
    outside = &incoming;
  }
  return outside;
}

Keys behind(const Keys& members, FieldTable& fields) {
  Keys arrays;
  for (KeyNo k : members) {
    FieldKey key = fields.key(k);
    addKeys(arrays, {fields.of(key + "[]")});
  }
  return arrays;
}

class Levels {
 public:
  Levels(FieldTable& fields, const DataLayout& dl, std::vector<const Use*>* ways)
      : fields_(fields), dl_(dl), ways_(ways) {}

  std::vector<ArrayLevel> of(const Use& pointer) {
    const Use* at = &pointer;
    for (int steps = 0; steps < 64; ++steps) {
      const Value* v = at->get();
      if (const auto* gep = dyn_cast<GEPOperator>(v)) {
        takeGep(*gep);
        at = &gep->getOperandUse(0);
        continue;
      }
      if (const auto* phi = dyn_cast<PHINode>(v)) {
        Type* step = nullptr;
        const Use* beginning = moving_ == nullptr ? beginningOf(*phi, step) : nullptr;
        if (beginning == nullptr || step == nullptr || !step->isSized()) {
          for (const Use& way : phi->incoming_values())
            if (ways_ != nullptr && isa<GetElementPtrInst>(way.get())) ways_->push_back(&way);
          return std::move(levels_);
        }
        std::uint64_t size = dl_.getTypeAllocSize(step).getFixedValue();
        // Inside of an element, or some elements further on.
        if (!pending_.fits(size)) return {};
        pending_.size = size;
        moving_ = &pointer;
        beginning_ = beginning->get();
        at = beginning;
        continue;
      }
      if (isa<FreezeInst, AddrSpaceCastInst>(v)) {
        at = &cast<User>(v)->getOperandUse(0);
        continue;
      }
      if (const auto* load = dyn_cast<LoadInst>(v); load != nullptr && (pending_.size != 0 || moving_ != nullptr)) {
        Keys members = fields_.in(*load, kFieldNode);
        if (!members.empty()) put(behind(members, fields_), {&load->getOperandUse(0), 0}, true, 0, pending_.size);
      }
      break;
    }
    return std::move(levels_);
  }

 private:
  void put(Keys containers, UsedAddress anchor, bool behindPointer, std::uint64_t elements, std::uint64_t size) {
    ArrayLevel level;
    level.containers = std::move(containers);
    level.anchor = anchor;
    level.behindPointer = behindPointer;
    level.elements = elements;
    level.elementSize = size;
    if (moving_ != nullptr) {
      level.moving = moving_;
      level.beginning = beginning_;
    } else {
      level.indices = std::move(pending_.indices);
      level.constant = pending_.constant;
    }
    if (size != 0 || moving_ != nullptr) levels_.push_back(std::move(level));
    pending_ = {};
    moving_ = nullptr;
  }

  void takeGep(const GEPOperator& gep) {
    const auto* own = dyn_cast<GetElementPtrInst>(&gep);
    struct Step {
      const Use* index;
      Type* of;  // the type that the index leads into; null: the first, over the pointer itself
      std::int64_t offset;
    };
    std::vector<Step> steps;
    std::int64_t offset = 0;
    unsigned number = 1;
    for (auto i = gep_type_begin(gep), e = gep_type_end(gep); i != e; ++i, ++number) {
      const Use& use = gep.getOperandUse(number);
      if (StructType* st = i.getStructTypeOrNull()) {
        unsigned field = static_cast<unsigned>(cast<ConstantInt>(use.get())->getZExtValue());
        offset += static_cast<std::int64_t>(dl_.getStructLayout(st)->getElementOffset(field).getFixedValue());
        // Beyond a member of a struct another array begins.
        steps.push_back({nullptr, st, offset});
        continue;
      }
      steps.push_back({&use, number == 1 ? nullptr : i.getIndexedType(), offset});
      if (number > 1)
        if (const auto* c = dyn_cast<ConstantInt>(use.get()))
          offset +=
              c->getSExtValue() * static_cast<std::int64_t>(dl_.getTypeAllocSize(i.getIndexedType()).getFixedValue());
    }
    for (std::size_t k = steps.size(); k-- > 0;) {
      const Step& step = steps[k];
      if (step.index == nullptr) {
        // The address of a member: what is still to be placed was of an array that begins there.
        drop();
        continue;
      }
      if (step.of == nullptr) {
        const auto* zero = dyn_cast<ConstantInt>(step.index->get());
        if (zero != nullptr && zero->isZero()) continue;
        std::uint64_t size = dl_.getTypeAllocSize(gep.getSourceElementType()).getFixedValue();
        if (!pending_.fits(size)) drop();
        pending_.size = size;
        addIndex(pending_, *step.index);
        continue;
      }
      std::uint64_t size = dl_.getTypeAllocSize(step.of).getFixedValue();
      if (!pending_.fits(size)) drop();
      pending_.size = size;
      addIndex(pending_, *step.index);
      Keys containers = own == nullptr ? Keys{} : fields_.in(*own, kArrayNode);
      std::uint64_t elements = 0;
      if (const auto* array = dyn_cast<ArrayType>(gep.getSourceElementType()); array != nullptr && k <= 1)
        elements = array->getNumElements();
      // Rows of rows are one array by name; the index of the row alone would not tell.
      if (!levels_.empty() && levels_.back().containers == containers) containers.clear();
      put(std::move(containers), {&gep.getOperandUse(0), step.offset}, false, elements, size);
    }
  }

  void drop() {
    pending_ = {};
    moving_ = nullptr;
  }

  FieldTable& fields_;
  const DataLayout& dl_;
  std::vector<const Use*>* ways_;
  Pending pending_;
  const Use* moving_ = nullptr;
  const Value* beginning_ = nullptr;
  std::vector<ArrayLevel> levels_;
};

}  // namespace

std::vector<ArrayLevel> arrayLevels(const Use& pointer, FieldTable& fields, const DataLayout& dl,
                                    std::vector<const Use*>* ways) {
  std::vector<ArrayLevel> levels = Levels(fields, dl, ways).of(pointer);
  std::erase_if(levels, [](const ArrayLevel& l) { return l.containers.empty(); });
  return levels;
}

}  // namespace blackout
