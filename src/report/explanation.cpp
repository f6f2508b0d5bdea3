#include "report/explanation.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "events/id_text.h"
#include "findings/numbers.h"
#include "report/sentence_words.h"
#include "report/sentences.h"

namespace blackout {

namespace {

constexpr std::size_t kWord = 8;  // bytes whose value is worth saying

bool overlap(const NamedBytes& a, const NamedBytes& b) {
  return a.file == b.file && a.offset < b.offset + b.size && b.offset < a.offset + a.size;
}

class Paragraph {
 public:
  Paragraph(const Finding& f, const CrashCause& c) : f_(f), c_(c), crash_(f.shownBy->crashes.front()) {
    stores_.push_back(&*c.first);
    for (const SeenStore& other : c.others)
      if (other.place != 0) stores_.push_back(&other);
    if (c.second) stores_.push_back(&*c.second);
    std::sort(stores_.begin(), stores_.end(),
              [](const SeenStore* a, const SeenStore* b) { return a->event < b->event; });
  }

  std::string text() {
    for (std::size_t i = 0; i < stores_.size(); ++i) {
      const SeenStore& s = *stores_[i];
      text_ += fmt::format("{}{}{}. ", i == 0 ? "" : "Then ", change(s), &s == &*c_.first ? durability() : "");
    }
    if (c_.promised && c_.promised->place != 0)
      text_ += fmt::format("The operation that stored it ends at ({}). ", c_.promised->place);
    text_ += crash() + " ";
    text_ += restart();
    text_ += trials();
    while (text_.ends_with(' ')) text_.pop_back();
    return std::move(text_);
  }

 private:
  // The bytes by their name, told apart from others of the same name that were told of before.
  std::string name(const NamedBytes& bytes) {
    bool same = false, other = false;
    for (const NamedBytes* told : told_) {
      same |= overlap(*told, bytes);
      other |= told->type == bytes.type;
    }
    told_.push_back(&bytes);
    if (bytes.type.empty()) return bytesText(bytes);
    return !same && other ? "another " + bytes.type : bytes.type;
  }

  // "(1) changes Node.value from 0 to 5"
  std::string change(const SeenStore& s) {
    const NamedBytes& b = s.bytes;
    if (b.before.empty() || b.after.empty() || b.after.size() > kWord)
      return fmt::format("({}) stores to {}", s.place, name(b));
    if (b.before == b.after)
      return fmt::format("({}) stores {} to {}, as it was", s.place, valueText(b.after), name(b));
    return fmt::format("({}) changes {} from {} to {}", s.place, name(b), valueText(b.before), valueText(b.after));
  }

  // What becomes of the first store, as the verdict has it.
  std::string durability() const {
    PlaceNo until = c_.second ? c_.second->place : c_.promised ? c_.promised->place : 0;
    std::string before = until == 0    ? std::string(" before the power fails")
                         : c_.promised ? fmt::format(" before the operation ends at ({})", until)
                                       : fmt::format(" before ({})", until);
    std::string at = c_.flush ? lineText(c_.flush->at) : std::string();
    if (!at.empty()) at = " at " + at;
    switch (f_.kind) {
      case FindingKind::MissingFlush:
        return c_.everFlushed ? ", and its line is not flushed" + before : ", and nothing flushes its line";
      case FindingKind::MissingFence:
        if (!c_.flush) return ", past the cache, and no fence follows" + before;
        return fmt::format(", and its line is flushed{}, but no fence follows{}", at, before);
      case FindingKind::WrongOrder:
        if (c_.firstIs != FirstStore::Lost || !c_.flush) return {};
        return fmt::format(", and its line is flushed{} only later", at);
      default:
        return {};
    }
  }

  // "The power fails after (3) with everything durable that was stored by then but (1) and 2 other stores."
  std::string crash() const {
    std::string text = "The power fails";
    text += crash_.after != 0 ? fmt::format(" after ({})", crash_.after) : std::string(" at the beginning");
    const SeenStore* missing = nullptr;
    for (const SeenStore* s : stores_)
      if (s->event >= crash_.event && missing == nullptr) missing = s;
    if (missing != nullptr) text += fmt::format(", before ({}),", missing->place);
    text += " with everything durable that was stored by then";
    std::vector<std::string> lost;
    std::size_t others = 0;
    for (const SeenStore& l : crash_.lost) {
      auto told = std::find_if(stores_.begin(), stores_.end(), [&](const SeenStore* s) { return s->event == l.event; });
      if (told == stores_.end()) {
        ++others;
        continue;
      }
      std::string place = fmt::format("({})", (*told)->place);
      if (std::find(lost.begin(), lost.end(), place) == lost.end()) lost.push_back(place);
    }
    if (others != 0) lost.push_back(counted(others, lost.empty() ? "store" : "other store"));
    for (std::size_t i = 0; i < lost.size(); ++i)
      text += (i == 0 ? " but " : i + 1 == lost.size() ? " and " : ", ") + lost[i];
    return text + ".";
  }

