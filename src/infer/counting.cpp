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
    case CountingRule::Sum:
      return "sum";
    case CountingRule::Ring:
      return "ring";
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

std::string boundText(const CountingProperty& p) {
  std::string bound = p.counter.substr(p.counter.rfind('.') + 1);
  if (p.mask != 0)
    bound = "the low " + std::to_string(__builtin_popcountll(static_cast<std::uint64_t>(p.mask))) + " bits of " + bound;
  switch (p.rule) {
    case CountingRule::Power:
      bound = "1 << " + bound;
      break;
    case CountingRule::Complement:
      bound = std::to_string(p.constant) + " - " + bound;
      break;
    default:
      break;
  }
  std::string all = std::to_string(p.reads.size());
  if (p.reads.size() == 1 && p.strict()) return "the one read stays below " + bound;
  if (p.strict()) return "every one of " + all + " reads stays below " + bound;
  std::string rest;
  auto add = [&](std::size_t n, const char* what) {
    if (n != 0) rest += (rest.empty() ? "" : ", ") + std::to_string(n) + " " + what;
  };
  add(p.refuted, "refuted");
  add(p.unknown, "unknown");
  return std::to_string(p.proven) + " of " + all + " reads stay below " + bound + " (" + rest + ")";
}

}  // namespace blackout
