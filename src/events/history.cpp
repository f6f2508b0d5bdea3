#include "events/history.h"

#include <map>

#include "events/byte_stream.h"
#include "events/recovery_contract.h"

namespace blackout {

namespace {

void putRecord(ByteWriter& out, std::uint32_t what, const HistoryOperation& o, const Values& values) {
  std::string_view name = what == BLACKOUT_HISTORY_BEGIN ? std::string_view(o.name) : std::string_view();
  std::string list = encodeValues(values);
  blackout_history_record head{};
  head.size = static_cast<std::uint32_t>(sizeof head + (name.size() + 7) / 8 * 8 + list.size());
  head.what = what;
  head.thread = o.thread;
  head.name_size = static_cast<std::uint32_t>(name.size());
  out.fixed(head);
  out.padded(name);
  out.bytes(list);
}

}  // namespace

std::string encodeHistory(const History& history) {
  std::map<std::uint32_t, std::pair<const HistoryOperation*, std::uint32_t>> records;  // by position
  for (const HistoryOperation& o : history) {
    records[o.began] = {&o, BLACKOUT_HISTORY_BEGIN};
    if (o.finished()) records[o.ended] = {&o, BLACKOUT_HISTORY_END};
  }
  ByteWriter out;
  for (const auto& [position, record] : records) {
    auto [o, what] = record;
    putRecord(out, what, *o, what == BLACKOUT_HISTORY_BEGIN ? o->arguments : o->results);
  }
  return out.take();
}

std::optional<History> decodeHistory(std::string_view bytes) {
  History history;
  std::map<std::uint32_t, std::vector<std::size_t>> open;  // by thread, the innermost last
  // Who reserved room first and who was numbered first can be two threads, so numbers go by the begins that are
  // there.
  std::map<std::uint32_t, std::uint32_t> numbers;
  std::uint32_t position = 0;
  for (ByteReader in(bytes); !in.atEnd();) {
    auto head = in.fixed<blackout_history_record>();
    if (!in.ok()) return std::nullopt;
    if (head.size == 0) break;
    if (head.size % 8 != 0 || head.size < sizeof head) return std::nullopt;
    ByteReader record(in.bytes(head.size - sizeof head));
    std::string_view name = record.padded(head.name_size);
    auto values = decodeValues(record.bytes(record.left()));
    if (!in.ok() || !record.ok() || !values) return std::nullopt;
    std::vector<std::size_t>& stack = open[head.thread];
    if (head.what == BLACKOUT_HISTORY_BEGIN) {
      stack.push_back(history.size());
      HistoryOperation& o = history.emplace_back();
      o.thread = numbers.try_emplace(head.thread, static_cast<std::uint32_t>(numbers.size() + 1)).first->second;
      o.name = name;
      o.arguments = std::move(*values);
      o.began = position++;
    } else if (head.what != BLACKOUT_HISTORY_END) {
      return std::nullopt;
    } else if (!stack.empty()) {
      history[stack.back()].results = std::move(*values);
      history[stack.back()].ended = position++;
      stack.pop_back();
    }
  }
  return history;
}

std::string textOf(const History& history) {
  std::string text;
  for (const HistoryOperation& o : history) {
    text += (text.empty() ? "" : ", ") + o.name + "(";
    for (std::size_t i = 0; i < o.arguments.size(); ++i) text += (i == 0 ? "" : ", ") + textOf(o.arguments[i]);
    text += o.finished() ? o.results.empty() ? ")" : ") =" : ") unfinished";
    for (const Value& v : o.results) text += " " + textOf(v);
  }
  return text;
}

}  // namespace blackout