  // "The restart reads Node.value at (4) and finds 0 (5 with everything durable); it crashes with SIGSEGV."
  std::string restart() {
    const std::string& symptom = f_.shownBy->symptom;
    if (!c_.read || c_.read->place == 0 || c_.read->value.empty() || c_.read->value.size() > kWord)
      return fmt::format("Then the restarted program {}. ", symptom);
    const SeenRead& read = *c_.read;
    std::string whole = read.bytes.after.empty() || read.bytes.after == read.value
                            ? std::string()
                            : fmt::format(" ({} with everything durable)", valueText(read.bytes.after));
    return fmt::format("The restart reads {} at ({}) and finds {}{}; it {}. ", name(read.bytes), read.place,
                       valueText(read.value), whole, symptom);
  }

  // What was tried of it.
  std::string trials() const {
    std::string text;
    auto add = [&](const std::string& one) { text += (text.empty() ? "" : "; ") + one; };
    for (const Fact& fact : f_.evidence) {
      if (const auto* fine = std::get_if<FineIfPersisted>(&fact))
        add(fmt::format("with ({}) durable as well it does not {}", fine->store,
                        f_.kind == FindingKind::CrossFailureRace ? "answer this way" : "fail this way"));
      if (const auto* fine = std::get_if<FineWithout>(&fact))
        add(fmt::format("without ({}) it ends well", fine->store));
    }
    if (text.empty()) return text;
    text[0] = text[0] == 'w' ? 'W' : text[0];
    return text + ".";
  }

  const Finding& f_;
  const CrashCause& c_;
  const SeenCrash& crash_;
  std::vector<const SeenStore*> stores_;  // in the order of the recording
  std::vector<const NamedBytes*> told_;
  std::string text_;
};

// The cause of a finding of which there is a paragraph; null: there is none.
const CrashCause* toldCause(const Finding& f) {
  const auto* c = std::get_if<CrashCause>(&f.claim);
  if (c == nullptr || !c->first || c->first->place == 0 || c->creation || c->lines != 0 || !c->examined) return nullptr;
  if (!f.shownBy || f.shownBy->crashes.size() != 1 || f.shownBy->symptom.empty()) return nullptr;
  switch (f.kind) {
    case FindingKind::MissingFlush:
    case FindingKind::MissingFence:
    case FindingKind::WrongOrder:
    case FindingKind::NotAtomic:
    case FindingKind::CrossFailureRace:
      break;
    default:
      return nullptr;
  }
  // Events are compared: they must be of one trace.
  auto elsewhere = [](const SeenStore& s) { return s.level != 1; };
  if (elsewhere(*c->first) || (c->second && (elsewhere(*c->second) || c->second->place == 0)) ||
      std::any_of(c->others.begin(), c->others.end(), elsewhere))
    return nullptr;
  return c;
}

}  // namespace

std::string explanationOf(const Finding& finding) {
  const CrashCause* cause = toldCause(finding);
  return cause == nullptr ? std::string() : Paragraph(finding, *cause).text();
}

bool explains(const Finding& finding, const Fact& fact) {
  const CrashCause* cause = toldCause(finding);
  if (cause == nullptr) return false;
  if (std::holds_alternative<FineIfPersisted>(fact) || std::holds_alternative<FineWithout>(fact)) return true;
  if (std::holds_alternative<NeverFlushed>(fact)) return finding.kind == FindingKind::MissingFlush;
  if (std::holds_alternative<FlushUnderWay>(fact)) return finding.kind == FindingKind::MissingFence;
  if (std::holds_alternative<FlushedLater>(fact))
    return finding.kind == FindingKind::WrongOrder && cause->firstIs == FirstStore::Lost && cause->flush.has_value();
  if (std::holds_alternative<OldValueRead>(fact))
    return cause->read && cause->read->place != 0 && !cause->read->value.empty() &&
           cause->read->value.size() <= kWord && overlap(cause->read->bytes, cause->first->bytes);
  return false;
}

}  // namespace blackout
