#include "model/model_options.h"

#include <fmt/format.h>

namespace blackout {

namespace {

struct ChoiceRow {
  std::string_view field;
  std::string_view text;
  std::string_view help;
  bool ready;
  void (*set)(ModelOptions&);
  bool (*isSet)(const ModelOptions&);
};

constexpr ChoiceRow kChoices[] = {
#define BLACKOUT_MODEL_CHOICE(field, value, text, ready, help) \
  {#field,                                                     \
   text,                                                       \
   help,                                                       \
   ready,                                                      \
   +[](ModelOptions& o) { o.field = (value); },                \
   +[](const ModelOptions& o) { return o.field == (value); }},
#include "model/model_options.def"
};

struct OptionRow {
  std::string_view field;
  std::string_view name;
  std::string_view help;
};

constexpr OptionRow kOptions[] = {
#define BLACKOUT_MODEL_OPTION(field, text, help) {#field, text, help},
#include "model/model_options.def"
};

std::string choicesOf(std::string_view field) {
  std::string out;
  for (const ChoiceRow& c : kChoices) {
    if (c.field != field) continue;
    if (!out.empty()) out += '|';
    out += c.text;
  }
  return out;
}

}  // namespace

Result<void> setModelOption(ModelOptions& options, std::string_view setting) {
  std::string_view name = setting.substr(0, setting.find('='));
  std::string_view text = name.size() == setting.size() ? std::string_view{} : setting.substr(name.size() + 1);
  for (const OptionRow& o : kOptions) {
    if (o.name != name) continue;
    for (const ChoiceRow& c : kChoices) {
      if (c.field != o.field || c.text != text) continue;
      c.set(options);
      return {};
    }
    return fail(fmt::format("'{}' is not a value of {}; write {}={}", text, name, name, choicesOf(o.field)));
  }
  std::string names;
  for (const OptionRow& o : kOptions) names += fmt::format("{}{}", names.empty() ? "" : ", ", o.name);
  return fail(fmt::format("no model option is called '{}'; there are: {}", name, names));
}

Result<ModelOptions> parseModelOptions(std::string_view settings) {
  ModelOptions options;
  while (!settings.empty()) {
    std::string_view one = settings.substr(0, settings.find(','));
    settings.remove_prefix(std::min(settings.size(), one.size() + 1));
    if (auto ok = setModelOption(options, one); !ok) return tl::unexpected(ok.error());
  }
  return options;
}

std::string describe(const ModelOptions& options) {
  std::string out;
  for (const OptionRow& o : kOptions)
    for (const ChoiceRow& c : kChoices)
      if (c.field == o.field && c.isSet(options)) out += fmt::format("{}{}={}", out.empty() ? "" : ",", o.name, c.text);
  return out;
}

Result<void> checkReady(const ModelOptions& options) {
  for (const OptionRow& o : kOptions)
    for (const ChoiceRow& c : kChoices)
      if (c.field == o.field && c.isSet(options) && !c.ready)
        return fail(fmt::format("{}={} ({}) is not ready yet; leave it out", o.name, c.text, c.help));
  return {};
}

std::vector<ModelOptionHelp> modelOptionHelp() {
  std::vector<ModelOptionHelp> out;
  const ModelOptions defaults;
  for (const OptionRow& o : kOptions) {
    ModelOptionHelp row{o.name, o.help, {}};
    for (const ChoiceRow& c : kChoices)
      if (c.field == o.field) row.choices.push_back({c.text, c.help, c.ready, c.isSet(defaults)});
    out.push_back(std::move(row));
  }
  return out;
}

}  // namespace blackout
