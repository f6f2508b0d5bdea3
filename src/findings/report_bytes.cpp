#include "findings/report_bytes.h"

#include <algorithm>
#include <limits>
#include <map>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <variant>

#include "events/byte_stream.h"

namespace blackout {

namespace {

// How many members a struct has. Taken apart with another number it does not compile.
template <class T>
constexpr std::size_t kMembers = 99;
template <>
constexpr std::size_t kMembers<Frame> = 6;
template <>
constexpr std::size_t kMembers<NumberedPlace> = 10;
template <>
constexpr std::size_t kMembers<AffectedBytes> = 4;
template <>
constexpr std::size_t kMembers<Counts> = 2;
template <>
constexpr std::size_t kMembers<Cost> = 3;
template <>
constexpr std::size_t kMembers<SeenCrash> = 4;
template <>
constexpr std::size_t kMembers<ShownBy> = 6;
template <>
constexpr std::size_t kMembers<NamedBytes> = 6;
template <>
constexpr std::size_t kMembers<SeenStore> = 5;
template <>
constexpr std::size_t kMembers<SeenFlush> = 5;
template <>
constexpr std::size_t kMembers<SeenRead> = 4;
template <>
constexpr std::size_t kMembers<PromisedEnd> = 2;
template <>
constexpr std::size_t kMembers<Version> = 2;
template <>
constexpr std::size_t kMembers<CrashLevel> = 4;
template <>
constexpr std::size_t kMembers<Fix> = 11;
template <>
constexpr std::size_t kMembers<Fix::Store> = 3;
template <>
constexpr std::size_t kMembers<Value> = 3;
template <>
constexpr std::size_t kMembers<HistoryOperation> = 6;
template <>
constexpr std::size_t kMembers<PlainClaim> = 0;
template <>
constexpr std::size_t kMembers<CrashCause> = 16;
template <>
constexpr std::size_t kMembers<BadReadClaim> = 6;
template <>
constexpr std::size_t kMembers<NotDurable> = 5;
template <>
constexpr std::size_t kMembers<Replaced> = 2;
template <>
constexpr std::size_t kMembers<StoredPastTheEnd> = 1;
template <>
constexpr std::size_t kMembers<LoggedBefore> = 1;
template <>
constexpr std::size_t kMembers<LoggedInVain> = 2;
template <>
constexpr std::size_t kMembers<NotLogged> = 3;
template <>
constexpr std::size_t kMembers<InterruptedCreation> = 2;
template <>
constexpr std::size_t kMembers<BrokenMechanism> = 7;
template <>
constexpr std::size_t kMembers<OtherSide> = 4;
template <>
constexpr std::size_t kMembers<OldValueRead> = 1;
template <>
constexpr std::size_t kMembers<FineIfPersisted> = 1;
template <>
constexpr std::size_t kMembers<NeverFlushed> = 2;
template <>
constexpr std::size_t kMembers<TriedCure> = 7;
template <>
constexpr std::size_t kMembers<FlushUnderWay> = 0;
template <>
constexpr std::size_t kMembers<FlushedLater> = 0;
template <>
constexpr std::size_t kMembers<LockedCompleted> = 0;
template <>
constexpr std::size_t kMembers<FineWithout> = 1;
template <>
constexpr std::size_t kMembers<CanWait> = 2;
template <>
constexpr std::size_t kMembers<BothFail> = 0;
template <>
constexpr std::size_t kMembers<NotExamined> = 0;
template <>
constexpr std::size_t kMembers<MaySeeSeveral> = 0;
template <>
constexpr std::size_t kMembers<Said> = 4;
template <>
constexpr std::size_t kMembers<WrongLine> = 3;
template <>
constexpr std::size_t kMembers<WrongAnswer> = 7;
template <>
constexpr std::size_t kMembers<ToldOperation> = 4;
template <>
constexpr std::size_t kMembers<NoOrder> = 6;
template <>
constexpr std::size_t kMembers<FoundAt> = 1;
template <>
constexpr std::size_t kMembers<CountedTogether> = 7;
template <>
constexpr std::size_t kMembers<TrustedTooSoon> = 4;
template <>
constexpr std::size_t kMembers<NotRepeated> = 1;
template <>
constexpr std::size_t kMembers<NotRunAgain> = 0;
template <>
constexpr std::size_t kMembers<EmptyFile> = 1;
template <>
constexpr std::size_t kMembers<NotInTransaction> = 2;
template <>
constexpr std::size_t kMembers<CutThereToo> = 2;
template <>
constexpr std::size_t kMembers<OtherSymptom> = 2;
template <>
constexpr std::size_t kMembers<ThreadWaits> = 3;
template <>
constexpr std::size_t kMembers<ReadAfterCrash> = 4;
template <>
constexpr std::size_t kMembers<InferredCommit> = 1;
template <>
constexpr std::size_t kMembers<OtherBytesMatter> = 0;
template <>
constexpr std::size_t kMembers<OtherAddresses> = 1;
template <>
constexpr std::size_t kMembers<LockLeft> = 0;
template <>
constexpr std::size_t kMembers<TriedDurable> = 1;
template <>
constexpr std::size_t kMembers<NotDurableEither> = 4;
template <>
constexpr std::size_t kMembers<NeverDurable> = 0;
template <>
constexpr std::size_t kMembers<DurableTooLate> = 1;
template <>
constexpr std::size_t kMembers<DurableWithRmwFences> = 0;
template <>
constexpr std::size_t kMembers<TransactionDidWork> = 0;
template <>
constexpr std::size_t kMembers<MayBeRolledBack> = 0;
template <>
constexpr std::size_t kMembers<OtherCallersWrite> = 0;
template <>
constexpr std::size_t kMembers<Finding> = 17;
template <>
constexpr std::size_t kMembers<RunSummary> = 13;
template <>
constexpr std::size_t kMembers<LoadSources> = 3;
template <>
constexpr std::size_t kMembers<AssumedRecord> = 10;
template <>
constexpr std::size_t kMembers<LikelyPointLine> = 5;
template <>
constexpr std::size_t kMembers<TestedPoints> = 10;
template <>
constexpr std::size_t kMembers<ExploredCrashes> = 19;
template <>
constexpr std::size_t kMembers<MechanismSummary> = 5;
template <>
constexpr std::size_t kMembers<CheckedMechanisms> = 8;
template <>
constexpr std::size_t kMembers<PoolSummary> = 4;
template <>
constexpr std::size_t kMembers<SuppressionUse> = 4;
template <>
constexpr std::size_t kMembers<Report> = 16;
template <>
constexpr std::size_t kMembers<SeenEvent> = 6;
template <>
constexpr std::size_t kMembers<SeenOperation> = 7;
template <>
constexpr std::size_t kMembers<SeenLine> = 7;
template <>
constexpr std::size_t kMembers<SeenPoint> = 4;
template <>
constexpr std::size_t kMembers<SeenTrace> = 5;
template <>
constexpr std::size_t kMembers<ReplayableFinding> = 2;
template <>
constexpr std::size_t kMembers<KeptReport> = 2;

// The last enumerator of an enum whose first is 0.
template <class T>
constexpr T kLast = T::none;
template <>
constexpr ValueKind kLast<ValueKind> = ValueKind::Text;
template <>
constexpr Severity kLast<Severity> = Severity::Performance;
template <>
constexpr BugClass kLast<BugClass> = BugClass::Performance;
template <>
constexpr Fix::Where kLast<Fix::Where> = Fix::Where::Remove;
template <>
constexpr FirstStore kLast<FirstStore> = FirstStore::Written;
template <>
constexpr NotDurable::When kLast<NotDurable::When> = NotDurable::When::ProgramEnded;
template <>
constexpr CureKind kLast<CureKind> = CureKind::Rename;
template <>
constexpr WrongLine::Is kLast<WrongLine::Is> = WrongLine::After;
template <>
constexpr MechanismPhase kLast<MechanismPhase> = MechanismPhase::Swap;
template <>
constexpr MechanismRule kLast<MechanismRule> = MechanismRule::ChangedInPlace;
template <>
constexpr TestStage kLast<TestStage> = TestStage::None;
template <>
constexpr UnnamedLines kLast<UnnamedLines> = UnnamedLines::Newest;
template <>
constexpr ExitCodes kLast<ExitCodes> = ExitCodes::Unknown;

template <class T>
struct IsId : std::false_type {};
template <class Tag, class Rep>
struct IsId<Id<Tag, Rep>> : std::true_type {};
template <class T>
struct IsVector : std::false_type {};
template <class T>
struct IsVector<std::vector<T>> : std::true_type {};
template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};
template <class T>
struct IsMap : std::false_type {};
template <class K, class V>
struct IsMap<std::map<K, V>> : std::true_type {};
template <class T>
struct IsPair : std::false_type {};
template <class A, class B>
struct IsPair<std::pair<A, B>> : std::true_type {};
template <class T>
struct IsOneOf : std::false_type {};
template <class V>
struct IsOneOf<OneOf<V>> : std::true_type {
  using Variant = V;
};

template <class T>
T empty() {
  if constexpr (std::is_same_v<T, CrashLevel>)
    return CrashLevel(EventNo(), UnnamedLines::Least);
  else
    return T();
}

// Calls `f` with each member, in order.
template <class T, class F>
void eachMember(T& t, const F& f) {
  constexpr std::size_t n = kMembers<std::remove_const_t<T>>;
  if constexpr (n == 0) {
    (void)t, (void)f;
  } else if constexpr (n == 1) {
    auto& [m0] = t;
    f(m0);
  } else if constexpr (n == 2) {
    auto& [m0, m1] = t;
    f(m0), f(m1);
  } else if constexpr (n == 3) {
    auto& [m0, m1, m2] = t;
    f(m0), f(m1), f(m2);
  } else if constexpr (n == 4) {
    auto& [m0, m1, m2, m3] = t;
    f(m0), f(m1), f(m2), f(m3);
  } else if constexpr (n == 5) {
    auto& [m0, m1, m2, m3, m4] = t;
    f(m0), f(m1), f(m2), f(m3), f(m4);
  } else if constexpr (n == 6) {
    auto& [m0, m1, m2, m3, m4, m5] = t;
    f(m0), f(m1), f(m2), f(m3), f(m4), f(m5);
  } else if constexpr (n == 7) {
    auto& [m0, m1, m2, m3, m4, m5, m6] = t;
    f(m0), f(m1), f(m2), f(m3), f(m4), f(m5), f(m6);
  } else if constexpr (n == 8) {
    auto& [m0, m1, m2, m3, m4, m5, m6, m7] = t;
    f(m0), f(m1), f(m2), f(m3), f(m4), f(m5), f(m6), f(m7);
  } else if constexpr (n == 10) {
    auto& [m0, m1, m2, m3, m4, m5, m6, m7, m8, m9] = t;
    f(m0), f(m1), f(m2), f(m3), f(m4), f(m5), f(m6), f(m7), f(m8), f(m9);
  } else if constexpr (n == 11) {
    auto& [m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10] = t;
    f(m0), f(m1), f(m2), f(m3), f(m4), f(m5), f(m6), f(m7), f(m8), f(m9), f(m10);
  } else if constexpr (n == 13) {
    auto& [m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12] = t;
    f(m0), f(m1), f(m2), f(m3), f(m4), f(m5), f(m6), f(m7), f(m8), f(m9), f(m10), f(m11), f(m12);
  } else if constexpr (n == 16) {
    auto& [m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15] = t;
    f(m0), f(m1), f(m2), f(m3), f(m4), f(m5), f(m6), f(m7), f(m8), f(m9), f(m10), f(m11), f(m12), f(m13), f(m14),
        f(m15);
  } else if constexpr (n == 17) {
    auto& [m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16] = t;
    f(m0), f(m1), f(m2), f(m3), f(m4), f(m5), f(m6), f(m7), f(m8), f(m9), f(m10), f(m11), f(m12), f(m13), f(m14),
        f(m15), f(m16);
  } else if constexpr (n == 19) {
    auto& [m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18] = t;
    f(m0), f(m1), f(m2), f(m3), f(m4), f(m5), f(m6), f(m7), f(m8), f(m9), f(m10), f(m11), f(m12), f(m13), f(m14),
        f(m15), f(m16), f(m17), f(m18);
  } else {
    static_assert(n == 0, "a struct with so many members was not taken apart before: add a branch");
  }
}

void write(ByteWriter& out, const ReplayFile& file) { out.text(encodeReplayBody(file)); }

template <class T>
void write(ByteWriter& out, const T& v) {
  if constexpr (std::is_same_v<T, double>) {
    out.fixed(v);
  } else if constexpr (std::is_signed_v<T>) {
    out.fixed(static_cast<std::int64_t>(v));
  } else if constexpr (std::is_enum_v<T> || std::is_integral_v<T>) {
    out.number(static_cast<std::uint64_t>(v));
  } else if constexpr (IsId<T>::value) {
    out.number(v.value());
  } else if constexpr (std::is_same_v<T, std::string>) {
    out.text(v);
  } else if constexpr (IsVector<T>::value || IsMap<T>::value) {
    out.number(v.size());
    for (const auto& one : v) write(out, one);
  } else if constexpr (IsOptional<T>::value) {
    out.number(v.has_value() ? 1 : 0);
    if (v) write(out, *v);
  } else if constexpr (IsPair<T>::value) {
    write(out, v.first);
    write(out, v.second);
  } else if constexpr (IsOneOf<T>::value) {
    const typename IsOneOf<T>::Variant& variant = v;
    out.number(variant.index());
    std::visit([&](const auto& one) { write(out, one); }, variant);
  } else {
    eachMember(v, [&](const auto& m) { write(out, m); });
  }
}

class Reader {
 public:
  explicit Reader(std::string_view bytes) : in_(bytes) {}

