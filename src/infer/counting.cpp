#include "infer/counting.h"

namespace blackout {

const char* nameOf(CountingRule rule) {
  switch (rule) {
    case CountingRule::Size:
      return "size";
    case CountingRule::Power:
      return "power";
    case CountingRule::Complement:
      return "complement";
    case CountingRule::Ring:
      return "ring";
    case CountingRule::RingLength:
      return "ring-length";
  }
  return "";
}

const char* nameOf(ReadProof proof) {
  switch (proof) {
    case ReadProof::Proven:
      return "proven";
    case ReadProof::Refuted:
      return "refuted";
    case ReadProof::Unknown:
      return "unknown";
  }
  return "";
}

double CountingProperty::score() const {
  // What is not known speaks half against it.
  double against = static_cast<double>(refuted) + static_cast<double>(unknown) / 2;
  double all = static_cast<double>(proven) + against;
  return all == 0 ? 0 : static_cast<double>(proven) / all;
}

namespace {

std::string memberOf(const FieldKey& key) { return key.substr(key.rfind('.') + 1); }

}  // namespace

std::string boundText(const CountingProperty& p) {
  std::string bound = memberOf(p.counter);
  if (p.mask != 0)
    bound = "the low " + std::to_string(__builtin_popcountll(static_cast<std::uint64_t>(p.mask))) + " bits of " + bound;
  switch (p.rule) {
    case CountingRule::Power:
      bound = "1 << " + bound;
      break;
    case CountingRule::Complement:
      bound = std::to_string(p.constant) + " - " + bound;
      break;
    case CountingRule::Ring:
      bound = "between " + memberOf(p.start) + " and " + bound;
      break;
    case CountingRule::RingLength:
      bound = "within " + bound + " of " + memberOf(p.start);
      break;
    case CountingRule::Size:
      break;
  }
  if (p.rule != CountingRule::Ring && p.rule != CountingRule::RingLength) bound = "below " + bound;
  std::string all = std::to_string(p.reads.size());
  if (p.reads.size() == 1 && p.strict()) return "the one read stays " + bound;
  if (p.strict()) return "every one of " + all + " reads stays " + bound;
  std::string rest;
  auto add = [&](std::size_t n, const char* what) {
    if (n != 0) rest += (rest.empty() ? "" : ", ") + std::to_string(n) + " " + what;
  };
  add(p.refuted, "refuted");
  add(p.unknown, "unknown");
  return std::to_string(p.proven) + " of " + all + " reads stay " + bound + " (" + rest + ")";
}

}  // namespace blackout
