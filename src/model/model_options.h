// The options of a persistency model as a plain value. Texts, parser and help all come from
// model_options.def; docs/semantics.md says what each means.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "events/error.h"

namespace blackout {

enum class ModelKind { X86, Eadr, Msync, Cxl };
enum class WideOrder { Address, Any };
enum class NtOrder { Program, Any };

struct ModelOptions {
  ModelKind kind = ModelKind::X86;
  WideOrder wideOrder = WideOrder::Address;
  NtOrder ntOrder = NtOrder::Program;
  bool rmwFences = true;
  bool tso = false;
  bool operator==(const ModelOptions&) const = default;
};

// Takes one setting such as "nt-order=any".
Result<void> setModelOption(ModelOptions& options, std::string_view setting);

// Settings separated by commas, the later ones winning; empty for the defaults.
Result<ModelOptions> parseModelOptions(std::string_view settings);

// Every option with its value, in the order of the table: parseModelOptions reads it back.
std::string describe(const ModelOptions& options);

// One clear sentence if a value is understood but not built yet.
Result<void> checkReady(const ModelOptions& options);

// The table, for help texts.
struct ModelOptionHelp {
  struct Choice {
    std::string_view text;
    std::string_view help;
    bool ready = true;
    bool isDefault = false;
  };
  std::string_view name;
  std::string_view help;
  std::vector<Choice> choices;
};
std::vector<ModelOptionHelp> modelOptionHelp();

}  // namespace blackout