  bool finished() const { return in_.finished(); }

  void read(ReplayFile& v) {
    auto file = decodeReplayBody(in_.text(), "");
    if (file)
      v = std::move(*file);
    else
      in_.reject();
  }

  void read(NoOrder& v) {
    members(v);
    std::size_t count = v.operations.size();
    bool good = v.contradiction < count;
    for (std::uint32_t w : v.witnesses) good &= w < count;
    if (!good) in_.reject();
  }

  void read(FindingKind& v) { v = static_cast<FindingKind>(in_.number(findingKinds().size() - 1)); }

  // Its numbers of places are those of its own list.
  void read(Finding& v) {
    place_ = 0;
    members(v);
    if (place_ > v.places.size()) in_.reject();
  }
  // Findings name the traces of their report, and events the places of their trace.
  void read(Report& v) {
    members(v);
    for (const Finding& f : v.findings)
      if (f.trace > v.traces.size()) in_.reject();
  }
  void read(SeenTrace& v) {
    members(v);
    for (const SeenEvent& e : v.events)
      if (e.at > v.places.size()) in_.reject();
  }
  void read(PlaceNo& v) {
    v = PlaceNo(in_.small());
    place_ = std::max(place_, v.value());
  }

  template <class T>
  void read(T& v) {
    if constexpr (std::is_same_v<T, double>) {
      v = in_.fixed<double>();
    } else if constexpr (std::is_same_v<T, bool>) {
      v = in_.flag();
    } else if constexpr (std::is_same_v<T, std::byte>) {
      v = static_cast<std::byte>(in_.number(UINT8_MAX));
    } else if constexpr (std::is_enum_v<T>) {
      v = static_cast<T>(in_.number(static_cast<std::uint64_t>(kLast<T>)));
    } else if constexpr (std::is_signed_v<T>) {
      auto wide = in_.fixed<std::int64_t>();
      v = static_cast<T>(wide);
      if (v != wide) in_.reject();
    } else if constexpr (std::is_integral_v<T>) {
      v = static_cast<T>(in_.number(std::numeric_limits<T>::max()));
    } else if constexpr (IsId<T>::value) {
      v = T(in_.number(std::numeric_limits<decltype(v.value())>::max()));
    } else if constexpr (std::is_same_v<T, std::string>) {
      v = in_.text();
    } else if constexpr (IsVector<T>::value) {
      v.clear();
      for (std::size_t n = in_.count(); n > 0 && in_.ok(); --n) {
        v.push_back(empty<typename T::value_type>());
        read(v.back());
      }
    } else if constexpr (IsMap<T>::value) {
      v.clear();
      for (std::size_t n = in_.count(); n > 0 && in_.ok(); --n) {
        typename T::key_type key{};
        read(key);
        read(v[key]);
      }
    } else if constexpr (IsOptional<T>::value) {
      v.reset();
      if (in_.flag()) {
        v.emplace();
        read(*v);
      }
    } else if constexpr (IsPair<T>::value) {
      read(v.first);
      read(v.second);
    } else if constexpr (IsOneOf<T>::value) {
      using Variant = typename IsOneOf<T>::Variant;
      alternative<Variant>(v, in_.number(std::variant_size_v<Variant> - 1));
    } else {
      members(v);
    }
  }

 private:
  template <class T>
  void members(T& v) {
    eachMember(v, [this](auto& m) {
      if (in_.ok()) this->read(m);
    });
  }
  template <class Variant, std::size_t I = 0>
  void alternative(Variant& v, std::size_t index) {
    if constexpr (I < std::variant_size_v<Variant>) {
      if (index != I) return alternative<Variant, I + 1>(v, index);
      read(v.template emplace<I>());
    }
  }

  ByteReader in_;
  std::uint32_t place_ = 0;
};

class Shape {
 public:
  template <class T>
  void add() {
    for (const char* c = typeid(T).name(); *c != '\0'; ++c)
      value_ = (value_ ^ static_cast<unsigned char>(*c)) * 0x100000001b3U;
    value_ = (value_ ^ 0U) * 0x100000001b3U;
    if constexpr (IsVector<T>::value || IsOptional<T>::value) {
      add<typename T::value_type>();
    } else if constexpr (IsMap<T>::value) {
      add<typename T::key_type>();
      add<typename T::mapped_type>();
    } else if constexpr (IsPair<T>::value) {
      add<typename T::first_type>();
      add<typename T::second_type>();
    } else if constexpr (IsOneOf<T>::value) {
      alternatives(static_cast<typename IsOneOf<T>::Variant*>(nullptr));
    } else if constexpr (std::is_enum_v<T>) {
      if constexpr (!std::is_same_v<T, FindingKind> && !std::is_same_v<T, std::byte>)
        value_ = (value_ ^ static_cast<std::uint64_t>(kLast<T>)) * 0x100000001b3U;
      else if constexpr (std::is_same_v<T, FindingKind>)
        value_ = (value_ ^ findingKinds().size()) * 0x100000001b3U;
    } else if constexpr (std::is_class_v<T> && !IsId<T>::value && !std::is_same_v<T, std::string> &&
                         !std::is_same_v<T, ReplayFile>) {
      T value = empty<T>();
      eachMember(value, [this](auto& m) { this->template add<std::remove_reference_t<decltype(m)>>(); });
    }
  }
  std::uint64_t value() const { return value_; }

 private:
  template <class... T>
  void alternatives(std::variant<T...>*) {
    (add<T>(), ...);
  }
  std::uint64_t value_ = 0xcbf29ce484222325U;
};

}  // namespace

std::string encodeReport(const KeptReport& kept) {
  ByteWriter out;
  write(out, kept);
  return out.take();
}

std::optional<KeptReport> decodeReport(std::string_view bytes) {
  Reader in(bytes);
  KeptReport kept;
  in.read(kept);
  if (!in.finished()) return std::nullopt;
  return kept;
}

std::uint64_t reportShape() {
  Shape shape;
  shape.add<KeptReport>();
  return shape.value();
}

}  // namespace blackout
